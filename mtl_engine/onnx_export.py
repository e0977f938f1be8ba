"""A model for onnxruntime: the tasks whose answers are one layer of scores over words or sentence.

The graph reads padded sub-words, where words begin and how they are written, and gives the scores
of each task. What it says is compared with the model before it is kept.
"""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from mtl_engine.devices import tensor_of
from mtl_engine.encoders import TransformerEncoder
from mtl_engine.encoders.pack import Pieces, collate
from mtl_engine.encoders.subwords import N_SHAPES
from mtl_engine.errors import EngineError
from mtl_engine.kinds import KINDS
from mtl_engine.model import MultiTaskModel

TOLERANCE = 2e-3
TRIED = (
    ["Flights", "from", "Boston", "to", "DENVER", "."],
    ["one"],
    ["A", "7th", "unbelievably", "long", "sentence", "of", "nine", "words", "!"],
)


class OnnxModel(nn.Module):
    """The encoder as its family computes it, with the heads that are one layer."""

    def __init__(self, model: MultiTaskModel, tasks: Sequence[str]) -> None:
        super().__init__()
        assert isinstance(model.encoder, TransformerEncoder)
        from transformers import AutoModel

        config = model.encoder.original[0].config
        config._attn_implementation = "eager"
        self.encoder: Any = AutoModel.from_config(config)  # type: ignore[no-untyped-call]
        self.encoder.load_state_dict(model.encoder.whole_weights(), strict=False)
        self.encoder.eval()
        self.tasks = list(tasks)
        self.is_by_word = [model.head(name).is_by_word for name in tasks]
        self.heads = nn.ModuleList(model.head(name).linear for name in tasks)  # type: ignore[misc]
        numbers = [model.number[name] for name in tasks]
        self.mixes = nn.ModuleList(model.mixes[number] for number in numbers if model.mixes)
        self.pooling = model.config.model.pooling
        shapes = torch.zeros(N_SHAPES + 1, model.encoder.width, device=model.device)
        if model.shapes is not None:
            shapes[:N_SHAPES] = model.shapes.weight.detach()
        self.shapes = nn.Parameter(shapes)
        self.has_shapes = model.shapes is not None

    def forward(
        self, input_ids: Tensor, attention_mask: Tensor, words: Tensor, shapes: Tensor
    ) -> Any:
        """Return scores (B, W, s) of tasks over words, (B, s) of tasks over the sentence.

        ``words`` (B, W) are the places of first sub-words, ``shapes`` (B, W) of their words; where
        there is no word, place 0 and shape 8.
        """
        rows = self.encoder.embeddings(input_ids)
        wide = words[:, :, None].expand(-1, -1, rows.shape[2])
        if self.has_shapes:
            rows = rows + torch.zeros_like(rows).scatter_add(1, wide, self.shapes[shapes])
        mask = (1.0 - attention_mask[:, None, None, :].to(rows.dtype)) * torch.finfo(rows.dtype).min
        layers = [rows]
        for layer in self.encoder.encoder.layer:
            found = layer(layers[-1], attention_mask=mask)
            layers.append(found[0] if isinstance(found, tuple) else found)
        each = [mix(layers) for mix in self.mixes] or [layers[-1]] * len(self.heads)
        read = attention_mask[:, :, None].to(rows.dtype)
        return tuple(
            head(states.gather(1, wide) if by_word else self._pool(states, read))
            for head, by_word, states in zip(self.heads, self.is_by_word, each, strict=True)
        )

    def _pool(self, states: Tensor, read: Tensor) -> Tensor:
        return states[:, 0] if self.pooling == "first" else (states * read).sum(1) / read.sum(1)


def exportable(model: MultiTaskModel) -> list[str]:
    """Return the tasks that can leave as a graph; refuse a model none of which can."""
    if not isinstance(model.encoder, TransformerEncoder):
        raise EngineError("Only models on a transformer encoder are exported to ONNX.")
    if model.tops or model.config.model.has_crf or model.encoder.n_frozen > 0:
        raise EngineError(
            "Models with private layers, a CRF or frozen layers are not exported to ONNX."
        )
    encoder = model.encoder.original[0]
    if not hasattr(encoder, "embeddings") or not hasattr(
        getattr(encoder, "encoder", None), "layer"
    ):
        raise EngineError(
            f"An encoder of the family '{encoder.config.model_type}' is not exported to ONNX."
        )
    names = [t.name for t in model.tasks if KINDS[t.kind].pipeline(t, model.tasks) is not None]
    if not names:
        raise EngineError("None of the tasks has an answer that is one layer of scores.")
    return names


