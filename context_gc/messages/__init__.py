"""Messages: what a compaction leaves of a conversation, as the messages of a provider's request.

The rules, the same for every provider:

- A message whose events are all cut goes, and the results of its calls with it. Its stub stands in its place
  on the user's side: at the end of the result before it, else as a text of the user. A stub never stands
  between a call and its result, and never in the assistant's words, which a model would imitate.
- In a message that stays a cut call stays too, under its id, so that the model still sees itself call tools.
  Its result is the stub; long values in its arguments are a stub each. A cut text goes.
- What a provider checks (signed thinking, server tools) is exact, or gone as a whole message; it is never
  gone within the last tool loop or from the latest answer of the model.
- Nothing else changes: no id, no order, no block; what nothing was cut from is equal to what came in, but for
  text of users and tools that would forge a stub: it gets a backslash, as in the prompt.

Every stub of the prompt is in the messages; results beyond the first of a stub show their own receipt.
"""

from __future__ import annotations

from .anthropic import AnthropicMessages
from .dialect import Dialect, Request
from .layout import compacted, whole
from .openai import OpenAIChat
from .responses import OpenAIResponses

__all__ = ["DIALECTS", "AnthropicMessages", "Dialect", "OpenAIChat", "OpenAIResponses", "Request", "compacted", "whole"]

#: each provider's way to write messages, by the name of its format
DIALECTS: dict[str, Dialect] = {each.name: each for each in (OpenAIChat(), AnthropicMessages(), OpenAIResponses())}
