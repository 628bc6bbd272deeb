"""AI providers behind one small protocol; the operator chooses model and address, a request only provider and key."""

from django.conf import settings
from django.utils.module_loading import import_string

from aiworker.providers.base import Provider
from api.errors import NoApiKey

# By name, because only the processes that ask a provider need its package, whose import takes over a second.
PROVIDERS = {
    "anthropic": "aiworker.providers.anthropic.AnthropicProvider",
    "openai": "aiworker.providers.openai.OpenAIProvider",
}


def provider_of(name: str, api_key: str, *, seconds: float | None = None) -> Provider:
    """Return a client of the provider with a key; each question may take so many seconds."""
    provider: Provider = import_string(PROVIDERS[name])(api_key, seconds or float(settings.AI_TIMEOUT_SECONDS))
    return provider


def key_for(name: str | None, api_key: str | None) -> tuple[str, str]:
    """Return the provider's name and the key to use: the request's own, else the operator's (OMP 0.1, section 3.3).

    Raises NoApiKey when there is none. The operator's key goes to another provider than the operator's only by an
    address that the operator has set: never to a third party that it was not made for.
    """
    provider = name or settings.AI_PROVIDER
    key = api_key or settings.AI_API_KEY
    own = provider == settings.AI_PROVIDER or settings.AI_BASE_URLS[provider]
    if not key or not (api_key or own):
        raise NoApiKey()
    return provider, key
