"""Protection: what keeps an event in the prompt whatever the stages find."""

from __future__ import annotations

from collections.abc import Mapping

from .events import PLAIN_SIZE, Event
from .policy import Policy, matches
from .semantics import path_of


def protection(event: Event, policy: Policy) -> str | None:
    """What protects an event for good, such as "importance=critical"; None when nothing does."""
    kind = event["type"]
    if kind in policy.protect_types:
        return f"type={kind}"
    if len(event) > PLAIN_SIZE[kind]:
        if event.get("importance") in policy.protect_importance:
            return f"importance={event['importance']}"
        for tag in event.get("tags") or () if policy.protect_tags else ():
            if tag in policy.protect_tags:
                return f"tag={tag}"
    if policy.protect_ids and event["id"] in policy.protect_ids:
        return f"id={event['id']}"
    if policy.protect_tools and "tool_name" in event and matches(policy.protect_tools, event["tool_name"]):
        return f"tool={event['tool_name']}"
    if policy.protect_paths:
        path = path_of(event)
        if path is not None and matches(policy.protect_paths, path):
            return f"path={path}"
    return None


def retention(event: Event, seq: int, ended: Mapping[str, int]) -> str | None:
    """`retain_until=…` while its scope lasts: `ended` maps a scope to the place up to which it has ended."""
    until = event.get("retain_until")
    if until is None or seq < ended.get(until, 0):
        return None
    return f"retain_until={until}"
