from django.db import migrations, models

from accounts.rowsecurity import SPACE

VIEW = """
CREATE OR REPLACE VIEW memories_searchable AS SELECT * FROM memories_searchentry
WHERE {space} AND (expires_at IS NULL OR expires_at > statement_timestamp())
WITH LOCAL CHECK OPTION
"""


class Migration(migrations.Migration):
    """Find quickly what waits and what came from a conversation or a dream, and words by their own index alone.

    Under the view, the condition on the space is kept from being looked up, or a search of words would read the space's
    whole key beside: every lexeme carries its space, so their index needs no other.
    """

    dependencies = [
        ("accounts", "0001_initial"),
        ("memories", "0003_facts"),
    ]

    operations = [
        migrations.AddIndex(
            model_name="memory",
            index=models.Index(
                condition=models.Q(("status", "quarantined")), fields=["space"], name="memories_memory_quarantined"
            ),
        ),
        migrations.AddIndex(
            model_name="memory",
            index=models.Index(
                condition=models.Q(("source_ref__startswith", "conv_")),
                fields=["space", "source_ref"],
                name="memories_memory_conversation",
                opclasses=["int8_ops", "varchar_pattern_ops"],
            ),
        ),
        migrations.AddIndex(
            model_name="memory",
            index=models.Index(
                condition=models.Q(("source_ref__startswith", "dream_")),
                fields=["space", "source_ref"],
                name="memories_memory_dreamed",
            ),
        ),
        migrations.AddField(
            model_name="memory",
            name="evidence_deleted",
            field=models.BooleanField(
                db_default=False, default=False, help_text="Some of what a dream derived it from was deleted."
            ),
        ),
        migrations.RunSQL(
            VIEW.format(space=f"(space_id = (SELECT {SPACE})) IS TRUE"),
            VIEW.format(space=f"space_id = (SELECT {SPACE})"),
        ),
    ]
