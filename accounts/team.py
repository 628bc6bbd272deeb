"""Who shares a space: invitations, roles, leaving, handing over, and the end of spaces and accounts."""

from django.apps import apps
from django.conf import settings
from django.core.mail import send_mail
from django.db import transaction
from django.template.loader import render_to_string
from django.utils import timezone

from accounts.access import Access, space_set
from accounts.models import INVITATION_DAYS, Invitation, Membership, Role, Space, SpaceDeletion, Switch, User
from accounts.switches import switch_require
from api.errors import Conflict, Forbidden, Invalid, NotFound
from events.services import event_record

GIVEN_BY = {Role.OWNER: {Role.ADMIN, Role.MEMBER, Role.VIEWER}, Role.ADMIN: {Role.MEMBER, Role.VIEWER}}
OPEN_INVITATIONS = 50


def roles_given_by(role: str) -> set[str]:
    """Return the roles that somebody with this role may give and take."""
    return {str(given) for given in GIVEN_BY.get(Role(role), set())}


def member_of(access: Access, membership_id: int) -> Membership:
    """Return a place in the access's space, locked. Raises NotFound."""
    rows = Membership.objects.select_for_update(of=("self",)).select_related("user")
    place = rows.filter(space_id=access.space_id, pk=membership_id).first()
    if place is None:
        raise NotFound("There is no such member.")
    return place


def allowed(access: Access, *roles: str) -> None:
    """Raise Forbidden unless the access's role may give and take all of these roles."""
    if not set(roles) <= roles_given_by(access.role):
        raise Forbidden("Your role does not allow this. The owner can do it.")


@transaction.atomic
def invitation_create(*, access: Access, email: str, role: str, address: str) -> Invitation:
    """Invite somebody by e-mail; an open invitation to the same address is replaced.

    `address` is the link with {token} in the place of the secret, which exists only in the message. The message
    leaves when the transaction commits, and is the same whether or not the address has an account.
    """
    allowed(access, role)
    switch_require(Switch.Name.INVITATIONS)
    email = email.strip().lower()
    if Membership.objects.filter(space_id=access.space_id, user__email=email).exists():
        raise Conflict("They are a member already.")
    opened = Invitation.objects.filter(space_id=access.space_id).open()
    opened.filter(email=email).update(revoked_at=timezone.now())
    if opened.count() >= OPEN_INVITATIONS:
        raise Conflict(f"{OPEN_INVITATIONS} invitations are open. Withdraw some first.")
    token, digest = Invitation.new_token()
    invitation = Invitation.objects.create(
        space_id=access.space_id, email=email, role=role, digest=digest, invited_by_id=access.user_id
    )
    event_record(
        access=access, type="member.invited", object_kind="invitation", object_ids=[str(invitation.pk)],
        details={"role": role},
    )  # fmt: skip
    words = {
        "inviter": access.actor_name, "space": invitation.space.name, "role": role, "days": INVITATION_DAYS,
        "link": address.replace("{token}", token),
    }  # fmt: skip
    body = render_to_string("team/invitation.txt", words)
    subject = " ".join(f"{access.actor_name} invites you to {invitation.space.name}".split())
    transaction.on_commit(lambda: send_mail(subject, body, settings.DEFAULT_FROM_EMAIL, [email]))
    return invitation


@transaction.atomic
def invitation_revoke(*, access: Access, invitation_id: int) -> None:
    """Withdraw an open invitation. Raises NotFound."""
    invitation = Invitation.objects.filter(space_id=access.space_id).open().filter(pk=invitation_id).first()
    if invitation is None:
        raise NotFound("There is no such invitation.")
    allowed(access, invitation.role)
    invitation.revoked_at = timezone.now()
    invitation.save(update_fields=["revoked_at"])
    event_record(
        access=access, type="invitation.revoked", object_kind="invitation", object_ids=[str(invitation.pk)]
    )  # fmt: skip


@transaction.atomic
def invitation_accept(*, user: User, token: str) -> Membership:
    """Let the person that an invitation was sent to in.

    Raises NotFound for one that is unknown, used, withdrawn or lapsed, Forbidden when it was sent to another address.
    """
    invitation = Invitation.objects.open().with_token(token).select_for_update(of=("self",)).first()
    if invitation is None:
        raise NotFound("This invitation is no longer open.")
    if invitation.email != user.email:
        raise Forbidden("This invitation was sent to another address.")
    invitation.accepted_at = timezone.now()
    invitation.save(update_fields=["accepted_at"])
    place, created = Membership.objects.get_or_create(
        space_id=invitation.space_id, user=user, defaults={"role": invitation.role}
    )
    if created:
        space_set(invitation.space_id)
        access = Access(
            space_id=invitation.space_id, user_id=user.pk, actor_kind="user", actor_id=str(user.pk),
            actor_name=user.name or user.email, scopes=frozenset(), channel="dashboard", role=place.role,
        )  # fmt: skip
        event_record(access=access, type="member.joined", object_kind="user", object_ids=[str(user.pk)])
    return place


