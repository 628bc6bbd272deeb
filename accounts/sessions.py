"""From a signed-in session to its Access: the person, and the space they are looking at."""

from typing import Any

from django.http import HttpRequest

from accounts.access import Access
from accounts.models import Membership, Role, Space, User
from accounts.permissions import ROLE_SCOPES
from accounts.places import places_of
from accounts.support import support_visit
from apikeys.authentication import client_ip

SPACE = "space_id"  # the session's key for the current space


def session_membership(request: HttpRequest) -> Membership | None:
    """Return the signed-in person's place in the current space, None for a stranger or a person without a space.

    A space that the person has left or that is gone falls back to their first one, the personal space.
    """
    user = request.user
    if not isinstance(user, User) or not user.is_active:
        return None
    visit = support_visit(request)
    if visit is not None:
        user, request.support = visit.user, visit  # type: ignore[attr-defined]
    places = places_of(user)
    request.spaces = places  # type: ignore[attr-defined]  # the switcher shows them
    current = request.session.get(SPACE)
    for place in places:
        if place.space_id == current:
            return place
    places.sort(key=lambda place: place.space.kind != Space.Kind.PERSONAL)
    return places[0] if places else None


def session_access(request: HttpRequest) -> Access | None:
    """Return what the signed-in person may do in the current space, None when there is no such person or space."""
    cached: Access | None = getattr(request, "access", None)
    if cached is not None:
        return cached
    place = session_membership(request)
    if place is None:
        return None
    user: Any = request.user
    if hasattr(request, "support"):
        place.role = Role.VIEWER  # whoever looks in for support reads, and no more; the row stays as it is
    access = Access(
        space_id=place.space_id, user_id=user.pk, actor_kind="user", actor_id=str(user.pk),
        actor_name=user.name or user.email, scopes=ROLE_SCOPES[place.role], channel="dashboard", role=place.role,
        ip=client_ip(request), request_id=getattr(request, "request_id", ""),
    )  # fmt: skip
    request.access, request.membership = access, place  # type: ignore[attr-defined]
    return access


def space_open(request: HttpRequest, space_id: int) -> bool:
    """Make a space of the signed-in person's the current one; return whether it is one of theirs."""
    user = request.user
    if not isinstance(user, User) or not Membership.objects.filter(user=user, space_id=space_id).exists():
        return False
    request.session[SPACE] = space_id
    return True
