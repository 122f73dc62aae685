"""Every error of context-gc. Each is also the built-in error that a caller would expect.

    ContextGCError
    ├── InvalidEvent (ValueError)        an event breaks the schema
    │   ├── DuplicateEvent               its id is already in the trace
    │   └── UnknownParent                its parent_id names nothing that came before it
    ├── InvalidPolicy (ValueError)       a policy field is unknown, of a wrong type or out of range
    ├── UnknownReceipt (KeyError)        no receipt has this id
    │   └── NotPruned                    the id is a live event: there is nothing to recover
    ├── InvalidMessages (ValueError)     a message is none that its provider takes
    ├── InvalidContext (ValueError)      a key of a context dict has a wrong type
    ├── MissingExtra (ImportError)       a package that an extra installs is not there
    ├── StoreError                       a receipt store cannot be opened, read or written
    ├── SessionError (ValueError)        a session file or a run directory is damaged, or is not one
    ├── PackError (ValueError)           a pack is damaged, was changed, or is newer than what is read here
    └── TraceError (ValueError)          a trace cannot be read
        ├── UnknownFormat                no importer recognises it
        └── AmbiguousFormat              more than one importer claims it

A message reads `where: what is wrong (what to do)`; the parts are attributes.
"""

from __future__ import annotations


class ContextGCError(Exception):
    """Raised when context-gc refuses an input. `where`, `what` and `todo` are the parts of its text."""

    def __init__(self, where: str, what: str, todo: str = "") -> None:
        self.where, self.what, self.todo = where, what, todo
        super().__init__(where, what, todo)

    def __str__(self) -> str:
        text = f"{self.where}: {self.what}" + (f" ({self.todo})" if self.todo else "")
        return text.encode("utf-8", "backslashreplace").decode("utf-8")


class InvalidEvent(ContextGCError, ValueError):
    """Raised when an event breaks the schema. Names the `event_id`, the `field` and what was `expected`."""

    def __init__(
        self, where: str, what: str, todo: str = "", *, event_id: object = None, field: str = "", expected: str = ""
    ) -> None:
        super().__init__(where, what, todo)
        self.event_id, self.field, self.expected = event_id, field, expected


class DuplicateEvent(InvalidEvent):
    """Raised when an event's id is already in the trace."""


class UnknownParent(InvalidEvent):
    """Raised when `parent_id` names an event that is not there, or the event itself."""


class InvalidPolicy(ContextGCError, ValueError):
    """Raised when a policy field is unknown, of a wrong type or out of range."""


class UnknownReceipt(ContextGCError, KeyError):
    """Raised when no receipt has the id that was asked for."""


class NotPruned(UnknownReceipt):
    """Raised when a receipt is asked for an event that is still in the prompt."""


class InvalidMessages(ContextGCError, ValueError):
    """Raised when a list of messages cannot be read. Its `where` names the message by its place, from 0."""


class InvalidContext(ContextGCError, ValueError):
    """Raised when a key of a context dict has a wrong type."""


class MissingExtra(ContextGCError, ImportError):
    """Raised when a function needs a package that an extra of context-gc installs."""


class StoreError(ContextGCError):
    """Raised when a receipt store cannot be opened, read or written."""


class SessionError(ContextGCError, ValueError):
    """Raised when a session file or a run directory is damaged, or is not one."""


class PackError(ContextGCError, ValueError):
    """Raised when a pack is damaged, was changed, or is newer than what is read here."""


class TraceError(ContextGCError, ValueError):
    """Raised when a trace cannot be read."""


class UnknownFormat(TraceError):
    """Raised when no importer recognises a file."""


class AmbiguousFormat(TraceError):
    """Raised when more than one importer claims a file."""
