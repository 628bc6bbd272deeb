"""What a person pastes into each client to connect it, filled with this server's address."""

import json
from dataclasses import dataclass
from typing import Literal

Way = Literal["command", "file", "steps"]
KEY = "om_…"


@dataclass(frozen=True)
class Snippet:
    """How one client is connected: `text` is pasted at `place`; `by` says how the client is let in.

    `cloud` says that the client calls from its maker's servers, which reach public addresses only.
    """

    slug: str
    client: str
    by: Literal["sign-in", "key"]
    way: Way
    place: str
    text: str
    cloud: bool = False


def snippets(base: str) -> list[Snippet]:
    """Return the snippet of each client for the server at an address such as https://memory.example.com."""
    url = f"{base}/mcp"
    return [
        Snippet(
            "claude-code", "Claude Code", "sign-in", "command", "a terminal; then /mcp in Claude Code to sign in",
            f"claude mcp add --transport http commonplace {url}",
        ),
        Snippet(
            "claude-desktop", "Claude Desktop", "sign-in", "steps", "Settings → Connectors → Add custom connector", url,
            cloud=True,
        ),
        Snippet(
            "claude-ai", "claude.ai", "sign-in", "steps", "Settings → Connectors → Add custom connector", url,
            cloud=True,
        ),
        Snippet(
            "chatgpt", "ChatGPT", "sign-in", "steps",
            "Settings → Apps & Connectors → Advanced settings → Developer mode, then Create; authentication OAuth", url,
            cloud=True,
        ),
        Snippet(
            "cursor", "Cursor", "sign-in", "file", "~/.cursor/mcp.json",
            _json({"mcpServers": {"commonplace": {"url": url}}}),
        ),
        Snippet(
            "vscode", "VS Code", "sign-in", "file", ".vscode/mcp.json",
            _json({"servers": {"commonplace": {"type": "http", "url": url}}}),
        ),
        Snippet(
            "codex", "Codex CLI", "sign-in", "command", "a terminal",
            f"codex mcp add commonplace --url {url}\ncodex mcp login commonplace",
        ),
        Snippet(
            "gemini", "Gemini CLI", "sign-in", "command", "a terminal; then /mcp auth commonplace in Gemini CLI",
            f"gemini mcp add --transport http commonplace {url}",
        ),
        Snippet(
            "curl", "curl", "key", "command", "a terminal, with a key of yours in OPENMEMORY_KEY",
            f"curl -s {url} \\\n"
            '  -H "Authorization: Bearer $OPENMEMORY_KEY" \\\n'
            "  -H 'content-type: application/json' \\\n"
            "  -H 'accept: application/json, text/event-stream' \\\n"
            """  -d '{"jsonrpc":"2.0","id":1,"method":"tools/list"}'""",
        ),
    ]  # fmt: skip


def key_snippets(base: str) -> list[Snippet]:
    """Return the snippets for clients that run without a browser: the same clients with a key instead of a sign-in."""
    url = f"{base}/mcp"
    header = f"Authorization: Bearer {KEY}"
    return [
        Snippet(
            "claude-code-key", "Claude Code", "key", "command", "a terminal",
            f'claude mcp add --transport http commonplace {url} --header "{header}"',
        ),
        Snippet(
            "cursor-key", "Cursor", "key", "file", "~/.cursor/mcp.json",
            _json({"mcpServers": {"commonplace": {"url": url, "headers": {"Authorization": f"Bearer {KEY}"}}}}),
        ),
        Snippet(
            "vscode-key", "VS Code", "key", "file", ".vscode/mcp.json",
            _json(
                {
                    "servers": {
                        "commonplace": {"type": "http", "url": url, "headers": {"Authorization": f"Bearer {KEY}"}}
                    }
                }
            ),
        ),
        Snippet(
            "codex-key", "Codex CLI", "key", "command", "a terminal, with a key of yours in OPENMEMORY_KEY",
            f"codex mcp add commonplace --url {url} --bearer-token-env-var OPENMEMORY_KEY",
        ),
        Snippet(
            "gemini-key", "Gemini CLI", "key", "command", "a terminal",
            f'gemini mcp add --transport http --header "{header}" commonplace {url}',
        ),
    ]  # fmt: skip


def _json(value: object) -> str:
    return json.dumps(value, indent=2, ensure_ascii=False)
