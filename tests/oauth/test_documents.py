"""Client-id metadata documents: fetched over TLS from a server on loopback, and never from inside otherwise."""

from __future__ import annotations

import json
import ssl
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID
from oauth2_provider.models import Application

from grants.documents import DocumentFetcher
from tests.factories import People
from tests.mcpserver.client import Mcp
from tests.oauth.flow import REDIRECT, Assistant


@pytest.fixture(scope="session")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Give a file with a certificate for localhost and its key."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "localhost")])
    now = datetime.now(UTC)
    made = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - timedelta(hours=1))
        .not_valid_after(now + timedelta(days=1))
        .add_extension(x509.SubjectAlternativeName([x509.DNSName("localhost")]), critical=False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        .sign(key, hashes.SHA256())
    )
    path = tmp_path_factory.mktemp("tls") / "localhost.pem"
    private = key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )
    path.write_bytes(private + made.public_bytes(serialization.Encoding.PEM))
    return path


@contextmanager
def documents(certificate: Path, answer: Any, *, status: int = 200, kind: str = "application/json") -> Iterator[str]:
    """Serve an answer at every path over TLS and give the address of a document; `answer` may ask for its address."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            value = answer(url) if callable(answer) else answer
            body = value if isinstance(value, bytes) else json.dumps(value).encode()
            self.send_response(status)
            self.send_header("Content-Type", kind)
            if status == 302:
                self.send_header("Location", url)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, format: str, *args: Any) -> None:
            """Say nothing."""

    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate)
    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        server.socket = context.wrap_socket(server.socket, server_side=True)
        url = f"https://localhost:{server.server_address[1]}/client.json"
        thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05})
        thread.start()
        try:
            yield url
        finally:
            server.shutdown()
            thread.join()


def document(url: str, **changes: Any) -> dict[str, Any]:
    """Return a valid document for its address."""
    return {"client_id": url, "client_name": "Far Helper", "redirect_uris": [REDIRECT]} | changes


@pytest.fixture
def trusted(certificate: Path, settings: Any, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Have the service trust the certificate and fetch from this machine."""
    monkeypatch.setenv("SSL_CERT_FILE", str(certificate))
    settings.OAUTH_LOCAL_CLIENTS = True
    return certificate


def test_client_that_is_its_document(people: People, trusted: Path) -> None:
    with documents(trusted, document) as url:
        assistant = Assistant(people.owner, client_id=url)
        page = assistant.browser.get(assistant.authorize_url())
        tokens = assistant.connect(people.space)

    assert "Far Helper" in page.content.decode()
    assert Mcp(tokens["access_token"]).request("tools/list").status_code == 200
    assert Application.objects.get().registration_source == "cimd"


def test_two_connections_of_one_document_live_beside_each_other(people: People, trusted: Path) -> None:
    with documents(trusted, document) as url:
        assistant = Assistant(people.owner, client_id=url)
        first = assistant.connect(people.space)
        second = assistant.connect(people.space)

    for tokens in (first, second):
        assert Mcp(tokens["access_token"]).request("tools/list").status_code == 200


@pytest.mark.parametrize(
    "answer",
    [
        lambda url: document("https://localhost/other.json"),
        lambda url: document(url, redirect_uris=[]),
        lambda url: document(url, redirect_uris=["javascript:alert(1)"]),
        lambda url: [document(url)],
        lambda url: document(url, client_secret="x"),
        lambda url: document(url, token_endpoint_auth_method="client_secret_post"),
        lambda url: b"nonsense",
        lambda url: document(url, client_name="x" * 20_000),
        lambda url: document(url, client_name=7),
        lambda url: document(url, client_name="a\x00b"),
        lambda url: document(url, redirect_uris=[f"{REDIRECT}\ud800"]),
        lambda url: document(url, grant_types=["implicit", "password"]),
    ],
)
def test_document_that_is_refused(people: People, trusted: Path, answer: Any) -> None:
    with documents(trusted, answer) as url:
        assistant = Assistant(people.owner, client_id=url)
        response = assistant.browser.get(assistant.authorize_url())

    assert response.status_code == 400
    assert not Application.objects.exists()


@pytest.mark.parametrize(("status", "kind"), [(404, "application/json"), (302, "application/json"), (200, "text/html")])
def test_answer_that_is_no_document(people: People, trusted: Path, status: int, kind: str) -> None:
    with documents(trusted, document, status=status, kind=kind) as url:
        assistant = Assistant(people.owner, client_id=url)

        assert assistant.browser.get(assistant.authorize_url()).status_code == 400


def test_plain_http_redirect_of_a_document_is_refused(people: People, trusted: Path) -> None:
    with documents(trusted, lambda url: document(url, redirect_uris=["http://far.example/callback"])) as url:
        assistant = Assistant(people.owner, client_id=url, redirect_uri="http://far.example/callback")

        assert assistant.browser.get(assistant.authorize_url()).status_code == 400


def test_this_machine_is_out_of_reach_unless_a_developer_says_so(people: People, trusted: Path, settings: Any) -> None:
    settings.OAUTH_LOCAL_CLIENTS = False
    with documents(trusted, document) as url:
        assistant = Assistant(people.owner, client_id=url)

        assert assistant.browser.get(assistant.authorize_url()).status_code == 400
    assert not Application.objects.exists()


@pytest.mark.parametrize(
    "url",
    [
        "https://127.0.0.1/c.json", "https://[::1]/c.json", "https://10.0.0.1/c.json", "https://169.254.169.254/latest",
        "https://192.168.1.1/c.json", "https://[::ffff:127.0.0.1]/c.json", "https://[64:ff9b::7f00:1]/c.json",
        "https://localhost/", "https://user@example.com/c.json", "https://0.0.0.0/c.json", "https://[fe80::1]/c.json",
        "https://2130706433/c.json", "https://localhost:99999/c.json", "http://example.com/c.json",
    ],
)  # fmt: skip
def test_address_inside_is_refused(people: People, url: str) -> None:
    assistant = Assistant(people.owner, client_id=url)

    assert assistant.browser.get(assistant.authorize_url()).status_code == 400
    assert not Application.objects.exists()


def test_fetcher_says_why_only_to_the_log(trusted: Path) -> None:
    from oauth2_provider.cimd import CIMDError

    with pytest.raises(CIMDError, match="could not fetch"):
        DocumentFetcher().fetch("https://localhost:1/c.json")
