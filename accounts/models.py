"""People, the spaces they own or share, and what each may do in them."""

import hashlib
import secrets
import uuid
from datetime import timedelta
from typing import Any, ClassVar, Self
from zoneinfo import available_timezones

from django.contrib.auth.models import AbstractBaseUser, BaseUserManager, PermissionsMixin
from django.core.exceptions import ValidationError
from django.core.validators import MinValueValidator
from django.db import models
from django.db.models.functions import Lower, Now
from django.utils import timezone

LANGUAGES = [
    ("ar", "Arabic"), ("zh", "Chinese"), ("da", "Danish"), ("nl", "Dutch"), ("en", "English"), ("fi", "Finnish"),
    ("fr", "French"), ("de", "German"), ("el", "Greek"), ("hi", "Hindi"), ("hu", "Hungarian"), ("it", "Italian"),
    ("ja", "Japanese"), ("ko", "Korean"), ("no", "Norwegian"), ("pt", "Portuguese"), ("ro", "Romanian"),
    ("ru", "Russian"), ("es", "Spanish"), ("sv", "Swedish"), ("th", "Thai"), ("tr", "Turkish"),
]  # fmt: skip
INVITATION_DAYS = 7


class UserManager(BaseUserManager["User"]):
    """Creates people by e-mail address."""

    def create_user(self, email: str, password: str | None = None, **fields: Any) -> "User":
        """Return a new person with that address; without a password they cannot sign in by one."""
        user = self.model(email=email.strip().lower(), **fields)
        user.set_password(password)
        user.save(using=self._db)
        return user

    def create_superuser(self, email: str, password: str | None = None, **fields: Any) -> "User":
        """Return a new operator, who may use the admin console."""
        return self.create_user(email, password, is_staff=True, is_superuser=True, **fields)

    def get_by_natural_key(self, username: str | None) -> "User":
        """Return the person with that address, whatever its case."""
        return self.get(email=(username or "").strip().lower())


class User(AbstractBaseUser, PermissionsMixin):
    """A person, who signs in by e-mail address."""

    email = models.EmailField(max_length=254, unique=True, help_text="Kept in lower case.")
    name = models.CharField(max_length=150, blank=True)
    is_staff = models.BooleanField(default=False)
    is_active = models.BooleanField(default=True)
    date_joined = models.DateTimeField(db_default=Now())

    USERNAME_FIELD = "email"
    EMAIL_FIELD = "email"
    REQUIRED_FIELDS: ClassVar[list[str]] = []
    objects = UserManager()

    class Meta:
        constraints = [
            models.CheckConstraint(condition=models.Q(email=Lower("email")), name="accounts_user_email_lower")
        ]

    def __str__(self) -> str:
        return self.email


def validate_timezone(value: str) -> None:
    """Refuse what is no IANA time zone name."""
    if value not in available_timezones() - {"Factory", "localtime"}:
        raise ValidationError("Use an IANA time zone name such as Europe/Berlin.")


class Plan(models.Model):
    """How much the spaces on it may do; where it says nothing, and without one, the limit of the settings holds."""

    name = models.CharField(max_length=50, unique=True)
    memories = models.PositiveIntegerField(
        null=True, blank=True, help_text="How many memories a space may hold. Empty: as many as the settings say."
    )
    requests_per_minute = models.PositiveIntegerField(
        null=True, blank=True, validators=[MinValueValidator(1)],
        help_text="How many requests all keys of a space may make together. Empty: as many as the settings say.",
    )  # fmt: skip

    class Meta:
        constraints = [
            models.CheckConstraint(
                condition=models.Q(requests_per_minute__gte=1), name="accounts_plan_requests_per_minute_positive"
            )
        ]

    def __str__(self) -> str:
        return self.name


class Switch(models.Model):
    """A feature that the operator switches off and on; one that has no row is on."""

    class Name(models.TextChoices):
        SIGN_UP = "sign_up", "Sign-up by strangers"
        INVITATIONS = "invitations", "Invitations by e-mail"
        IMPORTS = "imports", "Imports"

    name = models.CharField(max_length=20, choices=Name, unique=True)
    on = models.BooleanField(default=True)

    class Meta:
        verbose_name_plural = "switches"

    def __str__(self) -> str:
        return self.get_name_display()


class Space(models.Model):
    """A store of memory: the tenant. Personal spaces have one member, team spaces any number."""

    class Kind(models.TextChoices):
        PERSONAL = "personal"
        TEAM = "team"

    class CoreWrites(models.TextChoices):
        ALLOW = "allow"
        DENY = "deny"

    name = models.CharField(max_length=100)
    kind = models.CharField(max_length=10, choices=Kind, default=Kind.PERSONAL)
    timezone = models.CharField(max_length=64, default="UTC", validators=[validate_timezone])
    language = models.CharField(max_length=8, choices=LANGUAGES, default="en")
    agent_core_writes = models.CharField(max_length=5, choices=CoreWrites, default=CoreWrites.ALLOW)
    context_namespaces = models.JSONField(default=list, help_text="Key-value namespaces that get_context shows.")
    dreams_enabled = models.BooleanField(default=True)
    events_kept_days = models.PositiveIntegerField(default=365)
    plan = models.ForeignKey(Plan, null=True, blank=True, on_delete=models.PROTECT, related_name="spaces")
    created_at = models.DateTimeField(db_default=Now())

    class Meta:
        constraints = [
            models.CheckConstraint(condition=~models.Q(name=""), name="accounts_space_name_not_empty"),
            models.CheckConstraint(
                condition=models.Q(events_kept_days__gte=1, events_kept_days__lte=3650),
                name="accounts_space_events_kept_days_range",
            ),
        ]

    def __str__(self) -> str:
        return self.name


