"""Runs are files: what the tables knew of studies is written down beside them."""

from django.db import migrations, models

from analysis.sweep.store import RunStore, StudyRecord
from analysis.sweep.study_file import RunConfig
from config.home import home


def write_records(apps, schema_editor):
    store = None
    for study in apps.get_model("analysis", "Study").objects.all():
        store = store or RunStore(home().studies)
        wanted = study.runs.filter(is_wanted=True).order_by("pk")
        runs = tuple((run.key, RunConfig(study.kind, run.settings, run.seed)) for run in wanted)
        store.keep_study(
            StudyRecord(
                name=study.name,
                scale=study.scale,
                kind=study.kind,
                description=study.description,
                note=study.note,
                varying=tuple(study.varying),
                runs=runs,
            )
        )
        states = list(wanted.values_list("state", flat=True))
        study.n_wanted = len(states)
        study.n_finished = states.count("finished")
        study.n_failed = states.count("failed")
        study.save(update_fields=["n_wanted", "n_finished", "n_failed"])


class Migration(migrations.Migration):
    dependencies = [("analysis", "0004_runs_missing")]

    operations = [
        migrations.AddField("study", "n_wanted", models.PositiveIntegerField(default=0)),
        migrations.AddField("study", "n_finished", models.PositiveIntegerField(default=0)),
        migrations.AddField("study", "n_failed", models.PositiveIntegerField(default=0)),
        migrations.AlterField("study", "kind", models.CharField(max_length=120)),
        migrations.RunPython(write_records, migrations.RunPython.noop),
        migrations.DeleteModel("Run"),
        migrations.RemoveField("study", "varying"),
    ]