def inputs_of(pieces: Sequence[Pieces]) -> dict[str, np.ndarray]:
    """Return what the graph reads of sentences, padded."""
    n, m = max(map(len, pieces)), max(len(p.firsts) for p in pieces)
    found = {
        "input_ids": np.zeros((len(pieces), n), dtype=np.int64),
        "attention_mask": np.zeros((len(pieces), n), dtype=np.int64),
        "words": np.zeros((len(pieces), m), dtype=np.int64),
        "shapes": np.full((len(pieces), m), N_SHAPES, dtype=np.int64),
    }
    for row, one in enumerate(pieces):
        found["input_ids"][row, : len(one)] = one.ids
        found["attention_mask"][row, : len(one)] = 1
        found["words"][row, : len(one.firsts)] = one.firsts
        if one.shapes is not None:
            found["shapes"][row, : len(one.firsts)] = one.shapes
    return found


def export_onnx(model: MultiTaskModel, folder: Path) -> float:
    """Write ``model.onnx`` and what it reads and gives; return the largest difference in scores."""
    names = exportable(model)
    graph = OnnxModel(model, names).to(model.device).eval()
    pieces = model.encoder.read(TRIED)
    inputs = inputs_of(pieces)
    axes = {name: {0: "sentences", 1: "pieces"} for name in ("input_ids", "attention_mask")}
    axes |= {name: {0: "sentences", 1: "words"} for name in ("words", "shapes")}
    axes |= {
        name: {0: "sentences", 1: "words"} if by_word else {0: "sentences"}
        for name, by_word in zip(names, graph.is_by_word, strict=True)
    }
    with torch.no_grad():
        torch.onnx.export(
            graph,
            tuple(tensor_of(value, model.device) for value in inputs.values()),
            str(folder / "model.onnx"),
            input_names=list(inputs),
            output_names=names,
            dynamic_axes=axes,
            opset_version=17,
            dynamo=False,
        )
    difference = compare(model, names, folder / "model.onnx", pieces)
    if difference > TOLERANCE:
        raise EngineError(f"The graph's scores differ by {difference:.4f}; it is not kept.")
    about = {
        "inputs": {
            "input_ids": "(sentences, pieces)",
            "attention_mask": "(sentences, pieces)",
            "words": "(sentences, words) place of each word's first sub-word, 0 = none",
            "shapes": "(sentences, words) see word_shape in tandem_model.py, 8 = none",
        },
        "outputs": {
            name: {"labels": list(KINDS[t.kind].pipeline(t, model.tasks)[1])}  # type: ignore[index]
            for name, t in ((t.name, t) for t in model.tasks)
            if name in names
        },
        "largest_difference": difference,
    }
    (folder / "model.json").write_text(json.dumps(about, indent=1), encoding="utf-8")
    return difference


@torch.no_grad()
def compare(
    model: MultiTaskModel, names: Sequence[str], path: Path, pieces: Sequence[Pieces]
) -> float:
    """Return the largest difference between the graph's scores and the model's."""
    import onnxruntime  # type: ignore[import-untyped]

    session = onnxruntime.InferenceSession(str(path), providers=["CPUExecutionProvider"])
    found = dict(zip(names, session.run(list(names), inputs_of(pieces)), strict=True))
    ours = model.eval().scores(collate(pieces, model.device), names)
    worst = 0.0
    for name in names:
        logits = getattr(ours[name], "logits", ours[name]).cpu().numpy()
        theirs = found[name]
        if model.head(name).is_by_word:
            theirs = np.concatenate(
                [r[: len(p.firsts)] for r, p in zip(theirs, pieces, strict=True)]
            )
        worst = max(worst, float(np.abs(logits - theirs).max()))
    return worst
