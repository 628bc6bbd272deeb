"""The Django application `mcpserver`."""

from django.apps import AppConfig


class McpserverConfig(AppConfig):
    """Registration of `mcpserver`."""

    name = "mcpserver"
