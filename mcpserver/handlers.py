"""What each tool does: call the service that REST calls, and present its answer."""

from typing import Any

from accounts.access import Access
from actions.representation import action_present, actions_present
from actions.schemas import ActionList, ActionPropose, ActionTransition
from actions.services import action_propose, action_transition, actions_list
from api.schemas import ClosedBody
from context.forgetting import facts_forget
from context.services import context_get
from dreams.schemas import DreamNextJob, DreamSubmit
from dreams.services import dream_next_job, dream_submit
from mcpserver.results import fact_present, noticed, recalled
from memories.facts import fact_remember, facts_recall
from memories.schemas import Forget, Recall, Remember
from notebook.representation import entry_present, kv_present, record_present
from notebook.schemas import JournalWrite, KvGet, KvSet, RecordPut, RecordQuery, RecordUpdate
from notebook.services import journal_write, kv_get, kv_set, record_put, record_update, records_query


class NoArguments(ClosedBody):
    """Of a tool that takes none."""


def get_context(access: Access, data: NoArguments) -> dict[str, Any]:
    """Return the context."""
    return context_get(access=access)


def remember(access: Access, data: Remember) -> dict[str, Any]:
    """Store a fact and return it, or the one that says the same."""
    memory, deduplicated = fact_remember(access=access, data=data)
    return noticed(fact_present(memory) | {"deduplicated": deduplicated})


def recall(access: Access, data: Recall) -> dict[str, Any]:
    """Return facts."""
    return recalled(facts_recall(access=access, params=data))


def forget(access: Access, data: Forget) -> dict[str, Any]:
    """Delete facts for good and return how many."""
    return noticed(facts_forget(access=access, data=data))


def write_journal(access: Access, data: JournalWrite) -> dict[str, Any]:
    """Write an entry and return it."""
    return noticed(entry_present(journal_write(access=access, data=data)))


def put_record(access: Access, data: RecordPut) -> dict[str, Any]:
    """Create or update a record and return it."""
    record, created = record_put(access=access, data=data)
    return noticed({"record": record_present(record), "created": created})


def query_records(access: Access, data: RecordQuery) -> dict[str, Any]:
    """Return a page of records."""
    records, cursor = records_query(access=access, params=data)
    return noticed({"records": [record_present(record) for record in records], "next_cursor": cursor})


def update_record(access: Access, data: RecordUpdate) -> dict[str, Any]:
    """Update a record and return it."""
    return noticed(record_present(record_update(access=access, data=data)))


def propose_action(access: Access, data: ActionPropose) -> dict[str, Any]:
    """Queue an action and return it."""
    action, _ = action_propose(access=access, data=data)
    return noticed(action_present(action))


def list_actions(access: Access, data: ActionList) -> dict[str, Any]:
    """Return actions."""
    return noticed({"actions": actions_present(actions_list(access=access, params=data))})


def transition_action(access: Access, data: ActionTransition) -> dict[str, Any]:
    """Move an action on and return it."""
    action, unchanged = action_transition(access=access, data=data)
    return noticed(action_present(action) | ({"unchanged": True} if unchanged else {}))


def get_kv(access: Access, data: KvGet) -> dict[str, Any]:
    """Return a value, or those of a namespace."""
    return noticed(kv_get(access=access, params=data))


def set_kv(access: Access, data: KvSet) -> dict[str, Any]:
    """Set a value and return it."""
    return noticed(kv_present(kv_set(access=access, data=data)))


def next_dream_job(access: Access, data: DreamNextJob) -> dict[str, Any]:
    """Return the job for the client's model, or why there is none."""
    return dream_next_job(access=access, start_if_due=data.start_if_due)


def submit_dream(access: Access, data: DreamSubmit) -> dict[str, Any]:
    """Apply what the client's model made of a job."""
    return dream_submit(access=access, run_id=data.run_id, result=data.result)
