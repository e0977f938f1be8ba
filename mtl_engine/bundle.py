"""A model as a folder that runs without this library: weights, loader, pipelines, card.

Nothing here loads torch: the weights are copied as they are.
"""

import ast
import hashlib
import json
import shutil
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from mtl_engine.errors import EngineError
from mtl_engine.kinds import KINDS, TaskSpec

HERE = Path(__file__).resolve().parent
LOADER, SPACY = "tandem_model.py", "tandem_spacy.py"
ROOTS = ("mtl_engine.ensemble", "mtl_engine.active_learning.suggest", "mtl_engine.kinds")
LEFT_OUT = ("mtl_engine.training", "mtl_engine.policies", "mtl_engine.portable")
DESCRIPTION = "model.json"
NAMES = "names.json"
REQUIREMENTS = "torch\ntransformers>=5\ntokenizers\nsafetensors\nnumpy\n"


@dataclass(frozen=True)
class Names:
    """What tasks and labels are called now, where a model learned them by other names."""

    tasks: Mapping[str, str] = field(default_factory=dict)
    labels: Mapping[str, Mapping[str, str]] = field(default_factory=dict)  # by a task's name now

    def task(self, name: str) -> str:
        """Return what a task is called."""
        return self.tasks.get(name, name)

    def outputs(self, task: TaskSpec, outputs: Sequence[str]) -> tuple[str, ...]:
        """Return what the outputs of a task's head are called; each is a label, or B- or I- one."""
        now = self.labels.get(self.task(task.name), {})
        own = set(task.labels)
        return tuple(
            now.get(one, one) if one in own else one[:2] + now.get(one[2:], one[2:])
            for one in outputs
        )


def write_portable(
    model: Path,
    folder: Path,
    *,
    card: str,
    onnx: Path | None = None,
    names: Names | None = None,
) -> None:
    """Write a saved model's folder as one that runs without this library and says ``names``."""
    names = names or Names()
    shutil.copytree(model, folder / "model")
    _write_json(folder / NAMES, {"tasks": names.tasks, "labels": names.labels})
    (folder / LOADER).write_text(loader_source(), encoding="utf-8")
    spacy = (HERE / "portable" / SPACY).read_text(encoding="utf-8")
    (folder / SPACY).write_text(spacy, encoding="utf-8")
    (folder / "requirements.txt").write_text(REQUIREMENTS, encoding="utf-8")
    (folder / "README.md").write_text(card, encoding="utf-8")
    if onnx is not None:
        shutil.copytree(onnx, folder / "onnx")
    for member, description in descriptions(folder / "model"):
        write_pipelines(folder, member, description, names)


def descriptions(model: Path) -> Iterator[tuple[Path, dict[str, Any]]]:
    """Yield the folder and the description of each member of a saved model."""
    members = [model] if (model / DESCRIPTION).exists() else sorted(model.glob("[0-9]*"))
    for member in members:
        yield member, json.loads((member / DESCRIPTION).read_text(encoding="utf-8"))


def write_pipelines(
    folder: Path, member: Path, description: Mapping[str, Any], names: Names
) -> None:
    """Write what ``transformers.pipeline`` loads, for the tasks that it knows."""
    for task, kind, labels in _pipelines(description):
        target = folder / "transformers" / plain_name(names.task(task.name))
        if not target.exists():
            _write_pipeline(target, member, task, kind, names.outputs(task, labels))


def pipelines_of(description: Mapping[str, Any], names: Names) -> list[tuple[str, str]]:
    """Return the folders of pipelines that a model has, each with the pipeline's name."""
    return [(plain_name(names.task(task.name)), kind) for task, kind, _ in _pipelines(description)]


def _pipelines(
    description: Mapping[str, Any],
) -> Iterator[tuple[TaskSpec, str, tuple[str, ...]]]:
    """Yield the tasks that a public pipeline can run: others need more than a layer of scores."""
    config = description["config"]
    if config["encoder"]["kind"] != "transformer" or config["model"]["has_crf"]:
        return
    tasks = [TaskSpec.from_dict(values) for values in description["tasks"]]
    for task in tasks:
        found = KINDS[task.kind].pipeline(task, tasks)
        if found is not None:
            yield task, *found


