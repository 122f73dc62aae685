"""Sensitive: what must not leave is left out at any depth and named by its path, all else stays."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from context_gc.canonical import canonical, own
from context_gc.credentials import PLACEHOLDER
from context_gc.sensitive import SENSITIVE_KEYS, LeftOut, is_sensitive, leave_out

SECRET = "sk-" + "ant-api03-Ab1Cd2Ef3Gh4Ij5Kl6Mn7"
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text("ab \ud800é/~", max_size=4),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text("abc/~", max_size=3), inner, max_size=3),
    max_leaves=8,
)


def paths(found: list[LeftOut]) -> list[str]:
    return [each.path for each in found]


@pytest.mark.parametrize(
    "name",
    """key api_key apiKey API_KEY X-Api-Key APIKey apikey OPENAI_API_KEY aws_secret_access_key api_keys private_key
    privateKeyPem session_key signing.key encryption-key token access_token accessToken refreshToken GITHUB_TOKEN
    csrf_token secret client_secret SecretKey password Password user_password passwd DB_PWD passphrase authorization
    Authorization proxy-authorization cookie Set-Cookie cookies credential credentials awsCredentials auth basic_auth
    jwt bearer_token connectionString""".split(),
)
def test_names_of_secrets_are_sensitive(name):
    assert is_sensitive(name)


@pytest.mark.parametrize(
    "name",
    """memory_keys keys keywords keyboard monkey turkey primary_key primaryKey foreign_key sort_key public_key
    cache_key key_points keyFindings key_files tokenizer tokenization token_type eos_token author authors
    authored_by secretary passed passed_count compass session_id user path content value name id arguments
    project_instructions plan_contract run_id observations compacted_summary""".split(),
)
def test_ordinary_names_are_not(name):
    assert not is_sensitive(name)


def test_the_globs_are_the_users():
    assert not is_sensitive("password", ("*pin*",))
    assert is_sensitive("userPIN", ("*pin*",))
    assert is_sensitive("user-pin", ("User-PIN",))
    assert not is_sensitive("pinned", ("*pin*", "!pinned"))
    assert not is_sensitive("password", ())
    assert leave_out({"pin": "x", "password": "y"}, (*SENSITIVE_KEYS, "pin"))[0] == {}


def test_a_name_of_any_length_is_judged_by_its_ends():
    assert is_sensitive("x" * 10_000_000 + "_password")
    assert not is_sensitive("x" * 10_000_000)


@pytest.mark.parametrize(
    ("value", "expected", "left_out"),
    [
        ({"a": [{"b": {"c": [{"password": "x"}]}}]}, {"a": [{"b": {"c": [{}]}}]}, ["/a/0/b/c/0/password"]),
        ({"credentials": {"user": "u", "n": 1}}, {}, ["/credentials"]),
        ({"cookies": ["a", "b"], "x": 1}, {"x": 1}, ["/cookies"]),
        ({"pin": 1234, "password": 1234}, {"pin": 1234}, ["/password"]),
        ([SECRET, "x"], [PLACEHOLDER, "x"], ["/0"]),
        ({"note": SECRET}, {}, ["/note"]),
        ({"note": f"use {SECRET} now"}, {"note": "use [left out] now"}, ["/note"]),
        ({f"{SECRET}": 1, "x": 2}, {"x": 2}, ["/[left out]"]),
        ({f"{SECRET}": {"token": "t"}}, {}, ["/[left out]"]),
        ({"a/b": {"~": {"secret": "x"}}}, {"a/b": {"~": {}}}, ["/a~1b/~0/secret"]),
        ({"args": '{"token": "t", "n": 1}'}, {"args": '{"n": 1}'}, ["/args/token"]),
        ({"args": ['[{"args": "{\\"token\\": \\"t\\"}"}]']}, {"args": ['[{"args": "{}"}]']}, ["/args/0/0/args/token"]),
        ({"args": '{"token": "a", "token": 1}'}, {"args": '{"token": "[left out]", "token": 1}'}, ["/args"]),
        ({"args": '{"token": "a", '}, {"args": '{"token": "[left out]", '}, ["/args"]),
    ],
)
def test_secrets_are_left_out_at_any_depth_and_named_by_path(value, expected, left_out):
    clean, found = leave_out(own(value))
    assert clean == expected
    assert paths(found) == left_out
    assert SECRET not in repr(found)


@pytest.mark.parametrize(
    "value",
    [
        {"max_tokens": 4096, "token_count": 7, "tokens_saved": 0, "tokens": 12, "input_tokens": 1.5},
        {"usage": {"input_token_details": {"cached": 5}, "output_tokens": "12"}},
        {"password": None, "token": "", "secret": False, "has_password": True, "cookies": []},
        {"memory_keys": {"goal": "x"}, "keywords": ["a"], "key_points": ["b"]},
        {"args": '{ "b": 1,   "a": [2] }'},
        {"key": "color", "value": "red"},
        {"text": "a token, a key and a password"},
        [1, None, "x", {}],
        "text",
        {"memory": "[left out]", "password": "[left out]"},
    ],
)
def test_what_is_no_secret_is_left_alone(value):
    assert leave_out(own(value)) == (value, [])


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ({"key": "API_TOKEN", "value": "x"}, {"key": "API_TOKEN", "value": PLACEHOLDER}),
        ({"name": "DB_PASSWORD", "value": {"a": 1}}, {"name": "DB_PASSWORD", "value": PLACEHOLDER}),
        ({"Name": "Authorization", "Value": "x"}, {"Name": "Authorization", "Value": PLACEHOLDER}),
        ({"key": "max_tokens", "value": 5}, {"key": "max_tokens", "value": 5}),
        ({"key": "color", "value": SECRET}, {"key": "color", "value": PLACEHOLDER}),
        ({"key": ["x"], "value": "y"}, {"key": ["x"], "value": "y"}),
        ({"key": "x", "other": "y"}, {"other": "y"}),
    ],
)
def test_a_value_goes_by_the_name_beside_it(value, expected):
    clean, found = leave_out(own(value))
    assert clean == expected
    assert len(found) == (value != clean)


def test_flags_and_numbers_stay_below_a_name_that_counts_and_texts_do_not():
    value = {"tokens": {"input": 5, "cached": True, "by": ["x", 7, "1,024"], "secret": 9}}
    clean, found = leave_out(value)
    assert clean == {"tokens": {"input": 5, "cached": True, "by": [PLACEHOLDER, 7, "1,024"]}}
    assert paths(found) == ["/tokens/by/0", "/tokens/secret"]


def test_a_released_value_stays_and_only_that():
    value = {"a": {"token": "t", "secret": {"token": "u", "n": 1}}, "b~/c": [SECRET, SECRET], "token": "v"}
    clean, found = leave_out(own(value), release=["/a/token", "/a/secret", "/b~0~1c/1"])
    assert clean == {"a": {"token": "t", "secret": {"n": 1}}, "b~/c": [PLACEHOLDER, SECRET]}
    assert paths(found) == ["/a/secret/token", "/b~0~1c/0", "/token"]


def test_the_path_of_something_deep_is_cut_in_its_middle():
    value: Any = {"token": "t"}
    for number in range(100):
        value = {f"n{number}": value}
    (found,) = leave_out(value)[1]
    assert found.path.startswith("/n99/n98/")
    assert found.path.endswith("/…/n8/n7/n6/n5/n4/n3/n2/n1/n0/token")
    value = [[]]
    for _ in range(41):
        value = [value, {"token": "t"}]
    assert all(len(each.path) < 120 for each in leave_out(value)[1])


def test_any_depth_and_many_secrets_take_linear_time():
    value: Any = {}
    for _ in range(30_000):
        value = {"token": "t", "next": [value]}
    clean, found = leave_out(value)
    assert len(found) == 30_000
    assert canonical(clean).count("next") == 30_000
    assert "token" not in canonical(clean)


@given(JSON, st.sampled_from(["password", "apiKey", "X-Auth-Token"]), st.integers(0, 50))
def test_a_secret_never_stays_wherever_it_is(value, name, at):
    holders = [each for each in walk(value) if type(each) is dict]
    if not holders:
        value = {"x": value}
        holders = [value]
    holders[at % len(holders)][name] = "hunter2"
    clean, found = leave_out(own(value))
    assert "hunter2" not in canonical(clean)
    assert [each.path.rpartition("/")[2] for each in found] == [name]
    assert leave_out(own(clean)) == (clean, [])
    del holders[at % len(holders)][name]
    assert canonical(clean) == canonical(value)


def walk(value: Any) -> list[Any]:
    inner = value.values() if type(value) is dict else value if type(value) is list else ()
    return [value, *(each for part in inner for each in walk(part))]


def test_a_json_text_without_secrets_is_not_rewritten():
    text = json.dumps({"b": 1, "a": [1.50, "é"]}, indent=3)
    assert leave_out([text]) == ([text], [])
