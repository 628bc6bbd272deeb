"""What a client may send about a whole space."""

from api.params import Switch
from api.schemas import ClosedBody


class SpaceImportParams(ClosedBody):
    """Query parameters of POST /v1/space/import."""

    settings: Switch = False
