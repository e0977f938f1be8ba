from django.db import migrations


class Migration(migrations.Migration):
    dependencies = [("analysis", "0001_initial")]

    operations = [migrations.RemoveField(model_name="study", name="directory")]
