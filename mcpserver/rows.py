"""The rows of the table of tools."""

from mcpserver.tools import Tool

ROWS: list[Tool] = []
AI_ROWS: list[Tool] = []
