"""Clearing away: expired codes and tokens, consents never used, clients that nobody connected."""

from datetime import timedelta

from django.utils import timezone
from oauth2_provider.models import Application, RefreshToken, clear_expired

from grants.models import Grant
from grants.services import grant_revoke

UNUSED_CLIENT = timedelta(days=7)
UNUSED_CONSENT = timedelta(hours=1)


def grants_purge() -> None:
    """Remove what can no longer be used; a grant whose tokens have all lapsed is revoked, so that lists end it too."""
    clear_expired()
    now = timezone.now()
    Grant.objects.filter(connected_at=None, created_at__lt=now - UNUSED_CONSENT).delete()
    alive = RefreshToken.objects.filter(revoked=None, token_family__isnull=False).values("token_family")
    for grant in Grant.objects.connected().exclude(family__in=alive).select_related("user"):
        grant_revoke(grant=grant, reason="lapsed")
    Application.objects.exclude(registration_source=Application.RegistrationSource.MANUAL).filter(
        created__lt=now - UNUSED_CLIENT, grants=None
    ).delete()