def _write_pipeline(
    target: Path, member: Path, task: TaskSpec, pipeline: str, labels: Sequence[str]
) -> None:
    shutil.copytree(member / "encoder", target)
    is_tokens = pipeline == "token-classification"
    is_any = not is_tokens and KINDS[task.kind].blank(1) is not None  # of several labels
    name = "TandemForTokenClassification" if is_tokens else "TandemForSequenceClassification"
    auto = "AutoModelForTokenClassification" if is_tokens else "AutoModelForSequenceClassification"
    module = Path(LOADER).stem
    _write_json(
        target / "config.json",
        {
            "model_type": "tandem",
            "architectures": [name],
            "auto_map": {"AutoConfig": f"{module}.TandemConfig", auto: f"{module}.{name}"},
            "task": task.name,
            "model_folder": "../../model",
            "id2label": {str(number): label for number, label in enumerate(labels)},
            "label2id": {label: number for number, label in enumerate(labels)},
            **({"problem_type": "multi_label_classification"} if is_any else {}),
        },
    )
    path = target / "tokenizer_config.json"
    tokenizer = json.loads(path.read_text(encoding="utf-8"))
    tokenizer |= {
        "tokenizer_class": "TandemTokenizer",
        "auto_map": {"AutoTokenizer": [None, f"{module}.TandemTokenizer"]},
    }
    _write_json(path, tokenizer)
    (target / LOADER).write_text(loader_source(), encoding="utf-8")


def loader_source() -> str:
    """Return the loader as one file: its own code, then that of the modules it needs."""
    modules = needed_modules()
    digest = hashlib.sha256("".join(modules.values()).encode()).hexdigest()[:8]
    package = f"tandem_engine_{digest}"
    text = (HERE / "portable" / LOADER).read_text(encoding="utf-8")
    start, end = text.index("PACKAGE = "), text.index("WORDS = ")
    packages = sorted(_renamed(name, package) for name in modules if _is_package(name))
    held = [
        f'PACKAGE = "{package}"\n',
        "SOURCES: dict[str, str] = {}  # of the modules below, by name\n",
        f"PACKAGES = frozenset({packages})\n",
    ]
    main = text.index('if __name__ == "__main__":')
    parts = [text[:start], *held, text[end:main]]
    for name, source in modules.items():
        if "'''" in source:
            raise EngineError(f"{name} holds ''' and cannot be part of the loader.")
        source = _renamed(source, package)
        parts.append(f"SOURCES[{_renamed(name, package)!r}] = r'''\n{source}'''\n\n")
    return "".join([*parts, "\n", text[main:]])


def needed_modules() -> dict[str, str]:
    """Return the source of every module that prediction needs, by name."""
    found: dict[str, str] = {}
    kinds = (p.stem for p in (HERE / "kinds").glob("[a-z]*.py"))
    waiting = [*ROOTS, *(f"mtl_engine.kinds.{name}" for name in kinds)]
    while waiting:
        name = waiting.pop()
        path = _path(name)
        if path is None or name in found or name.startswith(LEFT_OUT):
            continue
        found[name] = path.read_text(encoding="utf-8")
        waiting += [name.rpartition(".")[0], *_imported(found[name])]
    return dict(sorted(found.items()))


def _imported(source: str) -> Iterator[str]:
    tree = ast.parse(source)
    for node in ast.walk(tree):
        if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING":
            node.body = []
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("mtl_engine"):
            yield str(node.module)
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def _path(name: str) -> Path | None:
    place = HERE.parent.joinpath(*name.split(".")) if name else None
    if place is None:
        return None
    for path in (place / "__init__.py", place.with_suffix(".py")):
        if path.exists():
            return path
    return None


def _is_package(name: str) -> bool:
    path = _path(name)
    return path is not None and path.name == "__init__.py"


def _renamed(text: str, package: str) -> str:
    return text.replace("mtl_engine", package)


def plain_name(task: str) -> str:
    """Return a task's name as the name of a folder."""
    return "".join(c if c.isalnum() or c in "-_" else "_" for c in task)


def _write_json(path: Path, values: Any) -> None:
    path.write_text(json.dumps(values, indent=1, ensure_ascii=False), encoding="utf-8")