class SpaceDeletion(models.Model):
    """What is left of a deleted space: its number, when and by whom it was deleted, and how much there was."""

    id = models.UUIDField(primary_key=True, default=uuid.uuid4)
    deleted_space = models.BigIntegerField()
    deleted_at = models.DateTimeField(db_default=Now())
    deleted_by = models.BigIntegerField(null=True, help_text="The person's number.")
    rows = models.JSONField(help_text="Rows by table.")

    def __str__(self) -> str:
        return f"{self.deleted_space} at {self.deleted_at}"


class Role(models.TextChoices):
    """What a member may do; accounts.permissions holds the table."""

    OWNER = "owner"
    ADMIN = "admin"
    MEMBER = "member"
    VIEWER = "viewer"


class Membership(models.Model):
    """A person's place in a space."""

    space = models.ForeignKey(Space, on_delete=models.CASCADE, related_name="memberships")
    user = models.ForeignKey(User, on_delete=models.CASCADE, related_name="memberships")
    role = models.CharField(max_length=6, choices=Role)
    label = ""  # what accounts.places.places_of calls the space
    created_at = models.DateTimeField(db_default=Now())

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["space", "user"], name="accounts_membership_unique"),
            models.UniqueConstraint(
                fields=["space"], condition=models.Q(role="owner"), name="accounts_membership_one_owner"
            ),
            models.CheckConstraint(condition=models.Q(role__in=Role.values), name="accounts_membership_role_valid"),
        ]

    def __str__(self) -> str:
        return f"{self.user_id} in {self.space_id}: {self.role}"


class InvitationQuerySet(models.QuerySet["Invitation"]):
    """Invitations, by their secret."""

    def open(self) -> Self:
        """Return those that can still be accepted."""
        return self.filter(accepted_at=None, revoked_at=None, expires_at__gt=timezone.now())

    def with_token(self, token: str) -> Self:
        """Return the invitation that this token opens, at most one."""
        return self.filter(digest=hashlib.sha256(token.encode()).digest())


def invitation_expiry() -> Any:
    """Return the moment at which an invitation made now lapses."""
    return timezone.now() + timedelta(days=INVITATION_DAYS)


class Invitation(models.Model):
    """An offer to join a space, sent to one address; only a digest of its secret is kept."""

    space = models.ForeignKey(Space, on_delete=models.CASCADE, related_name="invitations")
    email = models.EmailField(max_length=254)
    role = models.CharField(max_length=6, choices=Role, default=Role.MEMBER)
    digest = models.BinaryField(max_length=32, unique=True)
    invited_by = models.ForeignKey(User, null=True, on_delete=models.SET_NULL, related_name="+")
    created_at = models.DateTimeField(db_default=Now())
    expires_at = models.DateTimeField(default=invitation_expiry)
    accepted_at = models.DateTimeField(null=True)
    revoked_at = models.DateTimeField(null=True)

    objects = InvitationQuerySet.as_manager()

    class Meta:
        constraints = [
            models.CheckConstraint(
                condition=models.Q(role__in=[Role.ADMIN, Role.MEMBER, Role.VIEWER]),
                name="accounts_invitation_role_valid",
            )
        ]

    def __str__(self) -> str:
        return f"{self.email} to {self.space_id}"

    @staticmethod
    def new_token() -> tuple[str, bytes]:
        """Return a fresh secret of 256 bits and its digest."""
        token = secrets.token_urlsafe(32)
        return token, hashlib.sha256(token.encode()).digest()


def support_expiry() -> Any:
    """Return the moment at which a consent given now lapses."""
    return timezone.now() + timedelta(hours=1)


class SupportVisitQuerySet(models.QuerySet["SupportVisit"]):
    """Consents to a look by the operator."""

    def open(self) -> Self:
        """Return those that still hold."""
        return self.filter(ended_at=None, expires_at__gt=timezone.now())


class SupportVisit(models.Model):
    """A person's consent that the operator sees their spaces as a viewer would, for an hour."""

    user = models.ForeignKey(User, on_delete=models.CASCADE, related_name="support_visits")
    operator = models.ForeignKey(User, null=True, on_delete=models.SET_NULL, related_name="+")
    created_at = models.DateTimeField(db_default=Now())
    expires_at = models.DateTimeField(default=support_expiry)
    entered_at = models.DateTimeField(null=True)
    ended_at = models.DateTimeField(null=True)

    objects = SupportVisitQuerySet.as_manager()

    def __str__(self) -> str:
        return f"{self.user_id} until {self.expires_at:%Y-%m-%d %H:%M}"
