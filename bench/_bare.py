"""The floor: a Django view that answers a small JSON object, served the way the service is. `python -m bench._bare`."""

from __future__ import annotations

import os

from django.conf import settings
from django.core.wsgi import get_wsgi_application
from django.http import HttpRequest, HttpResponse
from django.urls import path
from django.views.decorators.csrf import csrf_exempt
from granian import Granian
from granian.constants import HTTPModes, Interfaces
from granian.log import LogLevels


@csrf_exempt
def view(request: HttpRequest) -> HttpResponse:
    """Read the body and answer."""
    answer = b'{"jsonrpc":"2.0","id":1,"result":{}}' if request.body else b""
    return HttpResponse(answer, content_type="application/json", headers={"Content-Length": str(len(answer))})


urlpatterns = [path("mcp", view)]
if __name__ != "__main__":  # the server's own processes import this module by its name
    settings.configure(
        ROOT_URLCONF=__name__,
        ALLOWED_HOSTS=["*"],
        SECRET_KEY="bench",  # noqa: S106
        MIDDLEWARE=[],
        USE_I18N=False,
    )
    application = get_wsgi_application()

if __name__ == "__main__":
    Granian(
        "bench._bare:application", address="127.0.0.1", port=int(os.environ["PORT"]), interface=Interfaces.WSGI,
        http=HTTPModes.http1, websockets=False, workers=int(os.environ["OMP_WEB_PROCESSES"]), blocking_threads=16,
        log_access=False, log_level=LogLevels.error,
    ).serve()  # fmt: skip
