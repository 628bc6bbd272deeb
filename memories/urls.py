"""The pages of memories."""

from django.urls import path

from memories import pages, pages_bulk, pages_map, pages_transfer

urlpatterns = [
    path("transfer", pages_transfer.transfer, name="transfer"),
    path("transfer/export", pages_transfer.export, name="export-page"),
    path("transfer/extract", pages_transfer.import_extract, name="import-extract"),
    path("transfer/<str:job_id>", pages_transfer.import_detail, name="import-detail"),
    path("transfer/<str:job_id>/stop", pages_transfer.import_cancel, name="import-cancel"),
    path("memories", pages.memory_list, name="memory-list"),
    path("memories/new", pages.memory_new, name="memory-new"),
    path("memories/map", pages_map.memory_map, name="memory-map"),
    path("memories/bulk", pages_bulk.memory_bulk, name="memory-bulk"),
    path("memories/put-back", pages_bulk.memory_put_back, name="memory-put-back"),
    path("memories/<str:memory_id>", pages.memory_detail, name="memory-detail"),
    path("memories/<str:memory_id>/entry", pages.memory_entry, name="memory-entry"),
    path("memories/<str:memory_id>/edit", pages.memory_edit, name="memory-edit"),
    path("memories/<str:memory_id>/mark", pages.memory_mark, name="memory-mark"),
    path("memories/<str:memory_id>/similar", pages.memory_similar, name="memory-similar-page"),
    path("memories/<str:memory_id>/restore/<int:version>", pages.memory_restore, name="memory-restore-page"),
]
