"""Policy: frozen, checked, and the same after a trip through TOML."""

from __future__ import annotations

from dataclasses import FrozenInstanceError, fields, replace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from notation import trace

from context_gc import Budget, ContextGCError, InvalidPolicy, Policy, compact_events
from context_gc.policy import DEFAULT_STAGES, KNOWN_STAGES, STUBS


def test_the_defaults_are_the_documented_ones():
    policy = Policy()
    assert policy.stages == ("dead-branches", "overrides", "duplicates", "cycles")
    assert policy.protect_types == ("requirement", "constraint")
    assert policy.protect_importance == ("critical",)
    assert policy.protect_tags == ("user",)
    assert (policy.protect_tools, policy.protect_paths, policy.protect_ids) == ((), (), ())
    assert (policy.override_scope, policy.stubs) == ("trace", "always")


def test_a_policy_never_changes():
    with pytest.raises(FrozenInstanceError):
        Policy().stubs = "none"  # type: ignore[misc]
    tags = ["a"]
    policy = Policy(protect_tags=tags)  # type: ignore[arg-type]
    tags.append("b")
    assert policy.protect_tags == ("a",)
    assert hash(policy) == hash(Policy(protect_tags=("a",)))


@pytest.mark.parametrize(
    ("given", "says"),
    [
        ({"stages": ["overides"]}, "'overides'"),
        ({"stages": "overrides"}, "expected a list of strings"),
        ({"stages": ["overrides", 1]}, "expected a list of strings"),
        ({"protect_types": ["wish"]}, "'wish'"),
        ({"protect_importance": ["high"]}, "'high'"),
        ({"protect_tags": "user"}, "expected a list of strings"),
        ({"protect_tags": None}, "expected a list of strings"),
        ({"stubs": "short"}, "always, worthwhile, described, none"),
        ({"stubs": ["always"]}, "expected a string"),
        ({"stubs": True}, "expected a string"),
        ({"override_scope": "branch"}, "trace, path"),
        ({"counter": "gpt"}, "'gpt'"),
        ({"stub": "always"}, "unknown key 'stub'"),
    ],
)
def test_a_wrong_value_is_an_error_that_names_it_and_what_is_known(given, says):
    with pytest.raises(InvalidPolicy) as caught:
        Policy.from_mapping(given)
    assert says in str(caught.value)
    assert isinstance(caught.value, ValueError)
    assert isinstance(caught.value, ContextGCError)


TEXTS = st.lists(st.text(st.characters(exclude_categories=("Cs",))), max_size=3)


@given(
    st.fixed_dictionaries(
        {},
        optional={
            "stages": st.lists(st.sampled_from(KNOWN_STAGES)),
            "protect_types": st.lists(st.sampled_from(("requirement", "decision"))),
            "protect_tags": TEXTS,
            "protect_tools": TEXTS,
            "side_effects": TEXTS,
            "stubs": st.sampled_from(STUBS),
            "override_scope": st.sampled_from(("trace", "path")),
            "counter": st.sampled_from(("claude", "chars4")),
        },
    )
)
def test_toml_gives_an_equal_policy_back(given):
    policy = Policy.from_mapping(given)
    assert Policy.from_toml(policy.to_toml()) == policy


def test_toml_names_every_field():
    policy = Policy(budget=Budget(1_000, min_gain=1, max_prompt_tokens=9, expected_calls=9))
    plain, _, budget = policy.to_toml().partition("[budget]\n")
    assert [line.partition(" = ")[0] for line in plain.splitlines() if line] == [
        each.name for each in fields(Policy) if each.name != "budget"
    ]
    assert [line.partition(" = ")[0] for line in budget.splitlines()] == [each.name for each in fields(Budget)]
    assert Policy.from_toml(policy.to_toml()) == policy


def test_toml_that_leaves_fields_out_has_their_defaults():
    assert Policy.from_toml("") == Policy()
    assert Policy.from_toml('stubs = "none"') == replace(Policy(), stubs="none")


@pytest.mark.parametrize("text", ["stubs = ", "[budget]\nx = 1", "stubs = 1", 'stages = "x"', "a = " + "[" * 100_000])
def test_bad_toml_is_an_error_that_says_where(text):
    with pytest.raises(InvalidPolicy, match=r"^my\.toml: "):
        Policy.from_toml(text, "my.toml")


def test_a_file_is_read_with_or_without_a_byte_order_mark(tmp_path):
    path = tmp_path / "policy.toml"
    for start in (b"", b"\xef\xbb\xbf"):
        path.write_bytes(start + 'protect_tags = ["ü"]'.encode())
        assert Policy.load(path).protect_tags == ("ü",)


@pytest.mark.parametrize("content", [None, b"\xff\xfe", b"stubs = 'x'"])
def test_a_file_that_cannot_be_used_is_an_error_that_names_it(tmp_path, content):
    path = tmp_path / "policy.toml"
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(InvalidPolicy) as caught:
        Policy.load(path)
    assert str(caught.value).startswith(str(path))


@pytest.mark.parametrize(
    "tool", ["send_mail", "Write", "EDIT", "mcp__files__write_text", "mail.send", "Bash", "str_replace"]
)
def test_tools_that_act_are_side_effects(tool):
    assert Policy().is_side_effect(tool)


@pytest.mark.parametrize(
    "tool", ["get", "read_file", "Grep", "ls", "search_send", "web.fetch", "resend_status", "Read"]
)
def test_tools_that_ask_are_none(tool):
    assert not Policy().is_side_effect(tool)


def test_the_list_of_side_effects_is_the_users():
    text = "c1 call roll_dice\nr1 result c1 6\nc2 call roll_dice\nr2 result c2 6"
    assert compact_events(trace(text))["pruned_ids"] == ["c2", "r2"]
    assert compact_events(trace(text), Policy(side_effects=("roll_*",)))["pruned_ids"] == []
    sent = text.replace("roll_dice", "send_ping")
    assert compact_events(trace(sent), Policy(side_effects=()))["pruned_ids"] == ["c2", "r2"]


@pytest.mark.parametrize(
    ("policy", "kept"),
    [
        ({}, []),
        ({"protect_ids": ["c"]}, ["c", "r", "z"]),
        ({"protect_tools": ["Read*"]}, ["c", "r", "z"]),
        ({"protect_tools": ["write*"]}, []),
        ({"protect_paths": ["src/*.py"]}, ["c", "r", "e", "z"]),
        ({"protect_paths": ["docs/*"]}, []),
        ({"protect_tags": ["pin"]}, ["d", "z"]),
        ({"protect_types": ["file_edit"]}, ["e", "z"]),
        ({"protect_importance": ["debug"]}, ["d", "z"]),
    ],
)
def test_a_policy_protects_what_it_names_and_nothing_else(policy, kept):
    text = 'a decision try\nc call read_file {"path": "src/a.py"}\nr result c text\n'
    text += "e edit src/b.py\nd decision x #pin !debug\nz abandon a"
    result = compact_events(trace(text), Policy.from_mapping(policy))
    assert [event["id"] for event in result["compact_events"]] == kept


def test_without_stages_nothing_is_cut():
    events = trace("a x = 1\nb x = 2\nz abandon b")
    assert compact_events(events, Policy(stages=()))["compact_events"] == events
    assert DEFAULT_STAGES
