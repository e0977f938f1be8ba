"""A round's model as a folder, an archive or ONNX files that need no Tandem."""

import tempfile
import zipfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

from annotation.models import Project, Round
from annotation.projects.tasks import renames_since
from annotation.rounds.settings import shown_settings
from annotation.rounds.workspace import Workspace
from config import VERSION
from mtl_engine.atomic import current_place, replaced_folder
from mtl_engine.bundle import Names, descriptions, pipelines_of, write_portable
from mtl_engine.errors import EngineError
from mtl_engine.kinds import KINDS

STORED = (".safetensors", ".onnx", ".data")  # do not become smaller
IN_MEMORY = 8 * 1024 * 1024


def write_model(round: Round, folder: Path, *, onnx: Path | None = None) -> None:
    """Write a round's model into an empty folder; with ``onnx`` that folder's files too."""
    workspace = Workspace.of(round)
    place = current_place(workspace.model)
    renames = renames_since(round.project, round.created_at)  # labels wait while it trains
    names = Names(renames.tasks, renames.labels)
    members = [description for _, description in descriptions(place)]
    found = [one for description in members for one in pipelines_of(description, names)]
    card = model_card(
        round,
        pipelines=[f"{name}:{kind}" for name, kind in found],
        has_onnx=onnx is not None,
    )
    write_portable(place, folder, card=card, onnx=onnx, names=names)


def zipped_model(round: Round) -> IO[bytes]:
    """Return an archive of a round's model, as a file that is gone when it is closed."""
    target = tempfile.SpooledTemporaryFile(max_size=IN_MEMORY)  # noqa: SIM115
    with _written(round) as folder:
        zip_folder(folder, target, root=archive_name(round))
    target.seek(0)
    return target


def archive_name(round: Round) -> str:
    """Return what the folder of a model is called."""
    plain = "".join(c if c.isalnum() else "-" for c in round.project.name).strip("-") or "model"
    return f"{plain}-round-{round.number}"


def zip_folder(folder: Path, target: IO[bytes], *, root: str) -> None:
    """Write a folder into an archive; weights are stored as they are."""
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as archive:
        for path in sorted(folder.rglob("*")):
            if path.is_file():
                how = zipfile.ZIP_STORED if path.suffix in STORED else zipfile.ZIP_DEFLATED
                name = f"{root}/{path.relative_to(folder).as_posix()}"
                archive.write(path, name, compress_type=how)


@contextmanager
def _written(round: Round) -> Iterator[Path]:
    workspace = Workspace.of(round)
    onnx = workspace.onnx if workspace.onnx.exists() else None
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch) / "model"
        folder.mkdir()
        write_model(round, folder, onnx=onnx)
        yield folder


def write_onnx(round: Round) -> Iterator[str]:
    """Write the graph of each member that can be one, and say what became of each; loads torch."""
    from mtl_engine.ensemble import load_ensemble
    from mtl_engine.onnx_export import export_onnx

    workspace = Workspace.of(round)
    ensemble = load_ensemble(workspace.model, device="cpu")
    with replaced_folder(workspace.onnx) as new:
        for number, member in enumerate(ensemble.members):
            folder = new if len(ensemble.members) == 1 else new / str(number)
            folder.mkdir(parents=True, exist_ok=True)
            names = ", ".join(member.names)
            try:
                difference = export_onnx(member.model, folder)
                yield f"ONNX of {names}: scores differ from torch by at most {difference:.1e}."
            except EngineError as error:
                (folder / "README.md").write_text(f"No graph: {error}\n", encoding="utf-8")
                yield f"No ONNX of {names}: {error}"


NO_LICENCE = "other"


