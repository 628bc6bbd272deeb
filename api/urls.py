"""Every address under /v1."""

from django.urls import path

from accounts.views import MeView, SpaceView
from actions.views import ActionsView, ActionView, TransitionView
from aiworker.ai_views import CompressView, ExtractView, UsageView
from aiworker.views import JobCancelView, JobView
from api.schemaviews import docs, openapi
from config.health import health
from context.spaceviews import SpaceExportView, SpaceImportView
from context.views import ContextView, ForgetView
from conversations.views import ConversationsExtractView, ConversationsView, ConversationView, HandoffView
from dreams.views import (
    CancelView,
    DreamsView,
    DreamView,
    NextJobView,
    SubmitView,
    SuggestionsView,
    SuggestionView,
    UndoView,
)
from events.views import EventsView
from memories.factviews import HistoryView, RecallView, RememberView, RestoreView
from memories.transfer.views import ExportView, ImportView
from memories.views import MemoriesBatchView, MemoriesSearchView, MemoriesView, MemorySimilarView, MemoryView
from notebook.kvviews import NamespacesView, NamespaceView, ValueView
from notebook.recordviews import CollectionsView, RecordsBatchView, RecordsView, RecordView
from notebook.views import JournalEntryView, JournalView

urlpatterns = [
    path("memories", MemoriesView.as_view(), name="memories"),
    path("memories/batch", MemoriesBatchView.as_view(), name="memories-batch"),
    path("memories/search", MemoriesSearchView.as_view(), name="memories-search"),
    path("memories/remember", RememberView.as_view(), name="memories-remember"),
    path("memories/forget", ForgetView.as_view(), name="memories-forget"),
    path("memories/recall", RecallView.as_view(), name="memories-recall"),
    path("memories/<str:memory_id>/history", HistoryView.as_view(), name="memory-history"),
    path("memories/<str:memory_id>/restore", RestoreView.as_view(), name="memory-restore"),
    path("memories/<str:memory_id>", MemoryView.as_view(), name="memory"),
    path("memories/<str:memory_id>/similar", MemorySimilarView.as_view(), name="memory-similar"),
    path("health", health, name="health"),
    path("openapi.json", openapi, name="openapi"),
    path("docs", docs, name="docs"),
    path("me", MeView.as_view(), name="me"),
    path("space", SpaceView.as_view(), name="space"),
    path("space/export", SpaceExportView.as_view(), name="space-export"),
    path("space/import", SpaceImportView.as_view(), name="space-import"),
    path("events", EventsView.as_view(), name="events"),
    path("extract", ExtractView.as_view(), name="extract"),
    path("compress", CompressView.as_view(), name="compress"),
    path("usage", UsageView.as_view(), name="usage"),
    path("conversations", ConversationsView.as_view(), name="conversations"),
    path("conversations/extract", ConversationsExtractView.as_view(), name="conversations-extract"),
    path("conversations/<str:conversation_id>", ConversationView.as_view(), name="conversation"),
    path("handoff", HandoffView.as_view(), name="handoff"),
    path("jobs/<str:job_id>", JobView.as_view(), name="job"),
    path("jobs/<str:job_id>/cancel", JobCancelView.as_view(), name="job-cancel"),
    path("export", ExportView.as_view(), name="export"),
    path("import", ImportView.as_view(), name="import"),
    path("context", ContextView.as_view(), name="context"),
    path("journal", JournalView.as_view(), name="journal-entries"),
    path("journal/<str:kind>/<str:date>", JournalEntryView.as_view(), name="journal-entry"),
    path("records", CollectionsView.as_view(), name="collections"),
    path("records/<str:collection>", RecordsView.as_view(), name="records"),
    path("records/<str:collection>/batch", RecordsBatchView.as_view(), name="records-batch"),
    path("records/<str:collection>/<str:id>", RecordView.as_view(), name="record"),
    path("kv", NamespacesView.as_view(), name="namespaces"),
    path("kv/<str:ns>", NamespaceView.as_view(), name="namespace"),
    path("kv/<str:ns>/<path:key>", ValueView.as_view(), name="value"),
    path("dreams", DreamsView.as_view(), name="dreams"),
    path("dreams/next-job", NextJobView.as_view(), name="dream-next-job"),
    path("dreams/suggestions", SuggestionsView.as_view(), name="suggestions"),
    path("dreams/suggestions/<str:suggestion_id>", SuggestionView.as_view(), name="suggestion"),
    path("dreams/<str:run_id>", DreamView.as_view(), name="dream"),
    path("dreams/<str:run_id>/submit", SubmitView.as_view(), name="dream-submit"),
    path("dreams/<str:run_id>/undo", UndoView.as_view(), name="dream-undo"),
    path("dreams/<str:run_id>/cancel", CancelView.as_view(), name="dream-cancel"),
    path("actions", ActionsView.as_view(), name="actions"),
    path("actions/<str:action_id>", ActionView.as_view(), name="action"),
    path("actions/<str:action_id>/transition", TransitionView.as_view(), name="action-transition"),
]
