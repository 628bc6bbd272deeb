import django.db.models.deletion
from django.db import migrations, models

from accounts.rowsecurity import space_policy

# White space as Unicode defines it; each becomes a space, then runs of spaces become one.
SPACES = "\t\n\x0b\x0c\r\x1c\x1d\x1e\x1f\x85\xa0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a\u2028\u2029\u202f\u205f\u3000"
FOLDED = f"btrim(regexp_replace(translate(normalize({{}}, NFC), '{SPACES}', '{' ' * len(SPACES)}'), ' +', ' ', 'g'))"
DIGEST = f"""
CREATE FUNCTION commonplace_fact_digest(subject text, content text) RETURNS bytea
LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
RETURN sha256(convert_to({FOLDED.format("subject")} || chr(10) || {FOLDED.format("content")}, 'UTF8'));
ALTER TABLE memories_memory ADD COLUMN fact_digest bytea
    GENERATED ALWAYS AS (commonplace_fact_digest(subject::text, content)) STORED;
CREATE INDEX memories_memory_digest ON memories_memory (space_id, fact_digest);
CREATE UNIQUE INDEX memories_memory_fact ON memories_memory (space_id, fact_digest)
    WHERE status = 'active' AND remembered;
CREATE INDEX memories_memory_superseded ON memories_memory (space_id, superseded_by) WHERE superseded_by IS NOT NULL;
ALTER TABLE memories_memory ADD CONSTRAINT memories_memory_superseded_by_fk
    FOREIGN KEY (space_id, superseded_by) REFERENCES memories_memory (space_id, id) ON DELETE CASCADE;
"""
UNDO = """
ALTER TABLE memories_memory DROP CONSTRAINT memories_memory_superseded_by_fk;
DROP INDEX memories_memory_superseded, memories_memory_fact, memories_memory_digest;
ALTER TABLE memories_memory DROP COLUMN fact_digest;
DROP FUNCTION commonplace_fact_digest(text, text);
"""


class Migration(migrations.Migration):
    dependencies = [
        ("accounts", "0001_initial"),
        ("memories", "0002_search"),
    ]

    operations = [
        migrations.AddField(
            "memory", "dreamed_at", models.DateTimeField(help_text="When a dream last changed it.", null=True)
        ),
        migrations.AddField(
            "memory",
            "remembered",
            models.BooleanField(
                db_default=False,
                default=False,
                help_text="Stored by remember and unchanged since: a unique index keeps one active row for each such fact.",
            ),
        ),
        migrations.AddField(
            "memory",
            "superseded_by",
            models.CharField(help_text="The fact that this one was merged into.", max_length=20, null=True),
        ),
        migrations.CreateModel(
            name="ForgetPreview",
            fields=[
                (
                    "pk",
                    models.CompositePrimaryKey(
                        "space_id", "actor", "digest", blank=True, editable=False, primary_key=True, serialize=False
                    ),
                ),
                ("actor", models.CharField(help_text="Kind and id of the credential.", max_length=80)),
                ("digest", models.BinaryField(max_length=32)),
                ("at", models.DateTimeField()),
                (
                    "space",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="+",
                        to="accounts.space",
                    ),
                ),
            ],
        ),
        space_policy("memories_forgetpreview"),
        migrations.RunSQL(DIGEST, UNDO),
    ]
