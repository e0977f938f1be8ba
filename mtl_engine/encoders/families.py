"""Adapters: where each Hugging Face family keeps its embeddings and its list of layers."""

from collections.abc import Callable
from typing import Any

from torch import nn

from mtl_engine.encoders.blocks import PackedBlock, PackedEmbeddings
from mtl_engine.encoders.hosted import Parts, host
from mtl_engine.encoders.relative import PaddedBlock, PaddedEmbeddings


def take_apart(model: Any) -> Parts:
    """Return the parts of a Hugging Face encoder; they share its weights.

    The families listed here are read without padding; every other one by its own forward pass.
    """
    return FAMILIES.get(model.config.model_type, host)(model)


def _bert(model: Any, first_position: int = 0) -> Parts:
    config, embeddings = model.config, model.embeddings
    packed = PackedEmbeddings(
        embeddings.word_embeddings,
        embeddings.position_embeddings,
        embeddings.token_type_embeddings,
        embeddings.LayerNorm,
        first_position=first_position,
        dropout=config.hidden_dropout_prob,
    )
    layers: list[nn.Module] = [_bert_block(layer, config) for layer in model.encoder.layer]
    return packed, layers, config.max_position_embeddings - first_position


def _bert_block(layer: Any, config: Any) -> PackedBlock:
    return PackedBlock(
        query=layer.attention.self.query,
        key=layer.attention.self.key,
        value=layer.attention.self.value,
        out=layer.attention.output.dense,
        attention_norm=layer.attention.output.LayerNorm,
        up=layer.intermediate.dense,
        down=layer.output.dense,
        norm=layer.output.LayerNorm,
        n_heads=config.num_attention_heads,
        activation=layer.intermediate.intermediate_act_fn,
        dropout=config.hidden_dropout_prob,
        attention_dropout=config.attention_probs_dropout_prob,
    )


def _roberta(model: Any) -> Parts:
    return _bert(model, first_position=model.config.pad_token_id + 1)


def _distilbert(model: Any) -> Parts:
    config, embeddings = model.config, model.embeddings
    packed = PackedEmbeddings(
        embeddings.word_embeddings,
        embeddings.position_embeddings,
        None,
        embeddings.LayerNorm,
        first_position=0,
        dropout=config.dropout,
    )
    blocks: list[nn.Module] = [
        PackedBlock(
            query=layer.attention.q_lin,
            key=layer.attention.k_lin,
            value=layer.attention.v_lin,
            out=layer.attention.out_lin,
            attention_norm=layer.sa_layer_norm,
            up=layer.ffn.lin1,
            down=layer.ffn.lin2,
            norm=layer.output_layer_norm,
            n_heads=config.n_heads,
            activation=layer.ffn.activation,
            dropout=config.dropout,
            attention_dropout=config.attention_dropout,
        )
        for layer in model.transformer.layer
    ]
    return packed, blocks, config.max_position_embeddings


def _deberta(model: Any) -> Parts:
    encoder = model.encoder
    conv = getattr(encoder, "conv", None)
    blocks: list[nn.Module] = [
        PaddedBlock(layer, encoder, conv if number == 0 else None)
        for number, layer in enumerate(encoder.layer)
    ]
    return PaddedEmbeddings(model.embeddings, encoder), blocks, model.config.max_position_embeddings


FAMILIES: dict[str, Callable[[Any], Parts]] = {
    "bert": _bert,
    "roberta": _roberta,
    "camembert": _roberta,
    "xlm-roberta": _roberta,
    "distilbert": _distilbert,
    "deberta": _deberta,
    "deberta-v2": _deberta,
}
