"""The operator looks in as a person: only with that person's consent, only reading, and noted in the event log."""

from django.db import transaction
from django.http import HttpRequest
from django.utils import timezone

from accounts.access import Access, space_set
from accounts.models import Membership, Role, SupportVisit, User
from api.errors import Forbidden
from events.services import event_record

VISIT = "support_visit"  # the session's key for the visit that the operator is on


def _note(user: User, type: str, actor: User) -> None:
    """Write an event into every space of the person."""
    for place in Membership.objects.filter(user=user).order_by("space_id"):
        space_set(place.space_id)
        access = Access(
            space_id=place.space_id, user_id=actor.pk, actor_kind="user", actor_id=str(actor.pk),
            actor_name=actor.name or actor.email, scopes=frozenset(), channel="dashboard", role=Role.VIEWER,
        )  # fmt: skip
        event_record(access=access, type=type, object_kind="user", object_ids=[str(user.pk)])


@transaction.atomic
def support_allow(*, user: User) -> SupportVisit:
    """Let the operator look in for an hour; return the consent, an open one as it is."""
    visit = SupportVisit.objects.filter(user=user).open().first()
    if visit is None:
        visit = SupportVisit.objects.create(user=user)
        _note(user, "support.allowed", user)
    return visit


@transaction.atomic
def support_end(*, user: User) -> None:
    """Take the consent back; a visit that is under way ends with its next page."""
    if SupportVisit.objects.filter(user=user).open().update(ended_at=timezone.now()):
        _note(user, "support.ended", user)


@transaction.atomic
def support_enter(*, operator: User, user: User) -> SupportVisit:
    """Begin a visit. Raises Forbidden without the person's consent or for somebody who is no operator."""
    visit = SupportVisit.objects.filter(user=user).open().select_for_update().first()
    if not operator.is_staff or visit is None:
        raise Forbidden("This person has not allowed it, or their consent is over. They give it on their Account page.")
    visit.operator, visit.entered_at = operator, timezone.now()
    visit.save(update_fields=["operator", "entered_at"])
    _note(user, "support.entered", operator)
    return visit


def support_visit(request: HttpRequest) -> SupportVisit | None:
    """Return the visit that the signed-in operator is on, None once its consent is over."""
    visit_id = request.session.get(VISIT)
    if not visit_id or not getattr(request.user, "is_staff", False):
        return None
    visits = SupportVisit.objects.open().filter(pk=visit_id, operator_id=request.user.pk, user__is_active=True)
    visit = visits.select_related("user").first()
    if visit is None:
        del request.session[VISIT]
    return visit
