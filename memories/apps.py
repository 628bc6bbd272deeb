"""The Django application `memories`."""

from django.apps import AppConfig


class MemoriesConfig(AppConfig):
    """Registration of `memories`."""

    name = "memories"

    def ready(self) -> None:
        """Register the models that the search keeps in a module of their own."""
        from memories import index_models  # noqa: F401
