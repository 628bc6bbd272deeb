"""The Django application `memories`."""

from django.apps import AppConfig


class MemoriesConfig(AppConfig):
    """Registration of `memories`."""

    name = "memories"

    def ready(self) -> None:
        """Register the models that the search keeps in a module of their own, and how vectors are sent."""
        import psycopg

        from memories import index_models  # noqa: F401
        from memories.vectors import VectorDumper

        psycopg.adapters.register_dumper("numpy.ndarray", VectorDumper)
