"""What holds for every table and every query, those of tomorrow included."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from django.apps import apps
from django.db import DatabaseError, connection, models, transaction

from accounts.access import Access, space_set, space_transaction
from accounts.models import Space
from accounts.querysets import SpaceOwnedQuerySet
from memories.models import Memory, MemoryQuerySet, Tombstone
from tests.factories import People, memory_make

PROJECT = Path(__file__).resolve().parent.parent.parent
OURS = [
    path.parent.name
    for path in sorted(PROJECT.glob("*/apps.py"))
]  # fmt: skip
#: Tables with a space that are read before a space is known, or by the operator; they hold no content.
NOT_TENANT = {
    "accounts_membership": "says who may enter which space",
    "accounts_invitation": "is opened by its secret",
    "apikeys_apikey": "is opened by its digest",
    "grants_grant": "is opened by its token",
}
#: Tenant tables without row-level security: index conditions of search do not pass it. They hold ids and no text.
NO_ROW_SECURITY = {
    "memories_searchentry", "memories_searchspace", "memories_memoryvector", "memories_embeddingpending",
}  # fmt: skip
#: Tables whose primary key is the space itself.
ONE_ROW_A_SPACE = {"memories_searchspace", "actions_actioncounter"}


def with_space() -> list[type[models.Model]]:
    return [
        model
        for model in apps.get_models()
        if model._meta.app_label in OURS and any(field.name == "space" for field in model._meta.fields)
    ]


TENANT = [model for model in with_space() if model._meta.db_table not in NOT_TENANT]
BY_TABLE = pytest.mark.parametrize("model", TENANT, ids=lambda model: model._meta.db_table)


def rows(statement: str, *values: Any) -> list[tuple[Any, ...]]:
    with connection.cursor() as cursor:
        cursor.execute(statement, values)
        return list(cursor.fetchall())


def test_every_other_table_is_known_by_name() -> None:
    others = {model._meta.db_table for model in apps.get_models() if model._meta.app_label in OURS}
    others -= {model._meta.db_table for model in TENANT} | set(NOT_TENANT)

    assert others <= {
        "accounts_plan", "accounts_space", "accounts_spacedeletion", "accounts_supportvisit", "accounts_switch",
        "accounts_user", "accounts_user_groups", "accounts_user_user_permissions", "grants_clientdocument",
        "grants_registration",
    }, "a table without a space: is it nobody's content?"  # fmt: skip


@BY_TABLE
def test_the_primary_key_begins_with_the_space(model: type[models.Model]) -> None:
    if model._meta.db_table not in ONE_ROW_A_SPACE:
        assert isinstance(model._meta.pk, models.CompositePrimaryKey)
    assert model._meta.pk_fields[0].attname == "space_id"


@BY_TABLE
def test_the_manager_goes_through_an_access(model: type[models.Model]) -> None:
    if model._meta.db_table not in NO_ROW_SECURITY:
        assert isinstance(model._default_manager.all(), SpaceOwnedQuerySet)


@pytest.mark.django_db
@BY_TABLE
def test_every_unique_index_and_foreign_key_holds_the_space(model: type[models.Model]) -> None:
    table = model._meta.db_table
    unique = rows(
        "SELECT i.indexrelid::regclass::text FROM pg_index i WHERE i.indrelid = %s::regclass AND i.indisunique "
        "AND NOT EXISTS (SELECT FROM pg_attribute a WHERE a.attrelid = i.indrelid AND a.attnum = ANY(i.indkey) "
        "AND a.attname = 'space_id')", table,
    )  # fmt: skip
    foreign = rows(
        "SELECT c.conname FROM pg_constraint c WHERE c.conrelid = %s::regclass AND c.contype = 'f' "
        "AND NOT EXISTS (SELECT FROM pg_attribute a WHERE a.attrelid = c.conrelid AND a.attnum = ANY(c.conkey) "
        "AND a.attname = 'space_id')", table,
    )  # fmt: skip

    assert (unique, foreign) == ([], [])


@pytest.mark.django_db
@BY_TABLE
def test_row_level_security_guards_the_table(model: type[models.Model]) -> None:
    table = model._meta.db_table
    if table in NO_ROW_SECURITY:
        texts = [field.name for field in model._meta.fields if isinstance(field, models.TextField | models.JSONField)]
        assert not set(texts) & {"content", "text", "data", "value", "payload"}
        return
    enabled = rows("SELECT relrowsecurity FROM pg_class WHERE oid = %s::regclass", table)
    policies = rows("SELECT cmd, qual, with_check FROM pg_policies WHERE tablename = %s", table)

    assert enabled == [(True,)]
    assert [command for command, _, _ in policies] == ["ALL"]
    assert all("commonplace.space_id" in condition for _, *both in policies for condition in both)


@pytest.mark.django_db
def test_the_application_owns_nothing_and_bypasses_nothing() -> None:
    role = rows("SELECT rolname, rolbypassrls, rolsuper FROM pg_roles WHERE rolname = current_user")
    owned = rows("SELECT tablename FROM pg_tables WHERE schemaname = 'public' AND tableowner = current_user")

    assert role == [("commonplace_app", False, False)]
    assert owned == []


class TestWithoutTheFilter:
    """A query that forgets its filter returns nothing of another space."""

    @pytest.fixture
    def filled(self, people: People) -> People:
        memory_make(people.access(), content="Ours")
        memory_make(people.access("outsider"), content="Theirs")
        return people

    def test_rows_of_the_set_space_alone_are_seen(self, filled: People) -> None:
        with space_transaction(filled.access("outsider")):
            assert [memory.content for memory in Memory.objects.all()] == ["Theirs"]

    def test_nothing_is_seen_while_no_space_is_set(self, filled: People) -> None:
        with transaction.atomic():
            rows("SELECT set_config('commonplace.space_id', '', true)")
            for model in TENANT:
                if model._meta.db_table not in NO_ROW_SECURITY:
                    assert not model._default_manager.exists(), model

    def test_the_api_without_its_filter_shows_nothing(self, filled: People, monkeypatch: pytest.MonkeyPatch) -> None:
        memory_id = filled.api().get("/v1/memories").json()["memories"][0]["id"]
        monkeypatch.setattr(MemoryQuerySet, "visible_to", lambda self, access, **options: self.filter(status="active"))

        api = filled.api("outsider")
        assert [memory["content"] for memory in api.get("/v1/memories").json()["memories"]] == ["Theirs"]
        assert api.get(f"/v1/memories/{memory_id}").status_code == 404
        assert api.delete(f"/v1/memories/{memory_id}").status_code == 404
        assert "Ours" not in b"".join(api.get("/v1/export").streaming_content).decode()

    def test_nothing_can_be_written_into_another_space(self, filled: People) -> None:
        space_set(filled.other.pk)
        foreign = Tombstone(space_id=filled.space.pk, digest=b"x" * 32)

        with pytest.raises(DatabaseError, match="row-level security"), transaction.atomic():
            foreign.save(force_insert=True)

    def test_nothing_of_another_space_can_be_changed_or_deleted(self, filled: People) -> None:
        with space_transaction(filled.access("outsider")):
            assert Memory.objects.filter(space_id=filled.space.pk).update(content="Stolen") == 0
            assert Memory.objects.filter(space_id=filled.space.pk).delete()[0] == 0
        with space_transaction(filled.access()):
            assert [memory.content for memory in Memory.objects.all()] == ["Ours"]

    def test_no_access_gives_no_rows(self, filled: People) -> None:
        with space_transaction(Access.system(filled.space.pk)):
            for model in TENANT:
                if hasattr(model._default_manager, "visible_to"):
                    assert not model._default_manager.visible_to(None).exists()


#: How a query may begin: through an access, or with the space named.
THROUGH = {"visible_to", "any_status", "one", "within_limits", "none", "bulk_create", "insert", "create", "as_manager"}


def queries() -> Iterator[tuple[str, str, ast.Call]]:
    """Yield every `Model.objects.method(...)` on a tenant model in the sources."""
    names = {model.__name__ for model in TENANT if model._meta.db_table not in ONE_ROW_A_SPACE}
    for app in OURS:
        for path in sorted((PROJECT / app).rglob("*.py")):
            if "migrations" in path.parts:
                continue
            for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
                if (
                    isinstance(node, ast.Call)
                    and isinstance(node.func, ast.Attribute)
                    and isinstance(node.func.value, ast.Attribute)
                    and node.func.value.attr == "objects"
                    and isinstance(node.func.value.value, ast.Name)
                    and node.func.value.value.id in names
                ):
                    yield f"{path.relative_to(PROJECT)}:{node.lineno}", node.func.attr, node


def test_every_query_goes_through_an_access_or_names_its_space() -> None:
    forgetful = [
        place
        for place, method, call in queries()
        if method not in THROUGH
        and not {keyword.arg for keyword in call.keywords} & {"space_id", "space", "space_id__in"}
    ]

    assert forgetful == []
    assert len(list(queries())) > 20, "the search for queries finds none"


@pytest.mark.django_db
def test_deleting_a_space_leaves_nothing(people: People) -> None:
    memory = people.api().created()
    people.api().put(f"/v1/memories/{memory['id']}", {"content": "Changed"})
    people.api().put("/v1/kv/state/a", {"value": 1})

    with space_transaction(people.access()):
        Space.objects.get(pk=people.space.pk).delete()
        for model in TENANT:
            assert not model._default_manager.filter(space_id=people.space.pk).exists(), model
