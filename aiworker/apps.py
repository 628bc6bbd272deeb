"""The Django application `aiworker`."""

from django.apps import AppConfig


class AiworkerConfig(AppConfig):
    """Registration of `aiworker`."""

    name = "aiworker"

    def ready(self) -> None:
        """Name the kinds of jobs that the AI side runs."""
        from aiworker.jobs import KINDS, Kind

        KINDS["extract"] = Kind(run="aiworker.extraction.extract_run", queue="ai", scope="ai")
        KINDS["compress"] = Kind(run="aiworker.compression.compress_run", queue="ai", scope="ai")
        KINDS["extract_many"] = Kind(run="aiworker.bulk.extract_many_run", queue="ai", scope="ai")
