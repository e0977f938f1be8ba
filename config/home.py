"""Every path under TANDEM_HOME, the data directory; files in it are replaced by `replaced_file`."""

import os
from dataclasses import dataclass
from pathlib import Path

from mtl_engine.atomic import first_file, first_folder, remove_folder, replaced_file

__all__ = ["Home", "first_file", "first_folder", "home", "remove_folder", "replaced_file"]
UNSENT = ".unsent-"  # how folders begin in which backups wait to be sent

BASE_DIR = Path(__file__).resolve().parent.parent  # holds the packages, from source or installed
IS_SOURCE_TREE = (BASE_DIR / "manage.py").exists()


@dataclass(frozen=True)
class Home:
    """A data directory and where things lie in it."""

    root: Path

    # What a backup takes along, besides the database.
    kept_folders = ("models", "rounds", "studies")

    @property
    def database(self) -> Path:
        return self.root / "tandem.sqlite3"

    @property
    def test_database(self) -> Path:
        return self.root / "test.sqlite3"

    @property
    def secret_key(self) -> Path:
        return self.root / "secret_key"

    @property
    def static(self) -> Path:
        """Files of the pages, gathered when the server starts."""
        return self.root / "static"

    @property
    def studies(self) -> Path:
        """Runs of studies."""
        return self.root / "studies"

    @property
    def caches(self) -> Path:
        """What may be removed at any time."""
        return self.root / "caches"

    @property
    def encoders(self) -> Path:
        """Encoders that were fetched from a hub."""
        return self.caches / "encoders"

    @property
    def request_times(self) -> Path:
        """What web processes measure, for monitoring."""
        return self.caches / "request_times"

    @property
    def features(self) -> Path:
        """What frozen layers have computed, shared by rounds, advice and studies."""
        return self.caches / "features"

    @property
    def cards(self) -> Path:
        """Locks of the graphics cards that workers have taken."""
        return self.caches / "cards"

    @property
    def policy_logs(self) -> Path:
        """Logs of trainings that policies of a study are learned from."""
        return self.caches / "policy_logs"

    @property
    def sentence_vectors(self) -> Path:
        return self.caches / "sentence_vectors"

    @property
    def predictor(self) -> Path:
        """The file that tells where the predictor listens."""
        return self.root / "predictor.json"

    @property
    def exports(self) -> Path:
        """Folders of what jobs have written for people, each under the name that its row keeps."""
        return self.root / "exports"

    def export(self, folder: str) -> Path:
        """Return the folder of the files that a job has written."""
        return self.exports / _folder_name(folder)

    def uploads(self, project_id: int) -> Path:
        """Return the folder of files that wait for their import."""
        return self.root / "uploads" / str(project_id)

    @property
    def rounds(self) -> Path:
        """Folders of rounds, each under the name that its row keeps."""
        return self.root / "rounds"

    def round(self, folder: str) -> Path:
        """Return the folder of a round."""
        return self.rounds / _folder_name(folder)

    def withheld_answers(self, folder: str) -> Path:
        """Return the file of a round's answers to blind asks, for comparison only."""
        return self.round(folder) / "withheld.json"

    def sequential_lda(self, name: str) -> Path:
        """Return the folder of a fitted model of sequences."""
        return self.root / "sequential_lda" / name


def _folder_name(name: str) -> str:
    if not name or name != Path(name).name or name.startswith("."):
        raise ValueError(f"{name!r} is not the name of a folder.")
    return name


def command(*words: str) -> str:
    """Return what a person types to run one of our commands."""
    return " ".join(["python manage.py" if IS_SOURCE_TREE else "tandem", *words])


def home() -> Home:
    """Return the data directory that the environment names."""
    return Home(Path(os.environ.get("TANDEM_HOME") or _usual_place()).resolve())


def _usual_place() -> Path:
    """Return `.tandem` in a source tree; an installed Tandem keeps its data with the person."""
    if IS_SOURCE_TREE:
        return BASE_DIR / ".tandem"
    data = os.environ.get("XDG_DATA_HOME") or Path.home() / ".local" / "share"
    return Path(data) / "tandem"
