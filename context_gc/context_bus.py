"""ContextBus: modules publish events and hear them without a reference to each other.

What the engine (ContextGC) publishes, and what each payload holds:

    event.added            run_id, event_id, type
    compaction.started     run_id, level ("ok", "compact" or "emergency"), tokens, reason (`Pass.moment`)
    compaction.committed   run_id, pruned_ids, pass (`Pass.to_dict`); under a budget tokens_before, tokens_after
    receipt.recovered      run_id, receipt_id, event_ids
    task.ended             run_id; heard as well: what was retained until then is judged like the rest
    session.ended          run_id; heard as well

ContextCompactor publishes `context.compacted`: run_id, before, after (context dicts), summary, tokens_saved,
compression_ratio, warnings. Without a budget `pass` is None, and nothing tells that a compaction has started. A client
hears the end of a task or session of its own `run_id`, and those that name none. Anyone may publish events of
other types.
"""

from __future__ import annotations

from collections.abc import Callable
from threading import Lock
from typing import Any

from .errors import InvalidEvent

EVERYTHING = "*"  #: the type to subscribe to in order to hear all events

Listener = Callable[[dict[str, Any]], object]


class ContextBus:
    """Synchronous publish and subscribe. Safe to use from several threads and from inside handlers.

    Handlers run in the thread that publishes, in the order of their subscription, whatever they subscribed
    to. No lock is held meanwhile: two threads that publish at once run handlers at once. Blind spot:
    payloads are shallow copies, so values inside them are shared.
    """

    def __init__(self) -> None:
        self._lock = Lock()
        self._subscriptions: tuple[_Subscription, ...] = ()  # replaced as a whole, never changed

    def publish(self, event_type: str, data: dict[str, Any]) -> None:
        """Give each handler of this type, and of `"*"`, its own shallow copy of `data`.

        A handler of `"*"` finds the type under `event_type` in its copy, in place of such a key in `data`.
        Those hear it who were subscribed when it began, less those unsubscribed before their turn. An event
        that a handler publishes is delivered before this one goes on to the next handler.

        Raises:
            InvalidEvent: the type is not a non-empty string or is `"*"`, or the data is not a dict.
            ExceptionGroup: what handlers raised, after all of them ran. A RecursionError (handlers that
                publish to each other without end) and what is no Exception (KeyboardInterrupt) end it at once.
        """
        _check_type(event_type)
        if event_type == EVERYTHING:
            raise InvalidEvent("bus", "an event of type '*' cannot be published", "'*' is for subscribing alone")
        if not isinstance(data, dict):
            raise InvalidEvent("bus", f"the data of {event_type!r} is a {type(data).__name__}, expected a dict")
        told = dict(data)
        errors: list[Exception] = []
        for each in self._subscriptions:
            if each.event_type not in (event_type, EVERYTHING) or each.ended:
                continue
            payload = dict(told)
            if each.event_type == EVERYTHING:
                payload["event_type"] = event_type
            try:
                each.handler(payload)
            except RecursionError:
                raise
            except Exception as error:
                errors.append(error)
        if errors:
            raise ExceptionGroup(f"bus: handlers of {event_type!r} failed", errors)

    def subscribe(self, event_type: str, handler: Listener) -> None:
        """Call `handler` with each event of this type from the next one on; twice if subscribed twice.

        Raises:
            InvalidEvent: the type is not a non-empty string, or the handler cannot be called.
        """
        _check_type(event_type)
        if not callable(handler):
            raise InvalidEvent("bus", f"the handler of {event_type!r} is a {type(handler).__name__}, not callable")
        with self._lock:
            self._subscriptions = (*self._subscriptions, _Subscription(event_type, handler))

    def unsubscribe(self, event_type: str, handler: Listener) -> None:
        """Undo the latest subscription of this handler to this type; does nothing when there is none.

        Handlers are compared with `==`, so a bound method is the same each time it is taken.
        """
        for each in reversed(self._subscriptions):
            if each.event_type == event_type and each.handler == handler and self._ended(each):
                return

    def clear(self) -> None:
        """Undo all subscriptions; events that are being delivered go to no further handler."""
        with self._lock:
            for each in self._subscriptions:
                each.ended = True
            self._subscriptions = ()

    def _ended(self, subscription: _Subscription) -> bool:
        """End a subscription; False when it had ended before."""
        with self._lock:
            if subscription.ended:
                return False
            subscription.ended = True
            self._subscriptions = tuple(each for each in self._subscriptions if each is not subscription)
            return True


class _Subscription:
    __slots__ = ("ended", "event_type", "handler")

    def __init__(self, event_type: str, handler: Listener) -> None:
        self.event_type, self.handler, self.ended = event_type, handler, False


def _check_type(event_type: object) -> None:
    if not isinstance(event_type, str) or not event_type:
        raise InvalidEvent("bus", f"the event type is {event_type!r}, expected a non-empty string")
