"""The operations of the notebook, under the names that the other doors call."""

from notebook.journal import journal_write
from notebook.kv import kv_get, kv_set
from notebook.records import record_put, record_update, records_query

__all__ = ["journal_write", "kv_get", "kv_set", "record_put", "record_update", "records_query"]
