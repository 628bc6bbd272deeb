"""A person's places in spaces, each under a name that no other of them has."""

from collections import Counter

from django.db.models import OuterRef, Subquery

from accounts.models import Membership, Role, User


def places_of(user: User) -> list[Membership]:
    """Return the person's places with their spaces, oldest first.

    Each has a `label`: the space's name, and behind it, where two spaces share that, whose it is; where even that is
    the same, the space's number.
    """
    owners = Membership.objects.filter(space_id=OuterRef("space_id"), role=Role.OWNER).values("user__email")
    rows = Membership.objects.filter(user=user).select_related("space").order_by("created_at", "pk")
    rows_with_owner = rows.annotate(owner_email=Subquery(owners[:1]))
    places: list[Membership] = []
    names = Counter(place.space.name for place in rows_with_owner)
    for place in rows_with_owner:
        place.label = place.space.name
        if names[place.label] > 1:
            place.label += " (yours)" if place.role == Role.OWNER else f" ({place.owner_email})"
        places.append(place)
    labels = Counter(place.label for place in places)
    for shown in places:
        if labels[shown.label] > 1:
            shown.label += f" {shown.space_id}"
    return places
