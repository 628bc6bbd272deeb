"""Links: by which ids in an answer a client goes on to other operations."""

from collections.abc import Mapping

from api.openapi.core import ONE

#: {the link's name: (operation, {path parameter: JSON pointer into the answer})}
Links = dict[str, tuple[str, Mapping[str, str]]]


def to(targets: Mapping[str, str], **pointers: str) -> Links:
    """Return links to operations whose path takes what the pointers find."""
    return {name: (target, pointers) for name, target in targets.items()}


def each(path: str, **methods: str) -> dict[str, str]:
    """Return {name: operation} for methods of one path."""
    return {name: f"{method} {path}" for name, method in methods.items()}


MEMORY = {
    **each(ONE, read="GET", change="PUT", patch="PATCH", remove="DELETE"),
    "similar": f"GET {ONE}/similar", "history": f"GET {ONE}/history", "restore": f"POST {ONE}/restore",
}  # fmt: skip
ENTRY = each("/v1/journal/{kind}/{date}", read="GET", write="PUT", remove="DELETE")
RECORD = each("/v1/records/{collection}/{id}", read="GET", change="PATCH", remove="DELETE")
VALUE = each("/v1/kv/{ns}/{key}", read="GET", set="PUT", remove="DELETE")
ACTION = {"read": "GET /v1/actions/{action_id}", "move": "POST /v1/actions/{action_id}/transition"}
CONVERSATION = each("/v1/conversations/{conversation_id}", read="GET", remove="DELETE")
JOB = {"job": "GET /v1/jobs/{job_id}", "cancel": "POST /v1/jobs/{job_id}/cancel"}
DREAM = {
    "read": "GET /v1/dreams/{run_id}", "submit": "POST /v1/dreams/{run_id}/submit",
    "undo": "POST /v1/dreams/{run_id}/undo", "cancel": "POST /v1/dreams/{run_id}/cancel",
}  # fmt: skip
DECIDE = {"decide": "POST /v1/dreams/suggestions/{suggestion_id}"}
#: The links of each shape of answer.
LINKS: dict[str, Links] = {
    "Memory": to(MEMORY, memory_id="/id"),
    "Fact": to(MEMORY, memory_id="/id"),
    "MemoryList": to(MEMORY, memory_id="/memories/0/id"),
    "SearchResults": to(MEMORY, memory_id="/memories/0/id"),
    "SimilarResults": to(MEMORY, memory_id="/memories/0/id"),
    "Facts": to(MEMORY, memory_id="/memories/0/id"),
    "BatchResults": to(MEMORY, memory_id="/results/0/memory/id"),
    "Extracted": to(MEMORY, memory_id="/memories/0/id"),
    "Compressed": to(MEMORY, memory_id="/memory/id"),
    "JournalEntry": to(ENTRY, kind="/kind", date="/date"),
    "JournalEntries": to(ENTRY, kind="/entries/0/kind", date="/entries/0/date"),
    "Collections": to({"records": "GET /v1/records/{collection}"}, collection="/collections/0/name"),
    "Record": to(RECORD, collection="/collection", id="/id"),
    "Records": to(RECORD, collection="/records/0/collection", id="/records/0/id"),
    "RecordResults": to(RECORD, collection="/results/0/record/collection", id="/results/0/record/id"),
    "Namespaces": to({"values": "GET /v1/kv/{ns}"}, ns="/namespaces/0/name"),
    "KeyValue": to(VALUE, ns="/ns", key="/key"),
    "Action": to(ACTION, action_id="/id"),
    "Actions": to(ACTION, action_id="/actions/0/id"),
    "Conversation": to(CONVERSATION, conversation_id="/id"),
    "Conversations": to(CONVERSATION, conversation_id="/conversations/0/id"),
    "Job": to(JOB, job_id="/id"),
    "Dream": to(DREAM, run_id="/id"),
    "Dreams": to(DREAM, run_id="/dreams/0/id"),
    "DreamJob": to(DREAM, run_id="/job/run_id"),
    "DreamOutcome": to(DREAM, run_id="/run_id"),
    "Suggestions": to(DECIDE, suggestion_id="/suggestions/0/id"),
}
