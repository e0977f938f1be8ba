"""A round's model as a folder, an archive or ONNX files that need no Tandem."""

import tempfile
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

from annotation.models import Round
from annotation.predictions.card import model_card
from annotation.projects.tasks import renames_since
from annotation.rounds.workspace import Workspace
from mtl_engine.atomic import current_place, replaced_folder
from mtl_engine.bundle import Names, descriptions, pipelines_of, write_portable
from mtl_engine.errors import EngineError

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
