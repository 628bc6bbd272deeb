"""The pages of dreams."""

from django.urls import path

from dreams import pages

urlpatterns = [
    path("dreams", pages.dream_list, name="dream-list"),
    path("dreams/<str:run_id>", pages.dream_detail, name="dream-detail"),
    path("dreams/<str:run_id>/undo", pages.dream_undo_page, name="dream-undo-page"),
    path("dreams/suggestions/<str:suggestion_id>/decide", pages.suggestion_decide_page, name="suggestion-decide-page"),
]
