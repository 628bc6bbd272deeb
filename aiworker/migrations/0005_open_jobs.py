"""How many jobs of all spaces wait and run, for the operator: numbers and kinds, no content."""

from django.db import migrations

OPEN = """
CREATE FUNCTION commonplace_jobs_open()
RETURNS TABLE (kind varchar, status varchar, count bigint, oldest timestamptz)
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = public AS $$
  SELECT kind, status, count(*), min(created_at) FROM aiworker_job
  WHERE status IN ('queued', 'running') GROUP BY 1, 2 ORDER BY 1, 2
$$
"""


class Migration(migrations.Migration):
    dependencies = [("aiworker", "0004_job_turns")]

    operations = [migrations.RunSQL(OPEN, "DROP FUNCTION commonplace_jobs_open()")]
