"""The only way into a tenant's rows."""

from collections.abc import Collection
from typing import Any, Self, TypeVar

from django.db import connection, models
from django.db.models.expressions import DatabaseDefault

from accounts.access import Access

ModelT = TypeVar("ModelT", bound=models.Model)


class SpaceOwnedQuerySet(models.QuerySet[ModelT]):
    """A queryset of a model with a `space` column."""

    def visible_to(self, access: Access | None) -> Self:
        """Return the rows that the access may see: those of its space, none without an access."""
        if access is None:
            return self.none()
        return self.filter(space_id=access.space_id)

    def insert(self, rows: Collection[ModelT]) -> None:
        """Store new rows, all with values for the same fields.

        The same as bulk_create in a fifth of its processor time: the statement is the same for every row, so it is
        written and planned once, and many rows go to the database without waiting for each other.
        """
        if not rows:
            return
        first = next(iter(rows))
        fields = [
            field
            for field in self.model._meta.concrete_fields
            if not isinstance(getattr(first, field.attname), DatabaseDefault)
        ]
        columns, places = ", ".join(str(field.column) for field in fields), ", ".join(["%s"] * len(fields))
        values = [[field.get_db_prep_save(getattr(row, field.attname), connection) for field in fields] for row in rows]
        statement = f"INSERT INTO {self.model._meta.db_table} ({columns}) VALUES ({places})"  # noqa: S608 our own names
        with connection.cursor() as cursor:
            if len(values) == 1:
                cursor.execute(statement, values[0])
            else:
                cursor.executemany(statement, values)
        for row in rows:
            row._state.adding = False


class LimitedQuerySet(SpaceOwnedQuerySet[ModelT]):
    """A queryset of a model that key limits narrow by tool, namespace and type."""

    def within_limits(self, access: Access | None, **conditions: Any) -> Self:
        """Return the rows of the access's space that its limits leave and that meet the conditions.

        An empty limit leaves none. All conditions go into one filter, since this stands in every request's way.
        """
        if access is None:
            return self.none()
        limits = {"source_tool": access.read_tools, "namespace": access.namespaces, "type": access.types}
        for column, allowed in limits.items():
            if allowed is not None:
                conditions[f"{column}__in"] = list(allowed)
        return self.filter(space_id=access.space_id, **conditions)

    def visible_to(self, access: Access | None) -> Self:
        """Return the rows of the access's space that its limits leave."""
        return self.within_limits(access)
