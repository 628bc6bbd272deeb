"""What the sweep and the operator may know of the jobs of all spaces: ids and kinds, no content."""

from django.db import migrations

LOST = """
CREATE FUNCTION commonplace_jobs_lost(waiting_seconds integer, silent_seconds integer)
RETURNS TABLE (space_id bigint, id varchar) LANGUAGE sql STABLE SECURITY DEFINER SET search_path = public AS $$
  SELECT space_id, id FROM aiworker_job
  WHERE status IN ('queued', 'running') AND coalesce(alive_at, created_at)
    < now() - make_interval(secs => CASE status WHEN 'queued' THEN waiting_seconds ELSE silent_seconds END)
  ORDER BY created_at LIMIT 1000
$$
"""
DEAD = """
CREATE FUNCTION commonplace_jobs_dead()
RETURNS TABLE (space_id bigint, id varchar, kind varchar, attempts smallint, finished_at timestamptz)
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = public AS $$
  SELECT space_id, id, kind, attempts, finished_at FROM aiworker_job
  WHERE status = 'failed' AND error->>'error' = 'gave_up' ORDER BY finished_at DESC LIMIT 1000
$$
"""


class Migration(migrations.Migration):
    dependencies = [("aiworker", "0001_initial")]

    operations = [
        migrations.RunSQL(LOST, "DROP FUNCTION commonplace_jobs_lost(integer, integer)"),
        migrations.RunSQL(DEAD, "DROP FUNCTION commonplace_jobs_dead()"),
    ]
