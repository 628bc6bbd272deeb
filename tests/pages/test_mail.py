"""E-mail without a mail server: a block in the terminal that a person finds."""

from __future__ import annotations

import io

import pytest
from django.core.mail import EmailMessage, get_connection
from django.test import Client
from pytest_django import Settings

from tests.pages.team import PASSWORD, Team

BACKEND = "config.mail.TerminalBackend"


@pytest.mark.django_db
def test_link_of_a_sign_up_stands_alone_on_its_line(settings: Settings, capsys: pytest.CaptureFixture[str]) -> None:
    settings.EMAIL_BACKEND = BACKEND

    Client().post("/accounts/signup/", {"email": "new@example.com", "password1": PASSWORD})

    printed = capsys.readouterr().out.split("\n")
    rules = [number for number, line in enumerate(printed) if line.startswith("──")]
    assert len(rules) == 2
    block = printed[rules[0] + 1 : rules[1]]
    assert printed[rules[0] - 1] == printed[rules[1] + 1] == ""
    assert "  To:      new@example.com" in block
    assert "  Subject: Confirm your address" in block
    [link] = [line for line in block if "http" in line]
    assert link.startswith("  http://testserver/accounts/confirm-email/")
    assert " " not in link.strip()
    assert block[block.index(link) - 1] == block[block.index(link) + 1] == ""


def test_names_do_not_steer_the_terminal() -> None:
    stream = io.StringIO()
    message = EmailMessage("Hello", "From \x1b[2J\x9bme\rover\u202e", to=["a@example.com"])

    get_connection(BACKEND, stream=stream).send_messages([message])

    assert "  From [2Jmeover\n" in stream.getvalue()


def test_page_speaks_of_the_terminal_only_where_the_message_is_printed(settings: Settings) -> None:
    def page() -> str:
        return Client().get("/accounts/confirm-email/").content.decode()

    assert "terminal" not in page()
    settings.EMAIL_BACKEND = BACKEND
    assert "printed in the terminal" in page()


def test_invitation_says_where_its_message_is(team: Team, settings: Settings) -> None:
    def sent() -> str:
        form = {"email": "second@example.com", "role": "member"}
        return team.client("owner").post("/team", form, follow=True).content.decode()

    assert "terminal" not in sent()
    settings.EMAIL_BACKEND = BACKEND
    assert "printed in the service&#x27;s terminal" in sent()
