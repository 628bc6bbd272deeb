"""List pages ask the database a bounded number of questions, however much there is to list."""

from __future__ import annotations

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from accounts.access import Access, space_transaction
from actions.schemas import ActionPropose
from actions.services import action_propose
from api.schemas import parse
from conversations.schemas import ConversationCreate
from conversations.services import conversation_save
from notebook.schemas import JournalWrite, KvSet, RecordPut
from notebook.services import journal_write, kv_set, record_put
from tests.factories import key_create, member_create, memory_make
from tests.pages.team import Team

LISTS = [
    "/home", "/memories", "/memories?view=timeline", "/memories?q=number&mode=keyword", "/memories/map",
    "/journal", "/records",
    "/records/in?name=tasks", "/kv?ns=mail", "/actions", "/dreams", "/connections", "/transfer", "/team", "/usage",
    "/events", "/conversations",
]  # fmt: skip
AT_MOST = 30  # statements, among them those of session, membership, transaction and counts of what waits


def fill(team: Team, beginning: int, count: int) -> None:
    """Store so many of everything."""
    access = Access.system(team.space.pk)
    tool = Access(
        space_id=team.space.pk, user_id=None, actor_kind="key", actor_id="1", actor_name="Tool",
        scopes=frozenset({"actions:propose"}), channel="rest",
    )  # fmt: skip
    for number in range(beginning, beginning + count):
        memory_make(access, content=f"Number {number}", tags=[f"t{number}"], subject=f"S{number}")
        member_create(team.space, f"m{number}@example.com")
        key_create(team.space, team.users["owner"], f"Key {number}")
        with space_transaction(access):
            talk = {"model": f"m{number}", "messages": [{"role": "user", "content": "x"}]}
            conversation_save(access=access, data=parse(ConversationCreate, talk))
            day = f"2026-02-{number + 1:02}"
            journal_write(access=access, data=parse(JournalWrite, {"date": day, "summary": "x"}))
            record_put(access=access, data=parse(RecordPut, {"collection": "tasks", "data": {f"f{number}": 1}}))
            kv_set(access=access, data=parse(KvSet, {"ns": "mail", "key": f"k{number}", "value": number}))
            body = {"class": "x", "summary": "y", "payload": {}, "idempotency_key": f"i{number}"}
            action_propose(access=tool, data=parse(ActionPropose, body))


@pytest.mark.django_db
def test_lists_ask_no_more_for_more_rows(team: Team) -> None:
    client = team.client("owner")
    counts: list[dict[str, int]] = []
    for beginning, count in ((0, 2), (2, 12)):
        fill(team, beginning, count)
        counts.append({})
        for path in LISTS:
            client.get(path)  # whatever is looked up once for all is looked up now
            with CaptureQueriesContext(connection) as asked:
                assert client.get(path).status_code == 200
            counts[-1][path] = len(asked)

    assert counts[0] == counts[1]
    assert {path: count for path, count in counts[1].items() if count > AT_MOST} == {}
