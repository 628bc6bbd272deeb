"""Taking a forgotten text out of what models wrote in dreams."""

from collections.abc import Callable

from accounts.access import Access
from dreams.models import DreamChange, DreamRun, DreamSuggestion


def dreams_scrub(access: Access, match: Callable[[str], bool]) -> None:
    """Empty the summaries and reasons that match, and remove the suggestions.

    What a model wrote about a deleted memory goes with the memory; this is for what it wrote elsewhere.
    """
    runs = DreamRun.objects.visible_to(access)
    summaries = [run.id for run in runs.exclude(summary="").only("id", "summary") if match(run.summary)]
    runs.filter(id__in=summaries).update(summary="")
    for change in DreamChange.objects.visible_to(access).exclude(reason=""):
        if match(change.reason):
            change.reason = ""
            change.save(update_fields=["reason"])
    suggestions = DreamSuggestion.objects.visible_to(access)
    matching = [suggestion.id for suggestion in suggestions if match(suggestion.text)]
    suggestions.filter(id__in=matching).delete()
