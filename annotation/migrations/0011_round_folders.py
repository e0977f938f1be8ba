"""Rounds name the folder of their files; what lay under the round's id moves there."""

import annotation.models.round
from django.conf import settings
from django.db import migrations, models, transaction

from annotation.models.round import new_folder
from config.home import home


def name_folders(apps, schema_editor):
    rounds = apps.get_model("annotation", "Round").objects
    moves = []
    for pk in rounds.filter(folder="").values_list("pk", flat=True):
        folder = new_folder()
        rounds.filter(pk=pk).update(folder=folder)
        moves.append((home().round(str(pk)), home().round(folder)))

    def move():
        for old, new in moves:
            if old.is_dir():
                old.rename(new)

    transaction.on_commit(move, using=schema_editor.connection.alias)


class Migration(migrations.Migration):

    dependencies = [
        ('annotation', '0010_defaults_in_the_database'),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.AddField(
            model_name='round',
            name='folder',
            field=models.CharField(db_default='', default=annotation.models.round.new_folder, max_length=40),
        ),
        migrations.AddConstraint(
            model_name='round',
            constraint=models.UniqueConstraint(condition=models.Q(('folder', ''), _negated=True), fields=('folder',), name='round_folder_once'),
        ),
        migrations.RunPython(name_folders, migrations.RunPython.noop),
    ]
