"""The pages of accounts: landing, home, spaces, team, settings, the person's own account."""

from django.urls import path

from accounts import pages, pages_account, pages_team

urlpatterns = [
    path("", pages.landing, name="landing"),
    path("home", pages.home, name="home"),
    path("account", pages_account.account, name="account"),
    path("account/support", pages_account.support, name="support"),
    path("account/theme", pages_account.theme, name="theme"),
    path("account/delete", pages_account.account_delete, name="account-delete"),
    path("spaces/new", pages.space_new, name="space-new"),
    path("spaces/<int:space_id>/open", pages.space_switch, name="space-open"),
    path("spaces/delete", pages_team.space_delete, name="space-delete"),
    path("settings", pages_team.settings_page, name="settings"),
    path("team", pages_team.team, name="team"),
    path("team/leave", pages_team.leave_confirm, name="leave-confirm"),
    path("team/leave/now", pages_team.space_leave, name="space-leave"),
    path("team/transfer", pages_team.space_transfer, name="space-transfer"),
    path("team/members/<int:membership_id>/role", pages_team.member_role, name="member-role"),
    path("team/members/<int:membership_id>/remove", pages_team.member_remove, name="member-remove"),
    path("team/invitations/<int:invitation_id>/revoke", pages_team.invitation_revoke, name="invitation-revoke"),
    path("invitations/<str:token>", pages_team.invitation, name="invitation"),
]
