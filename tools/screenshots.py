"""Photograph every page in light and dark, on a desktop and on a phone: `make screenshots`.

A service of its own, with its own data, is started and stopped; the pictures land in the folder `screenshots`.
"""

from __future__ import annotations

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
from pathlib import Path
from typing import Any

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
    "/admin/accounts/switch/add/", "/admin/jobs/",
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
        groups = [(OPEN_PAGES, None), ([*PAGES, *details], first.storage_state())]
        count = sum(pictures(browser, base, target, only, group, state) for group, state in groups)
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
    name = re.sub(r"(mem|dream|conv|rec)_[a-z0-9]{12,}", "one", path.strip("/"))
    return re.sub(r"\W+", "_", name).strip("_") or "landing"


if __name__ == "__main__":
    sys.exit(main())
