"""ContextCompactor: when the context of a run is due for compaction, and the compaction of its observations."""

from __future__ import annotations

import hashlib
import reprlib
import traceback
from collections.abc import Callable
from dataclasses import KW_ONLY, dataclass, field, replace
from math import inf
from typing import TYPE_CHECKING, Any, Literal

from .canonical import digest
from .context_dict import ContextDict, private_copy
from .errors import InvalidContext, InvalidPolicy
from .receipts import Receipt
from .render import escape
from .summary import CUT, clip, listing, summarise
from .summary.folding import JOINT, ROOM, folded, oldest
from .summary.observations import plain

if TYPE_CHECKING:
    from .context_bus import ContextBus
    from .receipt_store import ReceiptStore

Level = Literal["ok", "compact", "emergency"]

SHORT = 40  #: characters that a summary may have even where what it stands for is shorter
_CODE = b"{}[]()<>=_/\\|&*+%$#@`^~"
_HEX = 12


@dataclass(frozen=True, slots=True)
class CompactionResult:
    """What a compaction gave. Nothing in it is shared with what was passed in."""

    context: dict[str, Any]
    summary: str  #: of the observations that left; "" when none did
    pinned: dict[str, Any]  #: the memory keys, as they are in `context` too
    tokens_saved: int  #: estimate of what left less what `compacted_summary` grew by, never below 0
    compression_ratio: float  #: estimated tokens of `summary` / `tokens_saved`; 0.0 when nothing was saved
    warnings: tuple[str, ...] = ()  #: why nothing was compacted, or that the context grew


