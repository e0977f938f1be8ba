"""A study kind in one file: how long a word becomes when it is doubled so many times."""

from dataclasses import dataclass

from analysis.sweep.registry import StudyKind
from mtl_engine.settings import Settings, setting


@dataclass(frozen=True)
class DoublingSettings(Settings):
    word: str = setting("a", title="Word")
    times: int = setting(1, title="Doublings", low=0)


def _run(settings, seed, data):
    for step in range(settings.times):
        yield {"step": step, "length": len(settings.word) * 2 ** (step + 1)}
    yield {"final": {"length": len(settings.word) * 2**settings.times, "loaded": data}}


STUDY = StudyKind(
    name="doubling",
    settings=DoublingSettings,
    run=_run,
    load=lambda settings: len(settings.word),
    data_keys=("word",),
)
