"""The pages of the notebook."""

from django.urls import path

from notebook import pages

urlpatterns = [
    path("journal", pages.journal, name="journal"),
    path("journal/<str:kind>/<str:day>", pages.journal_edit, name="journal-edit"),
    path("journal/<str:kind>/<str:day>/delete", pages.journal_delete, name="journal-delete"),
    path("records", pages.collections, name="record-collections"),
    path("records/in", pages.records, name="record-list"),
    path("records/<str:record_id>", pages.record, name="record-page"),
    path("records/<str:record_id>/delete", pages.record_remove, name="record-remove"),
    path("kv", pages.kv, name="kv"),
    path("kv/edit", pages.kv_edit, name="kv-edit"),
    path("kv/delete", pages.kv_remove, name="kv-remove"),
]
