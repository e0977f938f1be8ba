"""The index of studies, made anew from their files."""

from django.db import transaction

from analysis.sweep.store import RunStore, StudyRecord
from analysis.web.models import Study
from config.home import home


def run_store() -> RunStore:
    """Return where the runs of all studies are kept."""
    return RunStore(home().studies)


@transaction.atomic
def index_studies(store: RunStore) -> int:
    """Make the index anew from the files, and return how many studies it lists."""
    found = {(record.name, record.scale): record for record in store.studies()}
    for row in Study.objects.all():
        if (row.name, row.scale) not in found:
            row.delete()
    for record in found.values():
        index_study(store, record)
    return len(found)


def index_study(store: RunStore, record: StudyRecord) -> Study:
    """Bring one study's line up to date."""
    keys = [key for key, _ in record.runs]
    finished = {key for key in keys if store.is_finished(key)}
    failed = [key for key in keys if key not in finished and store.failure(key)]
    row, _ = Study.objects.update_or_create(
        name=record.name,
        scale=record.scale,
        defaults={
            "kind": record.kind,
            "description": record.description,
            "note": record.note,
            "n_wanted": len(keys),
            "n_finished": len(finished),
            "n_failed": len(failed),
        },
    )
    return row
