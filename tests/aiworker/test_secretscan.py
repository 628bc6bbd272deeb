"""Credentials are found; talk about credentials is not taken for one."""

from __future__ import annotations

import pytest

from aiworker.secretscan import MARK, secret_spans, secrets_mask, text_mask


@pytest.mark.parametrize(
    ("text", "secret"),
    [
        ("the key is sk-ant-api03-abcdefghijklmnop0123456789", "sk-ant-api03-abcdefghijklmnop0123456789"),
        ("OPENAI_API_KEY=sk-proj-abcdefghijklmnop0123", "sk-proj-abcdefghijklmnop0123"),
        ("use AKIAIOSFODNN7EXAMPLE there", "AKIAIOSFODNN7EXAMPLE"),
        ("token ghp_" + "aB3" * 12, "ghp_" + "aB3" * 12),
        ("slack xoxb-1234567890-abcdefghij", "xoxb-1234567890-abcdefghij"),
        ("om_" + "a" * 43 + "123456", "om_" + "a" * 43 + "123456"),
        (
            "jwt eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.abcdefghijk",
            "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.abcdefghijk",
        ),
        ("postgres://app:pa55word@db/x", "app:pa55word"),
        ("My password is hunter2!", "hunter2"),
        ("password for the wifi is Sonne-2024", "Sonne-2024"),
        ("Das Passwort lautet geheim123", "geheim123"),
        ("le mot de passe est soleil42", "soleil42"),
        ("la contraseña es girasol9", "girasol9"),
        ("пароль: секрет42", "секрет42"),
        ("密码是 abc12345", "abc12345"),
        ("Authorization: Bearer abcdefghijklmnop1234", "abcdefghijklmnop1234"),
        ("PIN code: 4711", "4711"),
        ("card 4111 1111 1111 1111 ok", "4111 1111 1111 1111"),
        ("IBAN DE89 3704 0044 0532 0130 00", "DE89 3704 0044 0532 0130 00"),
        ("it is Zk3mQ9xV7bN2cR8tY5wL1pD4", "Zk3mQ9xV7bN2cR8tY5wL1pD4"),
    ],
)
def test_finds(text: str, secret: str) -> None:
    masked, count = secrets_mask(text)

    assert (secret in masked, count) == (False, 1)
    assert masked == text.replace(secret, MARK)


@pytest.mark.parametrize("block", ["RSA PRIVATE KEY", "PRIVATE KEY", "OPENSSH PRIVATE KEY"])
def test_finds_private_keys_even_when_cut_off(block: str) -> None:
    whole = f"-----BEGIN {block}-----\nMIIEow\nabc\n-----END {block}-----"

    assert secrets_mask(f"a {whole} b") == (f"a {MARK} b", 1)
    assert secrets_mask(f"a {whole[:40]}") == (f"a {MARK}", 1)


@pytest.mark.parametrize(
    "text",
    [
        "The password is stored in the vault.", "My password was wrong", "the API key is required",
        "She uses a password manager", "Das Passwort ist nicht sicher", "The token is expired",
        "order number 4111 1111 1111 1112", "phone +49 228 1234567", "see https://example.com/a/b?c=d",
        "commit 9fceb02d0ae598e95dc970b74767f19372d61af8", "the class AbstractSingletonProxyFactoryBean",
        "the year 2026-06-29T12:00:00Z", "a_very_long_snake_case_identifier_of_code", "", "mem_01j9xk2p3q4r5s6t",
        "550e8400-e29b-41d4-a716-446655440000",
    ],
)  # fmt: skip
def test_leaves_alone(text: str) -> None:
    assert secret_spans(text) == []


def test_masks_several_and_is_done_after_once() -> None:
    text = "password: abc123 and AKIAIOSFODNN7EXAMPLE"

    masked, count = secrets_mask(text)

    assert count == 2
    assert secrets_mask(masked) == (masked, 0)


def test_a_long_text_takes_no_more_than_its_length() -> None:
    assert secret_spans("password is a" * 20_000) is not None
    assert secret_spans("1" * 200_000) == []
    assert secret_spans("a" * 200_000) == []


def test_places_in_the_masked_text_lead_back_to_the_original() -> None:
    text = "one; password: abc12; two; key AKIAIOSFODNN7EXAMPLE; three; PIN: 123456789012345678901234567890; four"
    masked = text_mask(text)

    assert len(masked.spans) == 3
    for word in ("one", "two", "key", "three", "four"):
        place = masked.text.index(word)
        assert text[masked.original(place) :].startswith(word)
    assert masked.original(len(masked.text)) == len(text)
    assert text_mask("nothing").original(4) == 4
