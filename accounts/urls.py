"""The pages of accounts: landing, home, spaces, team, settings, the person's own account."""

from django.urls import path

from accounts import pages

urlpatterns = [
    path("", pages.landing, name="landing"),
    path("home", pages.home, name="home"),
    path("account", pages.account, name="account"),
    path("spaces/new", pages.space_new, name="space-new"),
    path("spaces/<int:space_id>/open", pages.space_switch, name="space-open"),
]
