"""The only way into a tenant's rows."""

from typing import Any, Self, TypeVar

from django.db import models

from accounts.access import Access

ModelT = TypeVar("ModelT", bound=models.Model)


class SpaceOwnedQuerySet(models.QuerySet[ModelT]):
    """A queryset of a model with a `space` column."""

    def visible_to(self, access: Access | None) -> Self:
        """Return the rows that the access may see: those of its space, none without an access."""
        if access is None:
            return self.none()
        return self.filter(space_id=access.space_id)


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
