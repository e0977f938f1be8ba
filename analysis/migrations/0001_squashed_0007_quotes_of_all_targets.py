"""Every table as the migrations that this replaces leave it; a new database walks this one alone.

What those do to rows of earlier versions has nothing to do in an empty database.
"""

import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):

    replaces = [
        ('analysis', '0001_initial'),
        ('analysis', '0002_runs_are_shared'),
        ('analysis', '0003_runs_wanted'),
        ('analysis', '0004_runs_missing'),
        ('analysis', '0005_runs_are_files'),
        ('analysis', '0006_repairs_and_quotes'),
        ('analysis', '0007_quotes_of_all_targets'),
    ]

    initial = True

    dependencies = [
        ('annotation', '0001_squashed_0026_purposes_of_asks'),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.CreateModel(
            name='Quote',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('project', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='quotes', to='annotation.project')),
                ('task', models.ForeignKey(null=True, on_delete=django.db.models.deletion.CASCADE, related_name='+', to='annotation.task')),
                ('target', models.FloatField(null=True)),
                ('targets', models.JSONField(default=dict)),
                ('round_number', models.PositiveIntegerField()),
                ('n_labelled', models.PositiveIntegerField()),
                ('spent_hours', models.FloatField()),
                ('hours', models.FloatField(null=True)),
                ('low', models.FloatField()),
                ('high', models.FloatField(null=True)),
                ('created_by', models.ForeignKey(null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to=settings.AUTH_USER_MODEL)),
                ('created_at', models.DateTimeField()),
            ],
            options={
                'ordering': ['id'],
            },
        ),
        migrations.CreateModel(
            name='Repair',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('project', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='repairs', to='annotation.project')),
                ('sentence', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='+', to='annotation.sentence')),
                ('task', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='+', to='annotation.task')),
                ('given', models.JSONField(null=True)),
                ('expected', models.JSONField(null=True)),
                ('probability', models.FloatField()),
                ('decision', models.CharField(choices=[('kept', 'Kept'), ('repaired', 'Repaired'), ('asked', 'Asked')], max_length=8)),
                ('person', models.ForeignKey(null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to=settings.AUTH_USER_MODEL)),
                ('created_at', models.DateTimeField()),
            ],
        ),
        migrations.CreateModel(
            name='Study',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('name', models.CharField(max_length=120)),
                ('scale', models.CharField(blank=True, max_length=40)),
                ('kind', models.CharField(max_length=120)),
                ('description', models.TextField(blank=True)),
                ('note', models.TextField(blank=True)),
                ('n_wanted', models.PositiveIntegerField(default=0)),
                ('n_finished', models.PositiveIntegerField(default=0)),
                ('n_failed', models.PositiveIntegerField(default=0)),
                ('created_at', models.DateTimeField(auto_now_add=True)),
            ],
            options={
                'verbose_name_plural': 'studies',
                'constraints': [models.UniqueConstraint(fields=('name', 'scale'), name='study_once')],
            },
        ),
    ]
