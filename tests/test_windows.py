"""Windows: the context window of a model by its name, and no guess for one that is not known."""

from __future__ import annotations

import pytest

from context_gc import InvalidPolicy
from context_gc.windows import window_of


@pytest.mark.parametrize(
    ("model", "tokens"),
    [
        ("claude-3-5-sonnet-20241022", 200_000),
        ("claude-sonnet-4-20250514", 200_000),
        ("claude-opus-4-1", 200_000),
        ("claude-opus-4-5-20251101", 200_000),
        ("claude-opus-4-6", 1_000_000),
        ("claude-opus-4-10", 200_000),
        ("claude-haiku-4-5-20251001", 200_000),
        ("us.anthropic.claude-sonnet-4-5-v1:0", 200_000),
        ("claude-instant-1.2", 100_000),
        ("claude-sonnet-4-5[1m]", 1_000_000),
        ("gpt-4o-mini", 128_000),
        ("gpt-4.1", 1_000_000),
        ("gpt-5", 400_000),
        ("gpt-5-2025-08-07", 400_000),
        ("gpt-5-codex", 400_000),
        ("gpt-5.1-codex", 400_000),
        ("openai/gpt-5.2", 400_000),
        ("gpt-5.4", 1_000_000),
        ("gpt-5.4-mini", 400_000),
        ("o3", 200_000),
        ("o1-mini", 128_000),
        ("openai/o4-mini", 200_000),
        ("gemini-2.5-pro", 1_000_000),
        ("deepseek/deepseek-v3.2", 128_000),
        ("moonshotai/kimi-k2-0711-preview", 131_072),
        ("kimi-k2-thinking", 262_144),
    ],
)
def test_known_models_have_their_published_window(model, tokens):
    assert window_of(model) == tokens
    assert window_of(f" {model.upper()} ") == tokens


@pytest.mark.parametrize("model", ["", "model", "llama-3-70b", "gpt-3.5-turbo-instruct", "proto1", "demo3", "foo4-bar"])
def test_an_unknown_model_is_an_error_that_names_it_and_what_to_do(model):
    with pytest.raises(InvalidPolicy) as caught:
        window_of(model)
    assert repr(model) in str(caught.value)
    assert "give max_tokens" in str(caught.value)
