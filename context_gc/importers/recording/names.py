"""What importers need to name and date events: ids that are unique in a trace, and times in milliseconds."""

from __future__ import annotations

import re
from datetime import UTC, datetime

from ...events import LARGEST

LONGEST = 64  #: characters of an id that are kept; what goes beyond is cut before ids are made unique

_FOREIGN = re.compile(r"[^A-Za-z0-9_.:-]+")
_PLAIN = re.compile(rf"[A-Za-z0-9_.:-]{{1,{LONGEST}}}")
_UUID = re.compile(r"[0-9a-fA-F]{8}-[0-9a-fA-F-]{20,}")


class Names:
    """Gives out event ids, each once: the same asks in the same order give the same ids."""

    def __init__(self) -> None:
        self._used: set[str] = set()
        self._counts: dict[str, int] = {}  # of names that were asked for again

    def take(self, wanted: str) -> str:
        """`wanted` in the charset of ids; `:2`, `:3` … is added when it is taken."""
        plain = wanted if _PLAIN.fullmatch(wanted) else _FOREIGN.sub("_", wanted)[:LONGEST] or "e"
        name = plain
        if name in self._used:
            count = self._counts.get(plain, 1)
            while name in self._used:
                count += 1
                name = f"{plain}:{count}"
            self._counts[plain] = count
        self._used.add(name)
        return name

    def take_short(self, uuid: str) -> str:
        """The first 8 characters of a uuid, more when they are taken; other ids as `take` gives them."""
        if _UUID.fullmatch(uuid):
            for length in (8, 13, 18, 23):
                if uuid[:length] not in self._used:
                    return self.take(uuid[:length])
        return self.take(uuid)


def milliseconds(value: object) -> int | None:
    """A time as whole milliseconds since 1970 UTC, or None. Takes ISO text and numbers.

    A number from 1e11 on is taken as milliseconds, a smaller one as seconds; ISO text without a zone as UTC.
    """
    try:
        if isinstance(value, str):
            moment = datetime.fromisoformat(value)
            if moment.tzinfo is None:
                moment = moment.replace(tzinfo=UTC)
            found = round(moment.timestamp() * 1000)
        elif isinstance(value, int | float) and not isinstance(value, bool):
            found = round(value if value >= 1e11 else value * 1000)
        else:
            return None
    except (ValueError, OverflowError):
        return None
    return found if 0 <= found <= LARGEST else None
