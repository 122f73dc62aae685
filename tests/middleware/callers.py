"""What tests of the model functions share: a call of either provider at a local server, and a scripted model."""

from __future__ import annotations

import json
import re
from contextlib import ExitStack

import pytest
from providers import ANTHROPIC, OPENAI, Provider, Says, serving

from context_gc import call_anthropic_with_compaction, call_openai_with_compaction

TOOL = {"type": "object", "properties": {"number": {"type": "integer"}}}
TOOLS = {
    OPENAI: lambda *names: [{"type": "function", "function": {"name": name, "parameters": TOOL}} for name in names],
    ANTHROPIC: lambda *names: [{"name": name, "input_schema": TOOL} for name in names],
}
each_provider = pytest.mark.parametrize("name", [OPENAI, ANTHROPIC])


def sdk(name):
    """The official package, or a skip."""
    package = "openai" if name == OPENAI else "anthropic"
    return pytest.importorskip(package, reason=f"the extra {package} is not installed")


class Caller:
    """Calls one provider's function at a local server."""

    def __init__(self, name, model, window=10**9):
        sdk(name)
        self.name, self.provider = name, Provider(model, window)
        self._closing = ExitStack()

    def __enter__(self):
        self.address = self._closing.enter_context(serving(self.provider))
        return self

    def __exit__(self, *_):
        self._closing.close()

    def client(self, **more):
        more = {"api_key": "k", "max_retries": 0} | more
        if self.name == OPENAI:
            return self._closing.enter_context(sdk(OPENAI).OpenAI(base_url=f"{self.address}/v1", **more))
        return self._closing.enter_context(sdk(ANTHROPIC).Anthropic(base_url=self.address, **more))

    def __call__(self, context_gc, message=None, tools=(), **more):
        call = call_openai_with_compaction if self.name == OPENAI else call_anthropic_with_compaction
        if "client" not in more:
            more["client"] = self.client()
        return call(context_gc, "model-1", message, tools=TOOLS[self.name](*tools), **more)


def in_turn(*answers):
    """A model that gives these answers one after another."""
    left = iter(answers)
    return lambda messages: next(left)


def texts_of(messages):
    """Every text that the model sees, results included, in order."""
    for message in messages:
        content = message.get("content")
        for block in [content] if isinstance(content, str) else content or ():
            if isinstance(block, str):
                yield block
            elif block["type"] == "tool_result":
                inner = block["content"]
                yield inner if isinstance(inner, str) else "\n".join(each.get("text", "") for each in inner)
            else:
                yield block.get("text", "")


class Machine:
    """A small state that tools change, and a model that can only go on from what it sees of it.

    At `asks_at` it needs a number that only an early result told, and asks receipts for it where it was cut.
    """

    FACT = "the code word is heron-417"

    def __init__(self, turns, asks_at=0, thinks=False, width=2):
        self.turns, self.asks_at, self.thinks, self.width = turns, asks_at, thinks, width
        self.state, self.number, self.log = 1, 0, []

    def run(self, name, arguments):
        self.log.append((name, json.dumps(arguments, sort_keys=True)))
        if name == "look":
            return f"looked at {arguments['number']}: " + "scenery " * 60
        assert arguments["number"] == self.number, "the model went on from another state"
        self.number += 1
        self.state = (self.state * 31 + arguments["number"] + len(arguments.get("word", ""))) % 1_000_003
        told = f" {self.FACT}" if self.number == 3 else ""
        return f"number {self.number} state {self.state}{told}\n" + f"row {self.number} of the log\n" * 40

    def model(self, messages):
        texts = list(texts_of(messages))
        seen = [found for text in texts for found in re.findall(r"^number (\d+) state", text, re.MULTILINE)]
        number = int(seen[-1]) if seen else 0
        if recovered(texts):
            number = max(map(int, seen), default=0)
        if number >= self.turns:
            return Says(texts=(f"Done at {number}.",))
        word = {}
        if self.asks_at and number == self.asks_at:
            if not any(self.FACT in text for text in texts):
                return Says(calls=(("recover_receipt", self.asked_back(messages, texts)),))
            word = {"word": "heron-417"}
        calls = [("step", {"number": number, **word})]
        calls += [("look", {"number": number // 2})] * (self.width - 1)
        return Says(texts=("Next.",) if number % 3 else (), calls=tuple(calls), thinks=self.thinks and number % 10 == 0)

    def asked_back(self, messages, texts):
        """The next page of what was asked back last, else the first receipt that was not asked back yet."""
        if more := re.search(r"call again with offset (\d+)\)$", texts[-1]):
            return {"receipt_id": self.asked, "offset": int(more[1])}
        self.asked = self.untried(messages, texts)
        return {"receipt_id": self.asked}

    @staticmethod
    def untried(messages, texts):
        shown = [found for text in texts for found in re.findall(r"(?<!\\)\[RECEIPT ([^\]]+)\]", text)]
        tried = json.dumps(messages)
        left = [each for each in dict.fromkeys(shown) if f'receipt_id": "{each}"' not in tried.replace("\\", "")]
        assert left, "no receipt leads to it"
        return left[0]


def recovered(texts):
    return any("[RECEIPT" in text for text in texts)
