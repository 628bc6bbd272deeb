"""Row-level security: the second wall between spaces, which holds even for a query that forgets its filter."""

from django.db.migrations import RunSQL

# The setting is empty outside of a transaction that has set it; then no row passes.
SPACE = "nullif(current_setting('commonplace.space_id', true), '')::bigint"


def space_policy(table: str) -> RunSQL:
    """Return the migration operation that shows and takes only rows of the transaction's space in a table."""
    return RunSQL(
        f"ALTER TABLE {table} ENABLE ROW LEVEL SECURITY;"
        f"CREATE POLICY {table}_space ON {table} USING (space_id = {SPACE}) WITH CHECK (space_id = {SPACE});",
        f"DROP POLICY {table}_space ON {table}; ALTER TABLE {table} DISABLE ROW LEVEL SECURITY;",
    )


def cascade(table: str, column: str, target: str) -> RunSQL:
    """Return the migration operation for a foreign key (space_id, column) to a tenant table, deleted along."""
    name = f"{table}_{column}_fk"
    return RunSQL(
        f"ALTER TABLE {table} ADD CONSTRAINT {name} FOREIGN KEY (space_id, {column}) "
        f"REFERENCES {target} (space_id, id) ON DELETE CASCADE;",
        f"ALTER TABLE {table} DROP CONSTRAINT {name};",
    )
