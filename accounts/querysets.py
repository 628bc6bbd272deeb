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

    def visible_to(self, access: Access | None) -> Self:
        """Return the rows of the access's space that its limits leave; an empty limit leaves none."""
        rows = super().visible_to(access)
        if access is None or not access.limited:
            return rows
        limits: dict[str, Any] = {
            "source_tool__in": access.read_tools, "namespace__in": access.namespaces, "type__in": access.types,
        }  # fmt: skip
        return rows.filter(**{field: list(allowed) for field, allowed in limits.items() if allowed is not None})
