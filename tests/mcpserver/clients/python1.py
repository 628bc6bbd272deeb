"""The official Python client, 1.x, in a process of its own: JSON {url, key, calls} in, what it saw out."""

import asyncio
import json
import sys

from mcp import ClientSession
from mcp.client.streamable_http import streamablehttp_client


async def run(url, key, calls):
    """Return what the client saw: protocol version, tools, answers by tool, resources and prompts."""
    headers = {"Authorization": f"Bearer {key}"}
    async with (
        streamablehttp_client(url, headers=headers) as (reader, writer, _),
        ClientSession(reader, writer) as session,
    ):
        started = await session.initialize()
        tools = (await session.list_tools()).tools
        answers = {}
        for name, arguments in calls:
            result = await session.call_tool(name, arguments)
            answers[name] = {"isError": result.isError, "value": json.loads(result.content[0].text)}
        resources = (await session.list_resources()).resources
        read = [await session.read_resource(resource.uri) for resource in resources]
        prompts = (await session.list_prompts()).prompts
        got = [await session.get_prompt(prompt.name, {"topic": "tea"}) for prompt in prompts]
        return {
            "version": started.protocolVersion,
            "server": started.serverInfo.name,
            "instructions": started.instructions,
            "tools": [tool.name for tool in tools],
            "answers": answers,
            "resources": [str(resource.uri) for resource in resources],
            "contents": [json.loads(result.contents[0].text) for result in read],
            "prompts": [prompt.name for prompt in prompts],
            "messages": [result.messages[0].content.text for result in got],
        }


task = json.load(sys.stdin)
json.dump(asyncio.run(run(task["url"], task["key"], task["calls"])), sys.stdout)
