"""People, spaces and memberships."""

from typing import Any

from django.db import transaction

from accounts.access import Access, space_set
from accounts.models import Membership, Role, Space, User
from events.services import event_record
from memories.model_changes import model_change_start, space_models


@transaction.atomic
def space_create(*, owner: User, name: str, kind: str = Space.Kind.PERSONAL) -> Space:
    """Return a new space that `owner` owns."""
    space = Space.objects.create(name=name, kind=kind)
    Membership.objects.create(space=space, user=owner, role=Role.OWNER)
    space_set(space.pk)
    event_record(access=Access.system(space.pk), type="space.created", object_kind="space", object_ids=[str(space.pk)])
    return space


@transaction.atomic
def space_update(*, access: Access, changes: dict[str, Any]) -> Space:
    """Change settings of the access's space and return it; another embedding model takes over when it is complete."""
    space = Space.objects.select_for_update().get(pk=access.space_id)
    columns = {name: value for name, value in changes.items() if name != "embedding_model"}
    changed = [name for name, value in columns.items() if getattr(space, name) != value]
    for name in changed:
        setattr(space, name, columns[name])
    if changed:
        space.save(update_fields=changed)
    if "embedding_model" in changes:
        current, coming = space_models(space.pk)
        if changes["embedding_model"] != (coming or current):
            model_change_start(space_id=space.pk, model=changes["embedding_model"])
            changed.append("embedding_model")
    if changed:
        event_record(
            access=access, type="space.updated", object_kind="space", object_ids=[str(space.pk)],
            details={"fields": sorted(changed)},
        )  # fmt: skip
    return space


def user_with_space(*, email: str, password: str | None, space_name: str) -> tuple[User, Space, bool]:
    """Return the person and their space of that name, each made when absent, and whether the person is new."""
    with transaction.atomic():
        user = User.objects.filter(email=email.strip().lower()).first()
        created = user is None
        if user is None:
            user = User.objects.create_user(email, password)
        membership = (
            Membership.objects.select_related("space").filter(user=user, space__name=space_name).order_by("pk").first()
        )
        space = membership.space if membership else space_create(owner=user, name=space_name)
    return user, space, created
