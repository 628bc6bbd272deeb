"""Celery tasks: each takes ids, re-reads and calls one function."""
