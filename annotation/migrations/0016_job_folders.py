"""Jobs name the folder of their files; what lay under the job's id moves there."""

from django.db import migrations, models, transaction

import annotation.models.round
from annotation.models.round import new_folder
from config.home import home


def name_folders(apps, schema_editor):
    jobs = apps.get_model("annotation", "Job").objects
    moves = []
    for pk in jobs.filter(folder="").values_list("pk", flat=True):
        folder = new_folder()
        jobs.filter(pk=pk).update(folder=folder)
        moves.append((home().export(str(pk)), home().export(folder)))

    def move():
        for old, new in moves:
            if old.is_dir():
                old.rename(new)

    transaction.on_commit(move, using=schema_editor.connection.alias)


class Migration(migrations.Migration):

    dependencies = [
        ('annotation', '0015_lanes'),
    ]

    operations = [
        migrations.AddField(
            model_name='job',
            name='folder',
            field=models.CharField(db_default='', default=annotation.models.round.new_folder, max_length=40),
        ),
        migrations.RunPython(name_folders, migrations.RunPython.noop),
    ]
