from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("memories", "0004_memories_of_conversations"),
    ]

    operations = [
        migrations.AddIndex(
            model_name="memory",
            index=models.Index(
                condition=models.Q(("source_ref__startswith", "dream_")),
                fields=["space", "source_ref"],
                name="memories_memory_dreamed",
            ),
        ),
    ]