@transaction.atomic
def member_role_change(*, access: Access, membership_id: int, role: str) -> Membership:
    """Give a member another role. Raises NotFound, Forbidden."""
    place = member_of(access, membership_id)
    allowed(access, place.role, role)
    if place.role != role:
        place.role = role
        place.save(update_fields=["role"])
        event_record(
            access=access, type="member.role_changed", object_kind="user", object_ids=[str(place.user_id)],
            details={"role": role},
        )  # fmt: skip
    return place


@transaction.atomic
def member_remove(*, access: Access, membership_id: int) -> User:
    """Remove a member; their keys to the space are refused from then on. Raises NotFound, Forbidden."""
    place = member_of(access, membership_id)
    allowed(access, place.role)
    user = place.user
    place.delete()
    event_record(access=access, type="member.removed", object_kind="user", object_ids=[str(user.pk)])
    return user


@transaction.atomic
def space_leave(*, access: Access) -> None:
    """Take the access's own person out of the space. Raises Conflict for the owner."""
    if access.role == Role.OWNER:
        raise Conflict("You own this space. Hand it over to somebody first, or delete it.")
    Membership.objects.filter(space_id=access.space_id, user_id=access.user_id or 0).delete()
    event_record(access=access, type="member.left", object_kind="user", object_ids=[access.actor_id])


@transaction.atomic
def space_transfer(*, access: Access, membership_id: int) -> User:
    """Make another member the owner; the owner becomes an admin. Raises Forbidden, NotFound, Conflict."""
    if access.role != Role.OWNER:
        raise Forbidden("Only the owner can hand a space over.")
    heir = member_of(access, membership_id)
    if heir.user_id == access.user_id:
        raise Conflict("You own it already.")
    # There is one owner at any moment, so the old one steps back first.
    Membership.objects.filter(space_id=access.space_id, role=Role.OWNER).update(role=Role.ADMIN)
    heir.role = Role.OWNER
    heir.save(update_fields=["role"])
    event_record(
        access=access, type="space.transferred", object_kind="user", object_ids=[str(heir.user_id)]
    )  # fmt: skip
    return heir.user


@transaction.atomic
def space_delete(*, access: Access, name: str) -> SpaceDeletion:
    """Delete the space with everything in it and return the receipt; `name` confirms it. Raises Forbidden, Invalid."""
    if access.role != Role.OWNER:
        raise Forbidden("Only the owner can delete a space.")
    space = Space.objects.select_for_update().get(pk=access.space_id)
    if name.strip() != space.name.strip():
        raise Invalid.field("name", "Type the name exactly as it is written above.")
    return space_erase(space, deleted_by=access.user_id)


def space_erase(space: Space, *, deleted_by: int | None = None) -> SpaceDeletion:
    """Delete a space and every row that belongs to it, inside the caller's transaction; return the receipt."""
    space_set(space.pk)
    counts = {}
    tables = [model for model in apps.get_models() if any(field.name == "space" for field in model._meta.fields)]
    # Rows go table by table in one statement each; foreign keys between them are checked, or cascade, in the database.
    for model in reversed(tables):
        rows = model._base_manager.filter(space=space)
        count = rows._raw_delete(rows.db)
        if count:
            counts[model._meta.label_lower] = count
    Space.objects.filter(pk=space.pk)._raw_delete("default")
    return SpaceDeletion.objects.create(deleted_space=space.pk, deleted_by=deleted_by, rows=counts)


@transaction.atomic
def user_delete(*, user: User) -> None:
    """Delete a person with every space that is theirs alone.

    Raises Conflict while they own a space that others share: it has to be handed over or deleted first.
    """
    owned = [place.space for place in Membership.objects.filter(user=user, role=Role.OWNER).select_related("space")]
    for space in owned:
        if Membership.objects.filter(space=space).exclude(user=user).exists():
            raise Conflict(f"Others share {space.name}. Hand it over or delete it first.")
    for space in owned:
        space_erase(space, deleted_by=user.pk)
    user.delete()
