"""The admin console as an application: Django's own, with the operator's site."""

from django.contrib.admin.apps import AdminConfig


class OperatorConfig(AdminConfig):
    """Django's admin with our site."""

    default_site = "config.adminsite.OperatorSite"
