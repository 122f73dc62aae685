"""What must not leave in a pack: values whose name is sensitive, and credentials under any name."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from fnmatch import translate
from functools import lru_cache, partial
from typing import Any

from .canonical import readable
from .credentials import PLACEHOLDER, without_credentials
from .parse import parse

#: Globs over names in lower case with `_` between their words (`apiKey`, `API-Key` and `api.key` are all
#: `api_key`); a name that matches one with a `!` is not sensitive.
SENSITIVE_KEYS = tuple(
    "key key_* *_key *_key_* *api_keys *access_keys *private_keys *secret_keys *ssh_keys *signing_keys "
    "*apikey* *accesskey* *authkey* *privatekey* *sshkey* "
    "*token* *secret* *password* *passwort* *passwd* *passphrase* *_pwd *authorization* *cookie* *credential* "
    "auth *_auth *jwt* *bearer* *mnemonic* *seed_phrase* *connection_string* "
    "!primary_key* !foreign_key* !sort_key* !partition_key* !public_key* !cache_key* !row_key !object_key "
    "!group_key !index_key !lookup_key !join_key !unique_key !natural_key !composite_key !range_key "
    "!dict_key !map_key !config_key !i18n_key !translation_key !issue_key !project_key !ticket_key !answer_key "
    "!shortcut_key !modifier_key !arrow_key !function_key !key_point* !key_finding* !key_fact* !key_decision* "
    "!key_insight* !key_takeaway* !key_detail* !key_file* !key_event* !key_change* !key_concept* !key_term* "
    "!key_feature* !key_idea* !key_question* !key_result* !key_requirement* !key_component* !key_learning* "
    "!key_code !key_press* !key_down !key_up !key_name* !key_type !key_path !key_size !key_length !key_bits "
    "!key_count !key_error* !key_column* !key_field* !key_func* !key_value* !key_word* "
    "!*tokeniz* !*tokenis* !token_type !token_url !token_uri !token_endpoint !token_counter "
    "!eos_token !bos_token !pad_token !unk_token !sep_token !mask_token !cls_token !stop_token* !special_token* "
    "!*secretary* !*cookie_banner* !*cookie_policy* !*cookie_consent* !password_policy !password_hint".split()
)

DEEPEST = 40  #: names that a path shows from its beginning; of what lies deeper it shows the last ones
LONGEST_JSON = 1 << 20  #: characters: a longer string is searched as text, also when it holds JSON

_HUMP = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
_GAP = re.compile(r"[\W_]+")
_COUNTED = re.compile(
    r"(?:^|_)(?:tokens|counts?|limit|limits|max|min|total|budget|used|saved|usage|num|number|size|length|remaining"
    r"|estimate|estimated|ratio|cost|price|index|version|ttl|expir\w+|age|timeout|n|per|first|details?|latency|ms"
    r"|seconds?|rate)(?:_|$)"
)
_NUMBER = re.compile(r"[\d.,]{1,12}")
_PAIRS = (("key", "value"), ("name", "value"), ("Key", "Value"), ("Name", "Value"))


@dataclass(frozen=True, slots=True)
class LeftOut:
    """One thing that is not in a pack. `path` is a JSON pointer, with `…` where it is cut; it holds no value."""

    path: str
    why: str


class Place:
    """Where a value stands: below which place, under which name or index."""

    __slots__ = ("depth", "head", "released", "segment", "strict", "under")

    def __init__(self, under: Place | None, segment: str | int, head: str) -> None:
        self.under, self.segment = under, segment
        self.depth: int = under.depth + 1 if under else 0
        self.head = head  # the whole path down to DEEPEST
        self.strict: bool = under.strict if under else False  #: whether no text below may stay
        self.released: dict[str, Any] = {}

    def below(self, segment: str | int) -> Place:
        """The place of what this one holds under a name or an index."""
        head = f"{self.head}/{_pointer(segment)}" if self.depth < DEEPEST else self.head
        place = Place(self, segment, head)
        place.released = self.released.get(str(segment), {}) if self.released else {}
        return place

    def __str__(self) -> str:
        if self.depth <= DEEPEST:
            return self.head
        last: list[str] = []
        place: Place | None = self
        while place is not None and place.depth > DEEPEST and len(last) < 10:
            last.append(_pointer(place.segment))
            place = place.under
        cut = "" if place is None or place.depth == DEEPEST else "/…"
        return f"{self.head}{cut}/" + "/".join(reversed(last))


def places(root: list[Any], at: Place) -> Iterator[tuple[Any, Any, Place]]:
    """(holder, name or index, place) of every value in a list and in what it holds, in order, at any depth.

    What has been yielded may be replaced or deleted; what stands there then is walked.
    """
    todo: list[tuple[Any, Any, Place]] = [(root, index, at) for index in range(len(root) - 1, -1, -1)]
    while todo:
        holder, slot, place = todo.pop()
        yield holder, slot, place
        item = holder.get(slot) if type(holder) is dict else holder[slot]
        if type(item) is dict:
            todo.extend((item, key, place.below(key)) for key in reversed(item))
        elif type(item) is list:
            todo.extend((item, index, place.below(index)) for index in range(len(item) - 1, -1, -1))


def is_sensitive(name: str, sensitive: tuple[str, ...] = SENSITIVE_KEYS) -> bool:
    """Whether what stands under a name is to be left out."""
    return _matches(name if len(name) <= 200 else f"{name[:100]} {name[-100:]}", sensitive)


def leave_out(
    value: Any, sensitive: tuple[str, ...] = SENSITIVE_KEYS, release: Collection[str] = (), at: str = ""
) -> tuple[Any, list[LeftOut]]:
    """The value without what must not leave, and what that was, in order. The value itself is changed.

    In an object, what stands under a sensitive name or is a credential goes with its name; in a list
    PLACEHOLDER stands there, and in a longer text it replaces the credential alone. A `value` beside a
    sensitive `key` or `name` is replaced likewise, and such a `key` is no secret itself. JSON in a string is
    treated as what it says. Flags, null and what is empty stay; so do numbers under names that count
    (`max_tokens`). `release` has the pointers of values that stay whatever their names or their text; what
    such a value holds is still looked at. Blind spots: those of `without_credentials`; secrets of other
    forms under ordinary names; names other than in English (German `passwort` aside).
    """
    root, found = [value], list[LeftOut]()
    start = Place(None, "", at)
    start.released = _tree(release)
    check = partial(is_sensitive, sensitive=sensitive)
    for holder, slot, place in places(root, start):
        if None in place.released or holder[slot] == PLACEHOLDER:
            continue
        item, why = holder[slot], ""
        named = type(holder) is dict
        name = _name_of(holder, slot) if named else None
        if named and without_credentials(slot, check) != slot:
            why = "its name is a credential"
        elif name is not None and _is_secret(name, item, place, sensitive):
            why = "its name is sensitive"
        elif type(item) is str and place.strict and not _is_number(item):
            why = "it is text below a sensitive name"
        elif type(item) is str:
            text, inner = _cleaned(item, sensitive, place)
            if text != item:
                found += inner or [LeftOut(str(place), "a credential in its text")] * (text.strip() != PLACEHOLDER)
                why = "it is a credential" if text.strip() == PLACEHOLDER else ""
                holder[slot] = text
        if why:
            found.append(LeftOut(str(place), why))
            if named and name == slot:
                del holder[slot]
            else:
                holder[slot] = PLACEHOLDER
    return root[0], found


def _name_of(holder: dict[str, Any], slot: str) -> str | None:
    """The name that says what a value is: of `value` what stands beside it, and of such a `key` none."""
    for key, value in _PAIRS:
        if key in holder and value in holder:
            if slot == key:
                return None
            if slot == value and type(holder[key]) is str:
                return str(holder[key])
    return slot


def _is_secret(name: str, value: Any, place: Place, sensitive: tuple[str, ...]) -> bool:
    """Whether a value goes for its name. Below a name that counts only texts do: `place` is marked."""
    if not value or value is True or not is_sensitive(name, sensitive):
        return False
    counted = _COUNTED.search(_normal(name[-200:])) is not None
    if counted and type(value) in (dict, list):
        place.strict = True
        return False
    return not (counted and (type(value) in (int, float) or _is_number(value)))


def _is_number(value: Any) -> bool:
    """Whether a text is short and says a number, or nothing."""
    return type(value) is str and (not value or _NUMBER.fullmatch(value) is not None)


def _cleaned(text: str, sensitive: tuple[str, ...], place: Place) -> tuple[str, list[LeftOut]]:
    """A text without its credentials, and when it is JSON what was left out of it."""
    if text[:50].lstrip()[:1] in ("{", "[") and len(text) <= LONGEST_JSON:
        try:
            value = parse(text, unique=True)
        except ValueError:
            pass
        else:
            value, found = leave_out(value, sensitive, at=str(place))
            return (readable(value) if found else text), found
    return without_credentials(text, partial(is_sensitive, sensitive=sensitive)), []


def _tree(pointers: Collection[str]) -> dict[Any, Any]:
    """JSON pointers as a tree of their names; where one ends there is a None."""
    tree: dict[Any, Any] = {}
    for pointer in pointers:
        branch = tree
        for name in pointer.split("/")[1:]:
            branch = branch.setdefault(name.replace("~1", "/").replace("~0", "~"), {})
        branch[None] = {}
    return tree


def _pointer(segment: str | int) -> str:
    """One part of a JSON pointer, shortened, and without a credential that is used as a name."""
    name = str(segment)
    if len(name) > 11:
        name = without_credentials(name, is_sensitive)
        name = name if len(name) <= 200 else name[:199] + "…"
    return name.replace("~", "~0").replace("/", "~1")


def _normal(name: str) -> str:
    """A name in lower case with `_` between its words."""
    return _GAP.sub("_", _HUMP.sub("_", name).lower()).strip("_")


@lru_cache(maxsize=16_384)
def _matches(name: str, sensitive: tuple[str, ...]) -> bool:
    normal = _normal(name)
    wanted, harmless = _patterns(sensitive)
    return wanted.match(normal) is not None and harmless.match(normal) is None


@lru_cache(maxsize=64)
def _patterns(sensitive: tuple[str, ...]) -> tuple[re.Pattern[str], re.Pattern[str]]:
    """What makes a name sensitive, and what makes it harmless all the same."""

    def compiled(globs: list[str]) -> re.Pattern[str]:
        normal = [_HUMP.sub("_", glob).lower().replace("-", "_").replace(" ", "_") for glob in globs]
        return re.compile("|".join(map(translate, normal)) or r"(?!)")

    harmless = [glob[1:] for glob in sensitive if glob.startswith("!")]
    return compiled([glob for glob in sensitive if not glob.startswith("!")]), compiled(harmless)
