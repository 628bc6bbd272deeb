"""What the sweep, the turns and the operator may know of the jobs of all spaces: ids, kinds and numbers, no content."""

from django.db import migrations

LOST = """
CREATE OR REPLACE FUNCTION commonplace_jobs_lost(waiting_seconds integer, silent_seconds integer)
RETURNS TABLE (space_id bigint, id varchar) LANGUAGE sql STABLE SECURITY DEFINER SET search_path = public AS $$
  SELECT space_id, id FROM aiworker_job
  WHERE status IN ('queued', 'running') AND coalesce(alive_at, created_at)
    < now() - make_interval(secs => CASE status WHEN 'queued' THEN waiting_seconds ELSE silent_seconds END)
  ORDER BY created_at LIMIT 1000
$$
"""
DEAD = """
CREATE OR REPLACE FUNCTION commonplace_jobs_dead()
RETURNS TABLE (space_id bigint, id varchar, kind varchar, attempts smallint, finished_at timestamptz)
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = public AS $$
  SELECT space_id, id, kind, attempts, finished_at FROM aiworker_job
  WHERE status = 'failed' AND error->>'error' = 'gave_up' ORDER BY finished_at DESC LIMIT 1000
$$
"""
NEXT = """
CREATE OR REPLACE FUNCTION commonplace_jobs_next(kinds text[], queue_name text)
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
OPEN = """
CREATE OR REPLACE FUNCTION commonplace_jobs_open()
RETURNS TABLE (kind varchar, status varchar, count bigint, oldest timestamptz)
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = public AS $$
  SELECT kind, status, count(*), min(created_at) FROM aiworker_job
  WHERE status IN ('queued', 'running') GROUP BY 1, 2 ORDER BY 1, 2
$$
"""


class Migration(migrations.Migration):
    dependencies = [("aiworker", "0001_initial")]

    operations = [
        migrations.RunSQL(LOST, "DROP FUNCTION commonplace_jobs_lost(integer, integer)"),
        migrations.RunSQL(DEAD, "DROP FUNCTION commonplace_jobs_dead()"),
        migrations.RunSQL(NEXT, "DROP FUNCTION commonplace_jobs_next(text[], text)"),
        migrations.RunSQL(OPEN, "DROP FUNCTION commonplace_jobs_open()"),
    ]
