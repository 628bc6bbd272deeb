"""/v1/me and /v1/space: who a credential is, and the settings of its space."""

from typing import Any, ClassVar

from rest_framework.request import Request
from rest_framework.response import Response

from accounts.models import Space, User
from accounts.schemas import SpaceDeleteParams, SpaceSettings, SpaceUpdate
from accounts.services import space_update
from accounts.team import space_delete
from api.errors import Invalid
from api.timestamps import timestamp_format
from api.views import ApiView
from apikeys.throttles import rules
from memories.model_changes import space_models


def space_present(space: Space) -> dict[str, Any]:
    """Return a space with its settings by name; next_embedding_model is null unless a change is under way."""
    names = ["name", "kind", *SpaceSettings.model_fields]
    shown = {name: getattr(space, name) for name in dict.fromkeys(names)}
    current, coming = space_models(space.pk)
    models = {"embedding_model": current, "next_embedding_model": coming or None}
    return {"id": str(space.pk)} | shown | models | {"created_at": timestamp_format(space.created_at)}


class MeView(ApiView):
    """/v1/me."""

    scopes: ClassVar = {"GET": None}

    def get(self, request: Request) -> Response:
        """Return whose credential this is and what it may do."""
        access = self.access
        space = Space.objects.get(pk=access.space_id)
        user = User.objects.filter(pk=access.user_id).first() if access.user_id else None
        return Response(
            {
                "space": {"id": str(space.pk), "name": space.name, "kind": space.kind},
                "user": {"id": str(user.pk), "email": user.email, "name": user.name} if user else None,
                "key": {"name": access.actor_name, "prefix": access.credential, "tool": access.write_tool},
                "role": access.role,
                "scopes": sorted(access.scopes),
                "limits": {
                    "read_tools": None if access.read_tools is None else sorted(access.read_tools),
                    "namespaces": None if access.namespaces is None else sorted(access.namespaces),
                    "types": None if access.types is None else sorted(access.types),
                    "quarantine": access.quarantine,
                    "requests_per_minute": min((rule.per_minute for rule in rules(access)), default=None),
                },
            }
        )


class SpaceView(ApiView):
    """/v1/space."""

    scopes: ClassVar = {"GET": "space:read", "PATCH": "space:write", "DELETE": "space:write"}
    query_params = frozenset(SpaceDeleteParams.model_fields)

    def get(self, request: Request) -> Response:
        """Return the space and its settings."""
        return Response(space_present(Space.objects.get(pk=self.access.space_id)))

    def patch(self, request: Request) -> Response:
        """Change the settings that the body gives."""
        changes = self.body(SpaceUpdate).model_dump(exclude_unset=True)
        return Response(space_present(space_update(access=self.access, changes=changes)))

    def delete(self, request: Request) -> Response:
        """Delete the space with everything in it, confirmed by its name; the answer is the receipt that stays.

        The owner's: on the page, or with a key of theirs that holds space:write.
        """
        params = self.query(SpaceDeleteParams)
        try:
            receipt = space_delete(access=self.access, name=params.confirm)
        except Invalid:
            raise Invalid.field("confirm", "Give the name of the space, exactly as it is.") from None
        return Response(
            {
                "id": str(receipt.pk),
                "space": str(receipt.deleted_space),
                "deleted_at": timestamp_format(receipt.deleted_at),
                "deleted": receipt.rows,
            }
        )
