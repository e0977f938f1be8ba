"""The settings of a server whose queue is broken on purpose: it looks, waits, then takes."""

from django.apps import AppConfig

from config.settings import *  # noqa: F403
from config.settings import INSTALLED_APPS as _APPS

INSTALLED_APPS = [*_APPS, "tests.chaos.broken_settings.BrokenQueue"]


class BrokenQueue(AppConfig):
    """Replaces the one-statement claim by SELECT, then UPDATE, without a lock."""

    name = "tests.chaos"
    label = "broken_queue"

    def ready(self):
        import time

        from annotation.queue_sql import peek_ask
        from annotation.rows import run
        from annotation.services import leasing

        def claim_ask(*, queue, annotator, first_rank, overlap):
            ask = peek_ask(queue=queue, annotator=annotator, first_rank=first_rank)
            time.sleep(0.05)
            run("UPDATE annotation_ask SET n_leases = 1 WHERE id = %(ask)s", ask=ask)
            return ask

        leasing.claim_ask = claim_ask
        leasing._claim = leasing._claim.__wrapped__  # neither turn nor transaction
