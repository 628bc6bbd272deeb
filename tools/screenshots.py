"""Photograph every page in light and dark, on a desktop and on a phone: `make screenshots`.

A service of its own, with its own data, is started and stopped; the pictures land in the folder `screenshots`.
"""

from __future__ import annotations

import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
import urllib.request
from pathlib import Path

EMAIL, PASSWORD = "ada@example.com", "four plain words here"  # of a service that lives for a minute
PROJECT = Path(__file__).resolve().parent.parent
FLAGS = [
    "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
    "--disable-background-networking", "--disable-component-update", "--disable-sync",
]  # fmt: skip
LOOKS = {"light": ("light", 1280, 860), "dark": ("dark", 1280, 860), "phone": ("light", 390, 844),
         "phone-dark": ("dark", 390, 844)}  # fmt: skip
OPEN_PAGES = ["/", "/accounts/login/", "/accounts/signup/", "/accounts/password/reset/", "/accounts/confirm-email/",
              "/connect", "/no-such-page"]  # fmt: skip
PAGES = [
    "/home", "/memories", "/memories?view=timeline", "/memories?q=when+do+we+meet", "/memories?waiting=1",
    "/memories/new", "/memories/map", "/journal", "/records", "/records/in?name=tasks", "/kv?ns=mail", "/actions",
    "/actions?view=ended", "/a/A3", "/dreams", "/connections", "/connections/new", "/transfer", "/team", "/usage",
    "/events", "/settings", "/spaces/new", "/spaces/delete", "/account", "/accounts/email/", "/accounts/2fa/",
    "/accounts/sessions/", "/accounts/password/change/", "/admin/", "/admin/accounts/user/", "/admin/jobs/",
]  # fmt: skip


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

    count = 0
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=FLAGS)
        first = browser.new_context()
        page = first.new_page()
        page.goto(f"{base}/accounts/login/")
        page.get_by_label("E-mail address").fill(EMAIL)
        page.get_by_label("Password").fill(PASSWORD)
        page.get_by_role("button", name="Sign in", exact=True).click()
        page.wait_for_url("**/home")
        detail = page.locator(".entry .text a").nth(5).get_attribute("href")
        page.goto(f"{base}/dreams")
        dream = page.locator('a[href^="/dreams/"]').first.get_attribute("href")
        signed_in = first.storage_state()
        pages = [(path, False) for path in OPEN_PAGES] + [(path, True) for path in [*PAGES, detail, dream] if path]
        for look, (scheme, width, height) in LOOKS.items():
            for state in (None, signed_in):
                context = browser.new_context(
                    color_scheme=scheme,
                    viewport={"width": width, "height": height},
                    storage_state=state,  # type: ignore[arg-type]
                )
                page = context.new_page()
                for path, private in pages:
                    if private == (state is not None) and (not only or path in only):
                        page.goto(base + path)
                        page.wait_for_timeout(150)
                        page.screenshot(path=target / f"{file_name(path)}.{look}.png", full_page=True)
                        count += 1
                context.close()
        browser.close()
    return count


def file_name(path: str) -> str:
    """Return the name of a page's pictures."""
    name = path.strip("/").replace("/", "_").replace("?", "_")
    for beginning in ("memories_mem_", "dreams_dream_"):
        if name.startswith(beginning):
            name = beginning.rpartition("_")[0].replace("_mem", "_one").replace("_dream", "_one")
    return name or "landing"


if __name__ == "__main__":
    sys.exit(main())