@dataclass
class ContextCompactor:
    """Thresholds over a context window, and compaction of the observations in a context dict.

    Raises:
        InvalidPolicy: when made, or when used after a change: a field has a wrong type or is out of range.
    """

    recent_observations: int = 3  #: how many of the newest observations stay; 0 keeps none
    memory_keys: dict[str, Any] = field(default_factory=dict)  #: pinned; equal keys of a context win, being newer
    threshold_low: float = 0.75  #: share of the window from which compaction is due, in (0, 1]
    threshold_high: float = 0.92  #: share of the window from which it is an emergency; above `threshold_low`
    enable_semantic_compression: bool = True  #: summaries of details by kind; else a listing of first lines
    max_summary_length: int = 500  #: characters (code points) of one summary, its receipt included
    _: KW_ONLY
    #: replaces the summary; it gets copies, and its text is escaped and cut to the bound
    summarizer: Callable[[list[Any]], str] | None = None
    #: keeps the observations that leave, under the `run_id` of the context when that is a string
    store: ReceiptStore | None = None
    #: is told of each compaction: `context.compacted`
    bus: ContextBus | None = None
    #: characters of `compacted_summary`; None: 20 times `max_summary_length`, at least 1,000
    max_accumulated_length: int | None = None

    def __post_init__(self) -> None:
        self._check()

    def should_compact(self, token_count: int, max_tokens: int = 200_000) -> bool:
        """Whether token_count / max_tokens >= threshold_low, by the division of whole numbers that Python
        rounds once: 7 of 10 is at 0.7. Raises InvalidPolicy naming both for a negative count or no window.
        """
        self._check()
        return _usage(token_count, max_tokens) >= self.threshold_low

    def level(self, token_count: int, max_tokens: int = 200_000) -> Level:
        """`emergency` from `threshold_high` on, `compact` from `threshold_low` on, else `ok`."""
        self._check()
        usage = _usage(token_count, max_tokens)
        if usage >= self.threshold_high:
            return "emergency"
        return "compact" if usage >= self.threshold_low else "ok"

    @staticmethod
    def estimate_tokens(text: str) -> int:
        """Tokens of a text, rounded up: 3.5 characters each, 4.0 in code-heavy text; "" has none.

        A text is code-heavy when one character in 20 is a bracket, a backtick or one of `=_/\\|&*+%$#@^~`. The
        documented formula: it undercounts for current models by up to 42 %, `context_gc.tokens` does better.
        Raises InvalidContext for what is no text.
        """
        if not isinstance(text, str):
            raise InvalidContext("estimate_tokens", f"the text is a {type(text).__name__}, expected a string")
        data = text.encode("utf-8", "surrogatepass")
        marks = len(data) - len(data.translate(None, _CODE))
        return -(-len(text) // 4) if marks * 20 >= len(text) else -(-len(text) * 2 // 7)

    def compact(self, context: dict[str, Any], emergency: bool = False) -> CompactionResult:
        """A new context in which a summary stands for all observations but the newest `recent_observations`.

        `compacted_summary` grows by `"\\nThen, " + summary`, its oldest entries fold into one line where it
        would exceed its bound, `compaction_count` goes up by one, and the five conventional keys are there.
        All else is copied as it is; what cannot be copied (a lock) is the same object. With nothing to
        summarise only the count, the ratio and the memory keys change. An emergency names fewer details.

        The summary takes no more tokens than what it stands for, unless that is shorter than `SHORT`
        characters, a receipt and `"\\nThen, "`: then `tokens_saved` is 0 and a warning says by how much the
        context grew. With a store the originals are there under the receipt that the summary names, and so
        are folded entries. Where the summarizer or the store fails, the context comes back equal, with a warning.

        Raises:
            InvalidContext: the context is no dict, a conventional key has a wrong type (None is as absent),
                or an observation is no JSON value. Names the key.
        """
        self._check()
        if not isinstance(emergency, bool):
            raise _invalid(f"emergency is {_shown(emergency)}", "true or false")
        known = ContextDict.read(context)
        pinned = private_copy({**self.memory_keys, **known.memory})
        leaving = max(0, len(known.observations) - self.recent_observations)
        try:
            summary, accumulated, tokens = "", known.summary, 0
            if leaving:
                left = known.observations[:leaving]
                tokens = sum(self.estimate_tokens(plain(value)) for value in left)
                summary, accumulated = self._summarised(known, left, tokens, emergency)
        except _Failed as failure:
            return CompactionResult(private_copy(dict(context)), "", pinned, 0, 0.0, (str(failure),))
        saved = tokens - self.estimate_tokens(JOINT + summary) if leaving else 0
        ratio = self.estimate_tokens(summary) / saved if saved > 0 else 0.0
        values = {
            "observations": private_copy((context.get("observations") or [])[leaving:]),
            "compacted_summary": accumulated,
            "compaction_count": known.count + 1,
            "compression_ratio": ratio,
            "memory_keys": private_copy(pinned),
        }
        grew = (f"the summary takes {-saved} more tokens than what it stands for",) if saved < 0 else ()
        after = known.with_values(values)
        result = CompactionResult(after, summary, pinned, max(0, saved), ratio, grew)
        return replace(result, warnings=grew + self._publish(known, result))

    def _publish(self, known: ContextDict, result: CompactionResult) -> tuple[str, ...]:
        if self.bus is None:
            return ()
        run_id = known.given.get("run_id")
        told = {
            "run_id": run_id if type(run_id) is str else "",
            "before": private_copy(dict(known.given)),
            "after": private_copy(result.context),
            "summary": result.summary,
            "tokens_saved": result.tokens_saved,
            "compression_ratio": result.compression_ratio,
            "warnings": list(result.warnings),
        }
        try:
            self.bus.publish("context.compacted", told)
        except Exception as error:
            return (f"a handler of the bus failed: {_told(error)}",)
        return ()

    def _summarised(self, known: ContextDict, left: list[Any], tokens: int, emergency: bool) -> tuple[str, str]:
        """The summary of what leaves and the accumulated summary with it; their originals are in the store."""
        number, receipt, tag = known.count + 1, None, ""
        if self.store is not None:
            names = [f"observation {place}" for place in range(1, len(left) + 1)]
            receipt = _receipt(left, names, f"summarised at compaction {number}", number, tokens)
            tag = f"[RECEIPT {receipt.id}]"
        shortest = SHORT + (len(tag) + 1 if tag else 0)
        # no text has more than a token for 3.5 characters, so none of this length has more than what left
        limit = min(self.max_summary_length, max(tokens * 7 // 2 - len(JOINT), shortest))
        summary = self._text(left, limit - (len(tag) + 1 if tag else 0), emergency)
        summary = f"{summary} {tag}".strip() if tag else summary
        before, added = known.summary, JOINT + summary
        gone = oldest(before, len(added), self._bound)
        if gone:
            rest = before[len(gone) :]
            fold_tag = ""
            if self.store is not None:
                size = self.estimate_tokens(gone)
                fold = _receipt([gone], ["compacted_summary"], f"folded at compaction {number}", number, size)
                fold_tag = f"[RECEIPT {fold.id}]"
                self._put(known, fold, [gone])
            free = self._bound - len(rest) - len(added)
            before = folded(gone, fold_tag, min(free, max(ROOM, self._bound // 4))) + rest
        if receipt:
            self._put(known, receipt, left)
        return summary, before + added

    def _text(self, left: list[Any], limit: int, emergency: bool) -> str:
        """The summary without its receipt."""
        if self.summarizer is None:
            shorten = summarise if self.enable_semantic_compression else listing
            return shorten(left, limit, brief=emergency) if limit > 0 else ""
        try:
            told = self.summarizer(private_copy(left))
        except Exception as error:
            raise _Failed(f"the summarizer failed: {_told(error)}; nothing was compacted") from error
        if not isinstance(told, str) or not told.strip():
            what = "a blank text" if isinstance(told, str) else f"a {type(told).__name__}"
            raise _Failed(f"the summarizer returned {what}; nothing was compacted")
        return clip(escape(told.strip()), limit) or CUT[: max(0, limit)]

    def _put(self, known: ContextDict, receipt: Receipt, originals: list[Any]) -> None:
        run_id = known.given.get("run_id")
        try:
            if self.store is not None:
                self.store.put(receipt, originals, run_id if type(run_id) is str else "")
        except Exception as error:
            raise _Failed(f"the receipt store failed: {_told(error)}; nothing was compacted") from error

    @property
    def _bound(self) -> int:
        return self.max_accumulated_length or max(20 * self.max_summary_length, 1_000)

    def _check(self) -> None:
        low, high = self.threshold_low, self.threshold_high
        if not (_is_share(low) and _is_share(high) and low < high):
            what = f"threshold_low is {_shown(low)} and threshold_high is {_shown(high)}"
            raise _invalid(what, "numbers in (0, 1], threshold_low below threshold_high")
        if not _is_whole(self.recent_observations, 0):
            raise _invalid(f"recent_observations is {_shown(self.recent_observations)}", "a whole number >= 0")
        least = len("[RECEIPT obs_]") + _HEX if self.store is not None else 1
        if not _is_whole(self.max_summary_length, least):
            why = ", so that a receipt has room" if self.store is not None else ""
            raise _invalid(
                f"max_summary_length is {_shown(self.max_summary_length)}", f"a whole number >= {least}{why}"
            )
        longest, least = self.max_accumulated_length, self.max_summary_length + len(JOINT) + ROOM
        if longest is not None and not _is_whole(longest, least):
            what = f"max_accumulated_length is {_shown(longest)} with max_summary_length {self.max_summary_length}"
            raise _invalid(what, f"a whole number >= {least}")
        if not isinstance(self.memory_keys, dict):
            raise _invalid(f"memory_keys is a {type(self.memory_keys).__name__}", "a dict")
        if self.summarizer is not None and not callable(self.summarizer):
            raise _invalid(f"summarizer is a {type(self.summarizer).__name__}", "something callable")


class _Failed(Exception):
    """Something of the caller's failed; the text is the warning."""


def _receipt(originals: list[Any], names: list[str], reason: str, number: int, tokens: int) -> Receipt:
    digests = tuple(map(digest, originals))
    code = hashlib.sha256(("".join(digests) + str(number)).encode()).hexdigest()
    return Receipt(f"obs_{code[:_HEX]}", "summary", reason, (), tuple(names), tokens, digests)


def _usage(token_count: int, max_tokens: int) -> float:
    if not _is_whole(token_count, 0) or not _is_whole(max_tokens, 1):
        what = f"token_count is {_shown(token_count)} and max_tokens is {_shown(max_tokens)}"
        raise _invalid(what, "whole numbers, at least 0 and at least 1")
    try:
        return token_count / max_tokens
    except OverflowError:  # more than a float can say
        return inf


def _is_share(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and 0 < value <= 1


def _is_whole(value: object, least: int) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= least


def _invalid(what: str, expected: str) -> InvalidPolicy:
    return InvalidPolicy("compactor", what, f"expected {expected}")


def _shown(value: object) -> str:
    try:
        return reprlib.repr(value)
    except ValueError:  # an integer beyond what Python prints in decimal
        return "a huge number"


def _told(error: Exception) -> str:
    """An exception in one line of bounded length."""
    text = " ".join("".join(traceback.format_exception_only(type(error), error)).split())
    return escape(text[:300])
