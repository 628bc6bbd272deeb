"""The official Python client, 2.x: connect in one of its modes, list everything, call every tool."""

from __future__ import annotations

import json
from typing import Any

import httpx2
from mcp import Client
from mcp.client.streamable_http import streamable_http_client


async def run(url: str, key: str, calls: list[tuple[str, dict[str, Any]]], mode: str) -> dict[str, Any]:
    """Return what the client saw: protocol version, tools, answers by tool, resources and prompts."""
    async with (
        httpx2.AsyncClient(headers={"Authorization": f"Bearer {key}"}, timeout=30) as http,
        Client(streamable_http_client(url, http_client=http), mode=mode) as client,
    ):
        tools = (await client.list_tools()).tools
        answers = {}
        for name, arguments in calls:
            result = await client.call_tool(name, arguments)
            block = result.content[0]
            assert block.type == "text"
            answers[name] = {"isError": bool(result.is_error), "value": json.loads(block.text)}
        resources = (await client.list_resources()).resources
        read = [await client.read_resource(str(resource.uri)) for resource in resources]
        prompts = (await client.list_prompts()).prompts
        got = [await client.get_prompt(prompt.name, {"topic": "tea"}) for prompt in prompts]
        return {
            "version": client.session.protocol_version,
            "server": client.server_info.name if client.server_info else None,
            "instructions": client.instructions,
            "tools": [tool.name for tool in tools],
            "answers": answers,
            "resources": [str(resource.uri) for resource in resources],
            "contents": [json.loads(result.contents[0].text) for result in read],  # type: ignore[union-attr]
            "prompts": [prompt.name for prompt in prompts],
            "messages": [result.messages[0].content.text for result in got],  # type: ignore[union-attr]
        }
