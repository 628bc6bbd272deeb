"""The page of usage."""

from django.urls import path

from aiworker import pages

urlpatterns = [path("usage", pages.usage_page, name="usage-page")]
