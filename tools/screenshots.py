"""Photograph every page in light and dark, on a desktop and on a phone: `make screenshots`.

A service of its own, with its own data, is started and stopped; the pictures land in the folder `screenshots`.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
import urllib.request
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

EMAIL, PASSWORD = "ada@example.com", "four plain words here"  # of a service that lives for a minute
PROJECT = Path(__file__).resolve().parent.parent
FLAGS = [
    "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
    "--disable-background-networking", "--disable-component-update", "--disable-sync",
]  # fmt: skip
LISTS = [("/memories", "/memories/mem_"), ("/dreams", "/dreams/"), ("/conversations", "/conversations/conv_"),
         ("/records/in?name=tasks", "/records/rec_"), ("/connections", "/connections/")]  # fmt: skip
LOOKS = {"light": ("light", 1280, 860), "dark": ("dark", 1280, 860), "phone": ("light", 390, 844),
         "phone-dark": ("dark", 390, 844)}  # fmt: skip
OPEN_PAGES = [
    "/", "/accounts/login/", "/accounts/signup/", "/accounts/password/reset/", "/accounts/password/reset/done/",
    "/accounts/confirm-email/", "/accounts/inactive/", "/accounts/3rdparty/login/cancelled/",
    "/accounts/3rdparty/login/error/", "/connect", "/v1/docs", "/no-such-page",
]  # fmt: skip
PAGES = [
    "/home", "/memories", "/memories?view=timeline", "/memories?q=when+do+we+meet", "/memories?waiting=1",
    "/memories/new", "/memories/map", "/journal", "/records", "/records/in?name=tasks", "/kv?ns=mail", "/conversations",
    "/actions", "/actions?view=ended", "/a/A3", "/dreams", "/connections", "/connections/new", "/transfer", "/team",
    "/usage",
    "/events", "/settings", "/spaces/new", "/spaces/delete", "/account", "/accounts/email/", "/accounts/2fa/",
    "/accounts/sessions/", "/accounts/password/change/", "/accounts/3rdparty/", "/accounts/reauthenticate/",
    "/accounts/reauthenticate/code/", "/account/delete", "/accounts/2fa/totp/activate/", "/accounts/2fa/webauthn/add/",
    "/accounts/logout/", "/admin/", "/admin/accounts/user/", "/admin/accounts/space/", "/admin/accounts/plan/add/",
    "/admin/accounts/switch/add/", "/admin/jobs/", "/admin/accounts/user/1/look-in/", "/team/leave",
    "/kv/edit?ns=mail&key=limits", f"/journal/day/{datetime.now(UTC).date()}",
]  # fmt: skip
WITH_STEPS = ["/accounts/2fa/", "/accounts/2fa/recovery-codes/", "/accounts/2fa/recovery-codes/generate/",
              "/accounts/2fa/totp/deactivate/", "/accounts/2fa/webauthn/", "/accounts/2fa/reauthenticate/",
              "/accounts/2fa/webauthn/reauthenticate/"]  # fmt: skip


def main() -> int:
    """Start the service, fill it, photograph it, stop it; return the exit status."""
    only = sys.argv[1:]
    target = PROJECT / "screenshots"
    target.mkdir(exist_ok=True)
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    data = tempfile.mkdtemp(prefix="commonplace-")
    os.environ.update(
        {"OMP_DATA_DIR": data, "PORT": str(port), "OMP_OWNER_EMAIL": EMAIL, "OMP_OWNER_PASSWORD": PASSWORD,
         "DJANGO_SETTINGS_MODULE": "config.settings", "DJANGO_ALLOW_ASYNC_UNSAFE": "true", "OMP_LOG_LEVEL": "WARNING"}
    )  # fmt: skip
    with subprocess.Popen([sys.executable, "-m", "embedded.run"], cwd=PROJECT, stdout=subprocess.DEVNULL) as service:
        try:
            answered(f"http://localhost:{port}/livez", service)
            fill()
            count = photograph(f"http://localhost:{port}", target, only)
        finally:
            service.send_signal(signal.SIGTERM)
            service.wait(timeout=60)
            shutil.rmtree(data, ignore_errors=True)
    print(f"{count} pictures are in {target}.")
    return 0


def answered(url: str, service: subprocess.Popen[bytes]) -> None:
    """Wait until the service answers."""
    until = time.monotonic() + 180
    while time.monotonic() < until and service.poll() is None:
        try:
            with urllib.request.urlopen(url, timeout=2):  # noqa: S310  # our own address
                return
        except OSError:
            time.sleep(0.5)
    raise SystemExit("The service did not start.")


def fill() -> None:
    """Put a life into the first space."""
    import django

    django.setup()
    from accounts.models import User
    from tools.demo import demo_fill

    user = User.objects.get(email=EMAIL)
    user.name = "Ada Lovelace"
    user.save(update_fields=["name"])
    demo_fill(user)


def photograph(base: str, target: Path, only: list[str]) -> int:
    """Take the pictures, all of them or those of the pages named; return how many."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=FLAGS)
        first = browser.new_context()
        page = first.new_page()
        sign_in(page, base)
        page.goto(f"{base}/accounts/reauthenticate/")  # delicate pages are to show themselves
        page.get_by_label("Password").fill(PASSWORD)
        page.get_by_role("button", name="Go on").click()
        page.wait_for_url("**/home")
        details = [first_link(page, base, path, start) for path, start in LISTS]
        memory, _, conversation, *_ = details
        details += [f"{memory}/edit", f"{memory}/similar", f"{conversation}/delete", consent(base)]
        groups = [([*OPEN_PAGES, invitation()], None), ([*PAGES, *details], first.storage_state())]
        count = sum(pictures(browser, base, target, only, group, state) for group, state in groups)
        if not only:
            count += forms(page, base, target, memory)
        steps_add(page, base)
        count += pictures(browser, base, target, only, WITH_STEPS, first.storage_state(), "steps_")
        half = browser.new_context()
        page = half.new_page()
        sign_in(page, base)
        count += pictures(browser, base, target, only, ["/accounts/2fa/authenticate/"], half.storage_state())
        browser.close()
    return count


