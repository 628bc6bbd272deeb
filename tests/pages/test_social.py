"""Sign-in by other services, switched on by a setting: a process of its own reads it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

PROJECT = Path(__file__).resolve().parent.parent.parent
PAGES = """
import json
import django
django.setup()
from django.conf import settings
from django.test import Client
settings.ALLOWED_HOSTS = ["testserver"]
client = Client()
shown = {path: client.get(path).content.decode() for path in ("/accounts/login/", "/accounts/signup/",
                                                              "/accounts/google/login/")}
sent = client.post("/accounts/google/login/")
policies = {path: client.get(path).headers["Content-Security-Policy"] for path in shown}
print(json.dumps({"shown": shown, "policies": policies, "to": sent.headers["Location"]}))
"""


@pytest.mark.django_db(transaction=True)
def test_setting_brings_the_button_our_page_and_the_way_there() -> None:
    values = {
        "OMP_SOCIAL_SIGN_IN": "google,github", "OMP_SOCIAL_GOOGLE_ID": "the-id", "OMP_SOCIAL_GOOGLE_SECRET": "s",
        "OMP_SOCIAL_GITHUB_ID": "other-id", "OMP_SOCIAL_GITHUB_SECRET": "s", "OMP_LOG_LEVEL": "WARNING",
    }  # fmt: skip

    done = subprocess.run(
        [sys.executable, "-c", PAGES], cwd=PROJECT, env=os.environ | values, capture_output=True, text=True, check=False
    )

    assert done.returncode == 0, done.stderr
    answer = json.loads(done.stdout.splitlines()[-1])
    for path in ("/accounts/login/", "/accounts/signup/"):
        for name in ("Google", "GitHub"):
            assert f"Continue with {name}" in answer["shown"][path]
    assert "<h1>Sign in with Google?</h1>" in answer["shown"]["/accounts/google/login/"]
    forms = {path: policy.partition("form-action ")[2].partition(";")[0] for path, policy in answer["policies"].items()}
    assert forms == {
        "/accounts/login/": "'self'", "/accounts/signup/": "'self'",
        "/accounts/google/login/": "'self' https://accounts.google.com",
    }  # fmt: skip
    assert answer["to"].startswith("https://accounts.google.com/")
    assert "client_id=the-id" in answer["to"]
