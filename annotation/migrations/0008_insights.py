"""Task advice and learned policies become insights, with the results that they had."""

import json

import django.db.models.deletion
from django.db import migrations, models
from django.utils import timezone

from config.home import home


def keep_results(apps, schema_editor):
    Job = apps.get_model("annotation", "Job")
    Insight = apps.get_model("annotation", "Insight")
    Project = apps.get_model("annotation", "Project")
    for job in Job.objects.filter(kind="advice").order_by("pk"):
        method = job.arguments.get("method", "trained")
        if job.state == "done":
            Insight.objects.update_or_create(
                project=job.project,
                name="advice",
                defaults={
                    "settings": {"method": method},
                    "inputs": "",
                    "result": job.result,
                    "computed_at": job.finished_at or job.created_at,
                },
            )
            job.result = {}
        job.kind = "insight"
        job.arguments = {
            "insight": "advice",
            "settings": {"method": method},
            "only_if_old": False,
        }
        job.save(update_fields=["kind", "arguments", "result"])
    for path in sorted((home().root / "policies").glob("project-*.json")):
        project = Project.objects.filter(pk=path.stem.removeprefix("project-")).first()
        if project is not None:
            learned = json.loads(path.read_text(encoding="utf-8"))
            Insight.objects.update_or_create(
                project=project,
                name="policy",
                defaults={
                    "inputs": "",
                    "result": {
                        "value": None, "lower_bound": None, "effective_size": None,
                        "warning": "", "n_logs": 0, **learned,
                    },
                    "computed_at": timezone.now(),
                },
            )


class Migration(migrations.Migration):
    dependencies = [("annotation", "0007_django_sessions")]

    operations = [
        migrations.CreateModel(
            name="Insight",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("name", models.CharField(max_length=40)),
                ("settings", models.JSONField(default=dict)),
                ("inputs", models.CharField(max_length=64)),
                ("result", models.JSONField(default=dict)),
                ("computed_at", models.DateTimeField()),
                (
                    "project",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="insights",
                        to="annotation.project",
                    ),
                ),
            ],
            options={
                "constraints": [
                    models.UniqueConstraint(fields=("project", "name"), name="one_insight_per_name")
                ],
            },
        ),
        migrations.RunPython(keep_results, migrations.RunPython.noop),
    ]
