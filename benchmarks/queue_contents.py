"""Prints what the queues of a database, or of one project, hold as JSON for the checker."""

import json
import os
import sys

import django


def main() -> None:
    """Read asks and submissions of every project, or of the one that is named."""
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
    django.setup()
    from annotation.models import Annotation, Ask, Submission

    project = {"project": int(sys.argv[1])} if sys.argv[1:] else {}
    queue = {f"queue__{name}": value for name, value in project.items()}
    topics = {
        (author, sentence): value
        for author, sentence, value in Annotation.objects.filter(task__name="Topic").values_list(
            "author__username", "sentence_id", "value"
        )
    }
    asks = Ask.objects.filter(**queue).values(
        "id", "rank", "overlap", "n_answers", "n_leases", "is_open"
    )
    submissions = Submission.objects.filter(**project).values_list(
        "id", "annotator__username", "lease__ask_id", "key", "lease__ask__sentence_id"
    )
    print(
        json.dumps(
            {
                "asks": list(asks),
                "submissions": [
                    {
                        "id": id_,
                        "person": person,
                        "ask": ask,
                        "key": key,
                        "topic": topics.get((person, sentence)),
                    }
                    for id_, person, ask, key, sentence in submissions
                ],
            }
        )
    )


if __name__ == "__main__":
    main()
