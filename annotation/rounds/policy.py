"""The task selection policy that was learned from a project's rounds."""

import json
from pathlib import Path

from django.conf import settings

from annotation.errors import Refused
from annotation.models import Project


def policy_file(project: Project) -> Path:
    """Return where a project's learned policy is kept."""
    return Path(settings.TANDEM_HOME) / "policies" / f"project-{project.pk}.json"


def learned_weights(project: Project) -> dict[str, float]:
    """Return the learned probability of each task."""
    path = policy_file(project)
    if not path.exists():
        raise Refused(
            f"No policy was learned for this project yet: run `python manage.py learn_policy "
            f"--project {project.pk}`, or choose another task order."
        )
    content = json.loads(path.read_text(encoding="utf-8"))
    return {str(name): float(value) for name, value in content["probabilities"].items()}
