"""compact_messages: the list that goes to a provider in, the shorter list that stands for it out."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from .budgeted import Budgeted
from .canonical import own
from .compaction import Compaction
from .compactor import ContextGC
from .conversation import Conversation
from .errors import InvalidMessages
from .events import Event
from .messages import DIALECTS
from .messages.accepted import accepted, format_of_messages, marks, plain, with_marks
from .messages.dialect import SOURCE, Record
from .passes import BudgetState
from .policy import Policy
from .receipt_store import ReceiptStore
from .receipts import expand_receipt
from .tokens import Counter

_INSTRUCTING = ("system", "developer")


@dataclass(frozen=True, slots=True)
class CompactedMessages:
    """Messages for a provider, with receipts in place of what was cut."""

    messages: Sequence[Any]  #: a message that nothing was cut from is the object that came in
    receipts: tuple[str, ...]  #: ids of all receipts, in the order of what they stand for
    tokens_before: int  #: estimate of all that was given
    tokens_after: int  #: estimate of what is left
    decisions: tuple[dict[str, Any], ...]  #: what was found about each part, also when it is kept
    format: str  #: openai-chat, openai-responses or anthropic-messages
    budget: BudgetState | None  #: how the window stands; None without a budget
    compaction: Compaction

    def recover(self, receipt_id: str) -> list[Event]:
        """All that a stub stands for, each exactly as it was. Raises UnknownReceipt or NotPruned."""
        return expand_receipt(self.compaction["graph"], receipt_id)


class MessagesClient:
    """A conversation that is given whole again and again, and grows: in the loop of an agent.

    Each list goes on from the one before, or from the messages that `compact` gave for it: then only what is
    new is read, and under a budget nothing that was sent changes between two passes. A list that does neither
    was rewritten: it is read anew, with the passes over what it shares with the one before.
    """

    def __init__(
        self,
        policy: Policy | None = None,
        format: str = "auto",
        counter: Counter | None = None,
        *,
        store: ReceiptStore | None = None,
        run_id: str = "",
    ) -> None:
        if format != "auto" and format not in DIALECTS:
            raise InvalidMessages("messages", f"{format!r} is no format", "known formats: auto, " + ", ".join(DIALECTS))
        self.policy = policy or Policy()
        self._counter, self._store, self._run_id, self._rewrites = counter, store, run_id, 0
        self._format = format
        self._given: list[Any] = []  # every message as it came in
        self._plain: list[Record] = []  # the same as private JSON without cache marks
        self._sent: list[Record] = []  # what was given out last, likewise
        self._log: list[tuple[int, bool, bool, int | None]] = []  # messages, force, cold, usage of each compaction
        self._talk = self._begun(format)

    def compact(self, messages: Sequence[Any], force: bool = False, cold: bool = False) -> CompactedMessages:
        """The messages for the next model call. `force` and `cold` as in `ContextGC.compact`.

        Raises:
            InvalidMessages: what is wrong, and with which message; then nothing was taken in.
        """
        if isinstance(messages, str | bytes | dict) or not isinstance(messages, Sequence):
            raise InvalidMessages("messages", f"a {type(messages).__name__}", "give a list of messages")
        fresh = self._fresh(messages)
        whole = messages if fresh is None else [*self._given, *fresh]
        start = self._shared(messages) if fresh is None else len(self._given)
        new = [accepted(each, place) for place, each in enumerate(whole[start:], start)]
        name = self._format if self._format != "auto" else format_of_messages([*self._plain[:start], *new])
        if fresh is None or name != self._talk.dialect.name:
            start = start if name == self._talk.dialect.name else 0
            new = [*self._plain[:start], *new] if start else [accepted(each, at) for at, each in enumerate(whole)]
            self._read_anew(name, new, whole, start)
        else:
            self._take(new, whole[start:])
        self._log.append((len(self._given), force, cold, None))
        compaction, request = self._talk.compact(force, cold)
        made = self._told(request.messages)
        is_same = len(made) == len(messages) and all(a is b for a, b in zip(made, messages, strict=True))
        return CompactedMessages(
            messages if is_same else made, tuple(compaction["receipts"]), compaction["tokens_before"],
            compaction["tokens_after"], tuple(compaction["decisions"]), name, compaction_state(self.client), compaction,
        )  # fmt: skip

    def record_usage(
        self, input_tokens: int, output_tokens: int = 0, cache_read: int = 0, cache_write: int = 0
    ) -> None:
        """What the provider counted for the messages that `compact` gave last. As `ContextGC.record_usage`."""
        self.client.record_usage(input_tokens, output_tokens, cache_read, cache_write)
        if self._log:
            self._log[-1] = (*self._log[-1][:3], input_tokens + cache_read + cache_write)

    def recover(self, receipt_id: str) -> list[Event]:
        """All that a stub stands for, each exactly as it was. Raises UnknownReceipt or NotPruned."""
        return self.client.expand_receipt(receipt_id)

    def restore(self, receipt_id: str) -> list[str]:
        """Bring back what a stub stands for, at the next pass. As `ContextGC.restore`."""
        return self.client.restore(receipt_id)

    @property
    def client(self) -> ContextGC:
        """The history behind it, event by event. A list that was rewritten begins another."""
        return self._talk.client

    # taking in

    def _begun(self, name: str) -> Conversation:
        run_id = f"{self._run_id}.{self._rewrites + 1}" if self._rewrites else self._run_id
        client = ContextGC(self.policy, counter=self._counter, store=self._store, run_id=run_id)
        return Conversation(client, DIALECTS["openai-chat" if name == "auto" else name], True)

    def _take(self, plain: Sequence[Record], given: Sequence[Any]) -> None:
        for record, message in zip(plain, given, strict=True):
            self._talk.tell(record)
            self._plain.append(record)
            self._given.append(message)

    def _read_anew(self, name: str, plain: Sequence[Record], given: Sequence[Any], shared: int) -> None:
        """Another history: what it shares with this one is compacted as it was, then comes the rest."""
        before = [each for each in self._log if each[0] <= shared]
        if self._given:
            self._rewrites += 1
        kept = self._given, self._plain, self._talk
        self._given, self._plain, self._log, self._talk = [], [], [], self._begun(name)
        try:
            for count, force, cold, usage in before:
                self._take(plain[len(self._plain) : count], given[len(self._given) : count])
                self._talk.client.compact(force, cold)
                if usage is not None:
                    self._talk.client.record_usage(usage)
            self._take(plain[len(self._plain) :], given[len(self._given) :])
        except InvalidMessages:
            self._given, self._plain, self._talk = kept
            raise
        self._log = before

    def _fresh(self, messages: Sequence[Any]) -> list[Any] | None:
        """What a list has beyond all that was given before, or beyond what was made of it; None for neither."""
        size, sent = len(self._plain), self._sent
        if len(messages) >= size and self._shared(messages) == size:
            self._given[:] = messages[:size]  # instructions at the head may have changed, and cache marks
            return list(messages[size:])
        if sent and len(messages) >= len(sent) and all(map(_is_same, messages, sent)):
            return list(messages[len(sent) :])
        return None

    def _shared(self, messages: Sequence[Any]) -> int:
        """How many messages at the beginning are those that were given; instructions at the head may differ."""
        at_head = True
        for place, (message, known) in enumerate(zip(messages, self._plain, strict=False)):
            at_head = at_head and known.get("role") in _INSTRUCTING
            if not _is_same(message, known) and not (at_head and _role(message) in _INSTRUCTING):
                return place
        return min(len(messages), len(self._plain))

    # giving out

    def _told(self, records: Sequence[Record]) -> list[Any]:
        made: list[Any] = []
        numbers: list[int] = []  # of the messages up to each place
        self._sent = []
        for record in records:
            number = record.pop(SOURCE, None)
            numbers.append(number if number is not None else numbers[-1] if numbers else -1)
            if number is not None and record == self._plain[number]:
                made.append(self._given[number])
                self._sent.append(self._plain[number])
            else:
                self._sent.append(own(record))
                made.append(record if number is None else with_marks(record, marks(self._given[number])))
        there = set(numbers)
        for number, given in enumerate(self._given):
            if number not in there and (lost := marks(given)):
                place = bisect_left(numbers, number) - 1  # the last one before it that is left
                if place >= 0 and not marks(made[place]):
                    made[place] = with_marks(plain(made[place]), lost[-1:])
        return made


def compact_messages(
    messages: Sequence[Any], policy: Policy | None = None, format: str = "auto", counter: Counter | None = None
) -> CompactedMessages:
    """Compact a conversation as a provider takes it: OpenAI Chat, OpenAI Responses items or Anthropic Messages.

    `format`: "openai-chat", "openai-responses", "anthropic-messages", or "auto", which tells them apart by what
    only one of them has. Objects of the official SDKs are taken as well. The list is never changed; it comes
    back itself when there was nothing to cut. Blind spot: give the full history, not what an earlier call made
    of it: stubs in that count as text. In a loop, `MessagesClient` keeps what was sent stable.

    Raises:
        InvalidMessages: what is wrong, and with which message.
    """
    return MessagesClient(policy, format, counter).compact(messages)


def compaction_state(client: ContextGC) -> BudgetState | None:
    """How the window stands after the compaction that was made last."""
    return client._live.state if isinstance(client._live, Budgeted) else None


def _role(message: Any) -> Any:
    return message.get("role") if isinstance(message, dict) else getattr(message, "role", None)


def _is_same(message: Any, known: Record) -> bool:
    if message == known:
        return True
    try:
        return accepted(message, 0) == known
    except InvalidMessages:
        return False
