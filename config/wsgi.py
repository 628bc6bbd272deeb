"""The WSGI application that the web server loads, warm: no request waits for what can be loaded before the first."""

import os
from contextlib import suppress
from importlib import import_module

from django.conf import settings
from django.core.wsgi import get_wsgi_application

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
application = get_wsgi_application()


def warm_up() -> None:
    """Load every view, and a model that runs on this machine; without one, words still find."""
    import_module(settings.ROOT_URLCONF)
    from aiworker.embedding.base import EmbeddingError
    from aiworker.embedding.registry import PACKAGED, provider_for

    if settings.EMBEDDING_MODEL in PACKAGED:
        with suppress(EmbeddingError, OSError):
            provider_for(settings.EMBEDDING_MODEL).embed_query("first")


warm_up()
