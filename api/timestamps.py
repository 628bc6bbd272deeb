"""Times on the wire: RFC 3339 in, UTC with `Z` out."""

import re
from datetime import UTC, datetime, timedelta, timezone

SHAPE = re.compile(
    r"(\d{4})-(\d\d)-(\d\d)[Tt ](\d\d):(\d\d)(?::(\d\d)(?:[.,](\d+))?)?(?:([Zz])|([+-])(\d\d):?(\d\d))?", re.ASCII
)
HELP = "Use an RFC 3339 time such as 2026-06-29T12:00:00Z."


def timestamp_parse(text: str) -> datetime:
    """Return the aware UTC time that an RFC 3339 string names; without an offset it is read as UTC.

    Fractions beyond microseconds are cut off. Raises ValueError, with a sentence, for a date alone, for an
    impossible time and for one outside the years 1 to 9999.
    """
    match = SHAPE.fullmatch(text)
    if match is None:
        raise ValueError(HELP)
    year, month, day, hour, minute, second, fraction, _, sign, offset_hours, offset_minutes = match.groups()
    microsecond = int((fraction or "0")[:6].ljust(6, "0"))
    try:
        zone = UTC
        if sign:
            offset = timedelta(hours=int(offset_hours), minutes=int(offset_minutes))
            zone = timezone(-offset if sign == "-" else offset)
        return datetime(
            int(year), int(month), int(day), int(hour), int(minute), int(second or 0), microsecond, zone
        ).astimezone(UTC)
    except (ValueError, OverflowError):
        raise ValueError(f"There is no such time. {HELP}") from None


def timestamp_format(value: datetime) -> str:
    """Return a time in UTC with `Z`; a fraction only when it is not zero, without trailing zeros."""
    value = value.astimezone(UTC)
    text = f"{value.year:04d}-{value.month:02d}-{value.day:02d}T{value.hour:02d}:{value.minute:02d}:{value.second:02d}"
    if value.microsecond:
        text += f".{value.microsecond:06d}".rstrip("0")
    return text + "Z"