def sign_in(page: Any, base: str) -> None:
    """Give the address and the password."""
    page.goto(f"{base}/accounts/login/")
    page.get_by_label("E-mail address").fill(EMAIL)
    page.get_by_label("Password").fill(PASSWORD)
    page.get_by_role("button", name="Sign in", exact=True).click()
    page.wait_for_url(lambda url: "/login" not in url)


def invitation() -> str:
    """Return the address of an invitation that is open."""
    from accounts.models import Invitation, Membership

    place = Membership.objects.get(user__email=EMAIL)
    token, digest = Invitation.new_token()
    Invitation.objects.create(space=place.space, email="grace@example.com", digest=digest, invited_by=place.user)
    return f"/invitations/{token}"


def consent(base: str) -> str:
    """Return the address at which an assistant asks to connect."""
    back = "http://127.0.0.1:9/callback"
    body = {"client_name": "Claude", "redirect_uris": [back], "token_endpoint_auth_method": "none"}
    asked = urllib.request.Request(  # noqa: S310  # our own address
        f"{base}/oauth/register", json.dumps(body).encode(), {"Content-Type": "application/json"}
    )
    with urllib.request.urlopen(asked) as answer:  # noqa: S310
        client_id = json.load(answer)["client_id"]
    query = {"response_type": "code", "client_id": client_id, "redirect_uri": back, "state": "s", "scope": "read write",
             "code_challenge": "c" * 43, "code_challenge_method": "S256", "resource": f"{base}/mcp"}  # fmt: skip
    return f"/oauth/authorize?{urlencode(query)}"


