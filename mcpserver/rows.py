"""The rows of the table of tools."""

from actions.schemas import ActionList, ActionPropose, ActionTransition
from dreams.schemas import DreamNextJob, DreamSubmit
from mcpserver import handlers, transcripts
from mcpserver.tools import Tool
from mcpserver.transcripts import Transcript
from memories.schemas import Forget, Recall, Remember
from notebook.schemas import JournalWrite, KvGet, KvSet, RecordPut, RecordQuery, RecordUpdate

COLLECTION = "Name of the collection, such as tasks or contacts."
NAMESPACE = "Name of the namespace."
#: The context shows of each section what the credential may read.
CONTEXT_SCOPES = frozenset({"memories:read", "journal:read", "records:read", "kv:read"})

ROWS = [
    Tool(
        "get_context", "Get the context",
        "Call this first in every task. Returns what is always worth knowing: the core facts about the person, records "
        "that are due or open, actions that wait for approval, the latest journal entries and the key-value namespaces "
        "that the person has chosen.",
        handlers.NoArguments, handlers.get_context, CONTEXT_SCOPES, "read",
    ),
    Tool(
        "remember", "Remember a fact",
        "Keeps a fact that will still matter later. Say origin user only when the person stated it themselves. A fact "
        "that is stored already is not stored again: the answer is the stored one, with deduplicated true.",
        Remember, handlers.remember, frozenset({"memories:write"}), "add",
        {
            "text": "The fact, as one sentence that makes sense on its own.",
            "tags": "Labels to find it by.",
            "pinned": "Keep dreams from changing it.",
            "expires_at": "When it stops being true (RFC 3339).",
        },
    ),
    Tool(
        "recall", "Recall facts",
        "Finds facts by words, of which any may match, best first; by subject, tier or tag. Without q the newest come "
        "first. Every fact returned counts as recalled.",
        Recall, handlers.recall, frozenset({"memories:read"}), "read",
        {
            "q": "Words to search for; any of them may match.",
            "subject": "Only facts about this subject.",
            "tier": "Only facts of this tier.",
            "tag": "Only facts with this tag.",
            "limit": "How many to return at most.",
        },
    ),
    Tool(
        "forget", "Forget facts",
        "Deletes for good: facts by id, or facts that contain all words of query; on request also records and journal "
        "text that contain query as an exact phrase. Call it with dry_run first and show the person what would go; "
        "larger deletions are refused without that.",
        Forget, handlers.forget, frozenset({"memories:delete"}), "destroy",
        {
            "ids": "Ids of facts.",
            "query": "Words: facts that contain all of them. In records and journal: the exact phrase.",
        },
    ),
    Tool(
        "journal_write", "Write the journal",
        "Writes the journal entry of a day or week. Only what is given changes; with merge it is added to what is "
        "there.",
        JournalWrite, handlers.write_journal, frozenset({"journal:write"}), "destroy",
        {
            "date": "The day, as YYYY-MM-DD; of a week, any of its days.",
            "summary": "What happened.",
            "decisions": "What was decided.",
            "open_loops": "What is still open.",
            "source_refs": "Where it comes from, such as addresses or files.",
            "kind": "Whether the entry is a day's or a week's.",
        },
    ),
    Tool(
        "record_put", "Put a record",
        "Creates a record in a collection, such as a task or a contact. With a key, the record that has this key is "
        "updated instead.",
        RecordPut, handlers.put_record, frozenset({"records:write"}), "destroy",
        {
            "collection": COLLECTION,
            "key": "A name of yours for the record; the record that has it is updated.",
            "status": "Where it stands, in a word of yours.",
            "due_at": "When it is due (RFC 3339).",
            "origin": "user when the person asked for it, else agent.",
        },
    ),
    Tool(
        "record_query", "List records",
        "Lists the records of a collection, those due first.",
        RecordQuery, handlers.query_records, frozenset({"records:read"}), "read",
        {
            "collection": COLLECTION,
            "status": "Only these statuses, separated by commas.",
            "key": "Only the record with this key.",
            "due_before": "Only records due before this time (RFC 3339).",
            "limit": "How many to return at most.",
            "cursor": "next_cursor of the page before, with the same filters.",
        },
    ),
    Tool(
        "record_update", "Update a record",
        "Changes the status, the due date or the data of a record. data is merged at its top level, and null removes "
        "a field.",
        RecordUpdate, handlers.update_record, frozenset({"records:write"}), "destroy",
        {
            "collection": COLLECTION,
            "id": "The record's id.",
            "status": "The new status.",
            "due_at": "The new due date (RFC 3339).",
            "data": "Fields to merge into the record's data; null removes a field.",
            "expected_version": "Fail with a conflict when the record is at another version by now.",
        },
    ),
    Tool(
        "action_propose", "Propose an action",
        "Queues something that the person must approve before it is done, and returns its short id, such as A7. The "
        "same idempotency_key with the same payload returns the action that exists. Only the person approves.",
        ActionPropose, handlers.propose_action, frozenset({"actions:propose"}), "add",
        {
            "meta": "Anything to keep beside it; the person sees it too.",
            "expires_at": "When the proposal lapses (RFC 3339): in 7 days when left out, in 30 at most.",
        },
    ),
    Tool(
        "action_list", "List actions",
        "Lists proposed actions and where they stand.",
        ActionList, handlers.list_actions,
        frozenset({"actions:propose", "actions:execute", "actions:decide"}), "read",
        {
            "status": "Only these statuses, separated by commas.",
            "limit": "How many to return at most.",
        },
    ),
    Tool(
        "action_transition", "Move an action on",
        "Moves an action from one status to another, if it is still in from: cancelled for a proposal of yours; "
        "executing before you carry out an approved action, whose payload is then in the answer; done or failed "
        "afterwards. Approving and rejecting are the person's and not possible here.",
        ActionTransition, handlers.transition_action, frozenset({"actions:propose", "actions:execute"}), "step",
        {"to": "The status to move it to.", "receipt": "What came of it: an object, with done or failed."},
    ),
    Tool(
        "kv_get", "Read key-value state",
        "Reads one value, or every value of a namespace when no key is given.",
        KvGet, handlers.get_kv, frozenset({"kv:read"}), "read",
        {"ns": NAMESPACE, "key": "Name of the value."},
    ),
    Tool(
        "kv_set", "Set key-value state",
        "Stores a value under a namespace and a key, in place of an earlier one.",
        KvSet, handlers.set_kv, frozenset({"kv:write"}), "destroy",
        {
            "ns": f"{NAMESPACE} Those that begin with _ are reserved.",
            "key": "Name of the value.",
            "value": "Any JSON value.",
            "expected_version": "0: only create it; n: only when it is at version n. Left out: in any case.",
        },
    ),
    Tool(
        "dream_next_job", "Get the next dream",
        "Returns a job of tidying the memory up, for your own model to do: run_id, instructions (the system prompt), "
        "input (to send as JSON), output_schema (of the answer) and max_changes. job is null when there is nothing "
        "to do.",
        DreamNextJob, handlers.next_dream_job, frozenset({"dreams"}), "add",
    ),
    Tool(
        "dream_submit", "Submit a dream",
        "Hands in the JSON that your model made of a job. The server checks it, applies what its rules allow and "
        "says what it rejected. The person can undo it for 7 days.",
        DreamSubmit, handlers.submit_dream, frozenset({"dreams"}), "destroy",
        {"run_id": "run_id of the job."},
    ),
]  # fmt: skip
TRANSCRIPT_TEXTS = {
    "transcript": "The conversation, as plain text.",
    "source_tool": "The tool that it took place in; yours when left out.",
    "namespace": "Where to store it, such as project:garden.",
    "session_id": "Its id in that tool.",
    "timestamp": "When it took place (RFC 3339).",
}
#: Offered when the operator sets OMP_MCP_AI_TOOLS: they cost what the operator's AI provider asks for.
AI_ROWS = [
    Tool(
        "extract_memories", "Extract memories",
        "Reads the transcript of a conversation and stores what is worth remembering from it. What is stored already "
        "is not stored again. A long transcript is answered with a job, which goes on by itself.",
        Transcript, transcripts.extract_memories, frozenset({"ai"}), "ai", TRANSCRIPT_TEXTS, atomic=False,
    ),
    Tool(
        "compress_conversation", "Compress a conversation",
        "Reads the transcript of a conversation and stores one memory that sums it up. A long transcript is answered "
        "with a job, which goes on by itself.",
        Transcript, transcripts.compress_conversation, frozenset({"ai"}), "ai", TRANSCRIPT_TEXTS, atomic=False,
    ),
]  # fmt: skip
