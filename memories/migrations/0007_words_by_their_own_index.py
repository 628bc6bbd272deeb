from django.db import migrations

from accounts.rowsecurity import SPACE

VIEW = """
CREATE OR REPLACE VIEW memories_searchable AS SELECT * FROM memories_searchentry
WHERE {space} AND (expires_at IS NULL OR expires_at > statement_timestamp())
WITH LOCAL CHECK OPTION
"""


class Migration(migrations.Migration):
    """Keep the condition on the space from being looked up: a search of words would read the space's whole key beside.

    Every lexeme carries its space, so their index needs no other. A reading by ids or dates names the space itself.
    """

    dependencies = [("memories", "0006_quarantined")]

    operations = [
        migrations.RunSQL(
            VIEW.format(space=f"(space_id = (SELECT {SPACE})) IS TRUE"),
            VIEW.format(space=f"space_id = (SELECT {SPACE})"),
        ),
    ]
