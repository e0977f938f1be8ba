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

        from django.db.models import F

        from annotation.models import Ask
        from annotation.queue import leases
        from annotation.queue.selectors import _asks_left
        from annotation.queue.store import ClaimedAsk

        def claim_ask(*, position, annotator_id):
            free = _asks_left(position, annotator_id).filter(
                n_answers__lt=F("overlap") - F("n_leases")
            )
            ask = free.order_by("rank").first()
            time.sleep(0.05)
            if ask is None:
                return None
            Ask.objects.filter(pk=ask.pk).update(n_leases=1)
            return ClaimedAsk(ask.pk, ask.sentence_id, [])

        leases.claim_ask = claim_ask
        leases._claim = leases._claim.__wrapped__  # no transaction
