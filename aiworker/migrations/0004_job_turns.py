"""Whose turn it is among the spaces that have jobs in a queue."""

import django.db.models.deletion
from django.db import migrations, models

from accounts.rowsecurity import space_policy

NEXT = """
CREATE FUNCTION commonplace_jobs_next(kinds text[], queue_name text)
RETURNS TABLE (space_id bigint, id varchar) LANGUAGE sql STABLE SECURITY DEFINER SET search_path = public AS $$
  WITH spaces AS (
    SELECT job.space_id, count(*) FILTER (WHERE status = 'running') AS running,
           count(*) FILTER (WHERE status = 'queued' AND attempts = 0) AS waiting
    FROM aiworker_job AS job WHERE status IN ('queued', 'running') AND kind = ANY(kinds) GROUP BY job.space_id
  ), chosen AS (
    SELECT spaces.space_id FROM spaces
    LEFT JOIN aiworker_jobturn AS turn ON turn.space_id = spaces.space_id AND turn.queue = queue_name
    WHERE waiting > 0 ORDER BY running, turn.at NULLS FIRST, spaces.space_id LIMIT 1
  )
  SELECT job.space_id, job.id FROM aiworker_job AS job JOIN chosen ON chosen.space_id = job.space_id
  WHERE status = 'queued' AND attempts = 0 AND kind = ANY(kinds) ORDER BY created_at, job.id LIMIT 1
$$
"""


class Migration(migrations.Migration):
    dependencies = [("accounts", "0001_initial"), ("aiworker", "0003_ai_usage")]

    operations = [
        migrations.CreateModel(
            name="JobTurn",
            fields=[
                (
                    "pk",
                    models.CompositePrimaryKey(
                        "space_id", "queue", blank=True, editable=False, primary_key=True, serialize=False
                    ),
                ),
                ("queue", models.CharField(max_length=20)),
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
        space_policy("aiworker_jobturn"),
        migrations.RunSQL(NEXT, "DROP FUNCTION commonplace_jobs_next(text[], text)"),
    ]