def model_card(round: Round, *, pipelines: Sequence[str] = (), has_onnx: bool = False) -> str:
    """Return the README of a round's model, with the fields that model hubs read on top."""
    project = round.project
    training = round.stages.get("training", {})
    scores: Mapping[str, Any] = training.get("scores", {})
    tasks = [task for task in project.tasks.order_by("position") if task.name in training["tasks"]]
    corpora = list(project.corpora.order_by("pk").values_list("name", "n_sentences"))
    lines = [
        *_front_matter(project, bool(pipelines)),
        f"# {project.name}: model of round {round.number}",
        "",
        project.description or "A multi-task model trained with Tandem.",
        "",
        "## What it answers",
        "",
        "| task | kind | labels |",
        "|---|---|---|",
        *(f"| {_cell(t.name)} | {t.kind} | {_labels(t)} |" for t in tasks),
        "",
        "## How good it is",
        "",
        *_scores(scores, tasks, training),
        "",
        "## What it learned from",
        "",
        f"{training.get('n_train', 0):,} sentences to learn from, {training.get('n_dev', 0):,} to "
        f"choose the best epoch, {training.get('n_test', 0):,} to test, which no training has "
        "seen. Labelled: "
        + ", ".join(f"{_cell(k)} {v:,}" for k, v in training.get("n_labelled", {}).items())
        + ".",
        "",
        "Corpora: " + ", ".join(f"{_cell(name)} ({n:,} sentences)" for name, n in corpora) + ".",
        f"Language: {project.language}. Hash of the data: `{training.get('data_hash', '')[:16]}`.",
        "",
        "## How it was made",
        "",
        *_settings(round),
        "",
        "## How to use it",
        "",
        *_usage(tasks, pipelines, has_onnx),
        "",
        "## Licence and citation",
        "",
        "Licence of this model and of its data: not stated; ask whoever gave it to you. Fill in "
        "`license` above before you publish it. The encoder has a licence of its own.",
        "",
        "```bibtex",
        f"@misc{{tandem-{project.pk}-{round.number},",
        f"  title = {{{project.name}: multi-task model, round {round.number}}},",
        f"  year = {{{round.created_at.year}}},",
        f"  note = {{Trained with Tandem {VERSION}}}",
        "}",
        "```",
    ]
    return "\n".join(lines) + "\n"


def _front_matter(project: Project, has_pipelines: bool) -> list[str]:
    return [
        "---",
        f"license: {NO_LICENCE}",
        "license_name: not-stated",
        f"language: {project.language}",
        "library_name: transformers",
        *(["pipeline_tag: token-classification"] if has_pipelines else []),
        "tags: [tandem, multi-task, active-learning]",
        "---",
        "",
    ]


def _labels(task: Any) -> str:
    rows = [
        f"{_cell(name)} ({_cell(words)})" if words else _cell(name)
        for name, words in task.labels.order_by("position").values_list("name", "description")
    ]
    return ", ".join(rows)


def _scores(scores: Mapping[str, Any], tasks: Sequence[Any], training: Any) -> list[str]:
    if not scores:
        return ["Not measured: the project had no labelled test sentence when it was trained."]
    lines = [
        "On the frozen test slice, with 95 % intervals by bootstrap over sentences. Calibration is "
        "the mean distance between confidence and accuracy (0 is best), after scaling.",
        "",
        "| task | measure | score | 95 % interval | sentences | calibration | temperature |",
        "|---|---|---|---|---|---|---|",
    ]
    for task in tasks:
        row = scores.get(task.name)
        if row is None:
            continue
        low, high = row["interval"] or (None, None)
        interval = f"{low:.3f} to {high:.3f}" if row["interval"] else "too few sentences"
        error = row["calibration_scaled"]["calibration_error"]
        heat = training.get("temperatures", {}).get(task.name, 1.0)
        lines.append(
            f"| {_cell(task.name)} | {KINDS[task.kind].metric_title} | {row['score']:.3f} | "
            f"{interval} | {row['n']} | {error:.3f} | {heat:.2f} |"
        )
    return lines


def _settings(round: Round) -> list[str]:
    config = shown_settings(round)
    shown = ("encoder", "architecture", "epochs", "seed", "strategy")
    if not config.get("epochs"):
        config = {**config, "epochs": "as many as the data asks for"}
    return [f"- {name}: `{config[name]}`" for name in shown if name in config] + [
        f"- Tandem {VERSION}; versions of other packages are in `model/model.json`."
    ]


def _usage(tasks: Sequence[Any], pipelines: Sequence[str], has_onnx: bool) -> list[str]:
    lines = [
        "Nothing of Tandem is needed; `pip install -r requirements.txt`.",
        "",
        "```python",
        "from tandem_model import load  # with this folder as the working directory",
        "",
        'load(".")([["words", "of", "a", "sentence"], "or a text"])',
        "```",
    ]
    if pipelines:
        lines += [
            "",
            "```python",
            "from transformers import pipeline",
            "",
            *(
                f'pipeline("{kind}", model="transformers/{name}", trust_remote_code=True)'
                for name, kind in (one.split(":") for one in pipelines)
            ),
            "```",
            "",
            "The folders under `transformers/` read the weights under `model/`: keep them together."
            " The code they trust is `tandem_model.py`.",
        ]
    lines += [
        "",
        "```python",
        "import spacy, tandem_spacy",
        "",
        'nlp = spacy.blank("en")',
        'nlp.add_pipe("tandem", config={"folder": "."})',
        "```",
    ]
    if has_onnx:
        lines += ["", "`onnx/` holds the same model for onnxruntime; `onnx/README.md` tells how."]
    return lines


def _cell(text: str) -> str:
    """Return text that cannot break out of its cell."""
    return text.replace("|", "\\|").replace("\n", " ")