def forms(page: Any, base: str, target: Path, memory: str) -> int:
    """Photograph what forms lead to: a key, a deletion and its receipt, an import; return how many pictures."""
    page.goto(f"{base}/connections/new")
    page.get_by_label("Name", exact=True).fill("Gemini")
    page.get_by_role("button", name="Make the key").click()
    count = looks(page, target, "connections_made")
    page.goto(f"{base}/transfer")
    rows = [{"content": "Bought in Paris", "type": "semantic", "source": {"tool": "old"}}, {"content": ""}]
    file = {"name": "old.json", "mimeType": "application/json", "buffer": json.dumps({"memories": rows}).encode()}
    page.get_by_label("File", exact=True).set_input_files(files=[file])
    page.get_by_role("button", name="Import the file").click()
    page.get_by_text("brought in").wait_for()
    count += looks(page, target, "transfer_one")
    page.goto(base + memory)
    page.get_by_role("button", name="Delete…").click()
    count += looks(page, target, "memories_delete")
    page.get_by_role("button", name="Delete it").click()
    return count + looks(page, target, "memories_receipt")


def looks(page: Any, target: Path, name: str) -> int:
    """Photograph the page as it stands in every look; return how many pictures were taken."""
    for look, (scheme, width, height) in LOOKS.items():
        page.emulate_media(color_scheme=scheme)
        page.set_viewport_size({"width": width, "height": height})
        page.wait_for_timeout(150)
        page.screenshot(path=target / f"{name}.{look}.png", full_page=True)
    return len(LOOKS)


def first_link(page: Any, base: str, path: str, start: str) -> str:
    """Return the address of the first thing that a list leads to."""
    page.goto(base + path)
    return str(page.locator(f'main :is(.entry, .panel, table) a[href^="{start}"]').first.get_attribute("href"))


def steps_add(page: Any, base: str) -> None:
    """Make a passkey, and with it recovery codes, and switch an authenticator app on."""
    device = page.context.new_cdp_session(page)
    device.send("WebAuthn.enable")
    options = {"protocol": "ctap2", "transport": "internal", "hasResidentKey": True, "hasUserVerification": True,
               "isUserVerified": True, "automaticPresenceSimulation": True}  # fmt: skip
    device.send("WebAuthn.addVirtualAuthenticator", {"options": options})
    page.goto(f"{base}/accounts/2fa/webauthn/add/")
    page.get_by_label("Name").fill("Ada's phone")
    page.get_by_role("button", name="Go on").click()
    page.wait_for_url("**/recovery-codes/")
    from allauth.mfa.totp.internal.auth import TOTP, generate_totp_secret

    from accounts.models import User

    TOTP.activate(User.objects.get(email=EMAIL), generate_totp_secret())


def pictures(
    browser: Any, base: str, target: Path, only: list[str], paths: list[str], state: Any, before: str = ""
) -> int:
    """Photograph pages in every look, as who is signed in with this state; return how many pictures were taken."""
    paths = [path for path in paths if not only or path in only]
    for look, (scheme, width, height) in LOOKS.items() if paths else []:
        context = browser.new_context(
            color_scheme=scheme, viewport={"width": width, "height": height}, storage_state=state
        )
        page = context.new_page()
        for path in paths:
            page.goto(base + path)
            page.wait_for_timeout(150)
            page.screenshot(path=target / f"{before}{file_name(path)}.{look}.png", full_page=True)
        context.close()
    return len(paths) * len(LOOKS)


def file_name(path: str) -> str:
    """Return the name of a page's pictures."""
    name = re.sub(r"(mem|dream|conv|rec)_[a-z0-9]{12,}|\d{4}-\d\d-\d\d", "one", path.strip("/"))
    name = re.sub(r"(authorize|invitations).*", r"\1", name)
    return re.sub(r"\W+", "_", name).strip("_") or "landing"


if __name__ == "__main__":
    sys.exit(main())
