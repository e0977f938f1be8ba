"""Keeps people signed in although the session engine is Django's own from now on."""

from django.conf import settings
from django.contrib.sessions.backends.db import SessionStore
from django.db import migrations
from django.utils import timezone

EARLIER = "annotation.accounts.sessions.AccountBackend"
EARLIEST = "annotation.sessions.AccountBackend"
NOW = "django.contrib.auth.backends.ModelBackend"


def name_the_backend(apps, schema_editor):
    store = SessionStore()
    sessions = apps.get_model("sessions", "Session").objects.filter(expire_date__gt=timezone.now())
    for session in sessions.iterator():
        data = store.decode(session.session_data)
        if data.get("_auth_user_backend") in (EARLIER, EARLIEST):
            session.session_data = store.encode({**data, "_auth_user_backend": NOW})
            session.save(update_fields=["session_data"])


class Migration(migrations.Migration):
    dependencies = [
        ("annotation", "0006_project_life"),
        ("sessions", "0001_initial"),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]
    operations = [migrations.RunPython(name_the_backend, migrations.RunPython.noop)]
