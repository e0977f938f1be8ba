"""A model as a Hugging Face folder that other tools read without this library."""

import json
import re
from pathlib import Path
from typing import Any

from safetensors.torch import save_file
from torch import nn

from mtl_engine.encoders import TransformerEncoder
from mtl_engine.encoders.transformer import no_progress_bar
from mtl_engine.errors import EngineError
from mtl_engine.folders import replaced_folder
from mtl_engine.heads.tags import TagHead
from mtl_engine.model import MultiTaskModel


def export_huggingface(model: MultiTaskModel, folder: Path | str) -> None:
    """Write a folder that ``AutoModel.from_pretrained`` reads; an existing one is replaced.

    At its top are the encoder (in CMT with the shared top) and the tokenizer, all heads as
    ``heads.safetensors`` with their labels in ``heads.json``. Tasks with a linear head over words,
    except in CMT, also become ``token-classification/<number>-<task>`` folders of their own.
    """
    if not isinstance(model.encoder, TransformerEncoder):
        raise EngineError("Only models on a transformer encoder have a Hugging Face form.")
    encoder, tokenizer = model.encoder.original
    with replaced_folder(Path(folder)) as new, no_progress_bar():
        encoder.save_pretrained(new, state_dict=_without_pooler(encoder))
        tokenizer.save_pretrained(new)
        save_file(dict(model.heads.state_dict()), new / "heads.safetensors")
        labels = {
            task.name: {"kind": task.kind, "number": number, "labels": list(task.labels)}
            for number, task in enumerate(model.tasks)
        }
        text = json.dumps(labels, indent=1, ensure_ascii=False)
        (new / "heads.json").write_text(text, encoding="utf-8")
        for number, task in enumerate(model.tasks):
            head = model.head(task.name)
            if isinstance(head, TagHead) and head.crf is None and not model.tops:
                target = new / "token-classification" / f"{number}-{_plain(task.name)}"
                _token_classifier(encoder, head).save_pretrained(target)
                tokenizer.save_pretrained(target)


def _token_classifier(encoder: Any, head: TagHead) -> Any:
    from transformers import AutoConfig, AutoModelForTokenClassification

    config = AutoConfig.for_model(
        **{
            **encoder.config.to_dict(),
            "id2label": dict(enumerate(head.names)),
            "label2id": {name: number for number, name in enumerate(head.names)},
        }
    )
    classifier: Any = AutoModelForTokenClassification.from_config(config)  # type: ignore[no-untyped-call]
    base: nn.Module = getattr(classifier, classifier.base_model_prefix)
    base.load_state_dict(_without_pooler(encoder), strict=False)
    classifier.classifier.load_state_dict(head.linear.state_dict())
    return classifier


def _without_pooler(encoder: nn.Module) -> dict[str, Any]:
    """Return the weights that were trained: a pooler is never read here."""
    return {name: w for name, w in encoder.state_dict().items() if not name.startswith("pooler.")}


def _plain(task: str) -> str:
    return re.sub(r"[^\w-]", "_", task)
