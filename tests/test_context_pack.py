"""ContextPack: what is packed comes back as it was, proves itself, and holds no secret."""

from __future__ import annotations

import json
import os
import stat
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from context_gc import ContextGCError, Trace
from context_gc.canonical import canonical, digest, own
from context_gc.context_pack import ContextPack
from context_gc.credentials import PLACEHOLDER
from context_gc.errors import PackError
from context_gc.sensitive import LeftOut

SECRET = "sk-" + "ant-api03-Ab1Cd2Ef3Gh4Ij5Kl6Mn7"
CONTEXT = {
    "observations": ["read a.py", {"tool": "get", "result": {"n": 1.5, "ok": None}}],
    "compacted_summary": "\nThen, é 漢",
    "compaction_count": 2,
    "memory_keys": {"goal": "ship"},
}
TEXT = st.text(st.characters(), max_size=5)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | TEXT,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXT, inner, max_size=3),
    max_leaves=8,
)


def pack(context: dict[str, Any], **more: Any) -> ContextPack:
    return ContextPack.of_context(context, **more)


def paths(packed: ContextPack) -> list[str]:
    return [each.path for each in packed.left_out]


# there and back


def test_a_pack_is_json_that_anyone_can_check():
    packed = pack(CONTEXT)
    given = json.loads(packed.to_json(), parse_constant=pytest.fail)
    assert (given["format"], given["version"], given["kind"]) == ("context-gc pack", 1, "context")
    assert given["content"] == CONTEXT
    assert list(given["content"]) == list(CONTEXT)
    assert given["left_out"] == []
    sha256 = given.pop("sha256")
    assert sha256 == packed.sha256 == digest(given)


def test_a_file_is_for_its_owner_alone_and_gives_the_pack_back(tmp_path):
    packed = pack(CONTEXT)
    packed.save(tmp_path / "a.pack")
    packed.save(str(tmp_path / "a.pack"))
    assert stat.S_IMODE(os.stat(tmp_path / "a.pack").st_mode) == 0o600
    assert ContextPack.load(tmp_path / "a.pack") == ContextPack.load(str(tmp_path / "a.pack")) == packed
    assert [each.name for each in tmp_path.iterdir()] == ["a.pack"]


@settings(deadline=None)  # the first one compiles the globs
@given(st.dictionaries(TEXT, JSON, max_size=4))
def test_every_context_comes_back(context):
    before = canonical(context)
    packed = pack(context)
    again = ContextPack.from_json(packed.to_json())
    assert canonical(again.content) == canonical(packed.content)
    assert (again.left_out, again.sha256) == (packed.left_out, packed.sha256)
    assert canonical(context) == before
    packed.to_json().encode()


def test_what_is_packed_is_a_copy():
    context = own(CONTEXT)
    packed = pack(context)
    context["memory_keys"]["goal"] = "x"
    context["observations"].clear()
    assert packed.content == CONTEXT


def test_spaces_and_the_order_of_keys_do_not_matter():
    packed = pack(CONTEXT)
    given = json.loads(packed.to_json())
    text = "\ufeff" + json.dumps(dict(reversed(given.items())), indent=2)
    assert ContextPack.from_json(text.removeprefix("\ufeff")) == packed


def test_text_of_any_kind_comes_back(tmp_path):
    context = {
        "lone": "\ud800 \udfff",
        "halves": "\ud83d\ude00",
        "\ud83d\ude00": 1,
        "nul": "\x00\x7f\u2028",
        "big": 10**3000,
    }
    pack(context).save(tmp_path / "x")
    expected = {**context, "halves": "😀", "😀": 1}
    del expected["\ud83d\ude00"]
    assert canonical(ContextPack.load(tmp_path / "x").content) == canonical(expected)


def test_fifty_megabytes_and_any_depth_are_packed(tmp_path):
    deep: Any = []
    for _ in range(100_000):
        deep = [deep]
    packed = pack({"big": "x" * 50_000_000, "deep": deep, "token": "t"})
    packed.save(tmp_path / "x")
    again = ContextPack.load(tmp_path / "x")
    assert len(again.content["big"]) == 50_000_000
    assert again.sha256 == packed.sha256
    assert paths(again) == ["/token"]


# what is refused


def test_a_changed_byte_is_refused_or_changes_nothing(tmp_path):
    path = tmp_path / "x"
    packed = pack({"a": [1, 2.5, "é", None, True], "b": {"c": "d", "token": "t"}})
    packed.save(path)
    data = path.read_bytes()
    refused = 0
    for place in range(len(data)):
        for flip in (1, 2, 32, 128):
            path.write_bytes(data[:place] + bytes((data[place] ^ flip,)) + data[place + 1 :])
            try:
                assert ContextPack.load(path) == packed
            except PackError:
                refused += 1
    assert refused > 3.8 * len(data)
    for size in range(len(data) - 1):
        path.write_bytes(data[:size])
        with pytest.raises(PackError):
            ContextPack.load(path)


def changed(**fields: Any) -> str:
    given = json.loads(pack(CONTEXT).to_json()) | fields
    return json.dumps({key: value for key, value in given.items() if value != "gone"})


def sealed(**fields: Any) -> str:
    given = json.loads(changed(**fields))
    del given["sha256"]
    return json.dumps(given | {"sha256": digest(given)})


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("", "not JSON"),
        ("{", "not JSON"),
        ("[" * 100_000, "not JSON"),
        ("[]", "this is no pack"),
        ('"context-gc pack"', "this is no pack"),
        ('{"format": "other"}', "this is no pack"),
        ('{"format": "context-gc pack", "format": "context-gc pack"}', "the key 'format' is there twice"),
        (pack(CONTEXT).to_json() + "x", "extra data"),
        (changed(version=2), "version 2 is newer than 1"),
        (sealed(version=99), "version 99 is newer than 1"),
        (changed(version=0), "changed or damaged"),
        (changed(version=True), "changed or damaged"),
        (changed(version=1.0), "changed or damaged"),
        (changed(version="gone"), "changed or damaged"),
        (changed(sha256="gone"), "changed or damaged"),
        (changed(sha256="0" * 64), "changed or damaged"),
        (changed(sha256=None), "changed or damaged"),
        (changed(content={}), "changed or damaged"),
        (changed(content={"a": float("nan")}), "changed or damaged"),
        (changed(left_out=[{"path": "/x", "why": "y"}]), "changed or damaged"),
        (changed(more=1), "changed or damaged"),
        (sealed(kind="other"), "kind is 'other', known: context, trace"),
        (sealed(kind=["context"]), "this is no pack of version 1"),
        (sealed(content=[]), "this is no pack of version 1"),
        (sealed(content="gone"), "this is no pack of version 1"),
        (sealed(left_out=[{"path": 1, "why": "x"}]), "this is no pack of version 1"),
        (sealed(left_out=[{"path": "/x"}]), "this is no pack of version 1"),
        (sealed(left_out=None), "this is no pack of version 1"),
        (sealed(kind="trace"), "this is no pack of version 1"),
        (sealed(kind="trace", content={"events": [{"id": "a"}], "receipts": []}), "field 'timestamp' is missing"),
        (sealed(kind="trace", content={"events": 7, "receipts": []}), "this is no pack of version 1"),
        (sealed(kind="trace", content={"events": [], "receipts": [5]}), "this is no pack of version 1"),
    ],
)
def test_what_is_no_pack_was_changed_or_is_newer_is_refused(text, says):
    with pytest.raises(PackError, match=says) as caught:
        ContextPack.from_json(text, "my.pack")
    assert str(caught.value).startswith("my.pack: ")
    assert len(str(caught.value)) < 500
    assert isinstance(caught.value, ValueError)
    assert isinstance(caught.value, ContextGCError)


def test_a_file_that_cannot_be_read_or_written_is_a_pack_error(tmp_path):
    (tmp_path / "bytes").write_bytes(b"\xff\xfe\x00")
    for name in (".", "none", "bytes", "nul\0"):
        with pytest.raises(PackError) as caught:
            ContextPack.load(tmp_path / name)
        assert str(caught.value).startswith(f"{tmp_path / name}: ")
    for name in (".", "none/x", "nul\0"):
        with pytest.raises(PackError):
            pack(CONTEXT).save(tmp_path / name)


@pytest.mark.parametrize(
    "use",
    [
        lambda: pack([1]),  # type: ignore[arg-type]
        lambda: pack({"a": {1, 2}}),
        lambda: pack({1: 2}),  # type: ignore[dict-item]
        lambda: pack({}, keys="observations"),
        lambda: pack({}, release="/a"),
        lambda: pack({}, release=["a"]),
        lambda: pack({}, sensitive="password"),
        lambda: pack({}, sensitive=[1]),
        lambda: ContextPack.of_trace(Trace([], "native"), sensitive="x"),
        lambda: ContextPack.of_trace(Trace([{"id": {1}}], "native")),
    ],
)
def test_what_cannot_be_packed_is_refused(use):
    with pytest.raises(PackError):
        use()


# what is left out


def test_a_secret_at_depth_five_is_left_out_and_named_by_its_path():
    packed = pack({"a": {"b": [{"c": {"api_key": "hunter2", "n": 1}}]}, "x": f"see {SECRET}"})
    assert packed.content == {"a": {"b": [{"c": {"n": 1}}]}, "x": "see [left out]"}
    assert packed.left_out == (
        LeftOut("/a/b/0/c/api_key", "its name is sensitive"),
        LeftOut("/x", "a credential in its text"),
    )
    assert "hunter2" not in packed.to_json()
    assert SECRET not in packed.to_json()


def test_only_the_named_keys_are_packed_and_a_named_key_lets_no_secret_through():
    context = {"config": {"token": "t", "n": 1}, "api_token": "u", "note": SECRET, "memory_keys": {}, "x": 1}
    packed = pack(context, keys=["config", "api_token", "note", "memory_keys", "absent"])
    assert packed.content == {"config": {"n": 1}, "memory_keys": {}}
    assert paths(packed) == ["/x", "/config/token", "/api_token", "/note"]
    assert packed.left_out[0].why == "it was not asked for"


def test_a_secret_is_packed_when_its_exact_path_is_released():
    context = {"config": {"token": "t", "secret": "s"}, "note": SECRET}
    packed = pack(context, keys=["config"], release=["/config/token", "/note"])
    assert packed.content == {"config": {"token": "t"}}
    assert pack(context, release=["/note"]).content == {"config": {}, "note": SECRET}


def test_the_globs_are_the_users():
    assert pack({"pin": "x", "password": "y"}, sensitive=["pin"]).content == {"password": "y"}
    assert pack({"pin": "x", "password": "y"}, sensitive=()).content == {"pin": "x", "password": "y"}


def test_what_json_cannot_say_is_left_out():
    packed = pack({"a": float("nan"), "b": [float("inf"), 1, -float("inf")], "c": 10**6_000, "d": 1e300})
    assert packed.content == {"b": [PLACEHOLDER, 1, PLACEHOLDER], "d": 1e300}
    assert packed.left_out == tuple(LeftOut(path, "JSON has no such number") for path in ("/a", "/b/0", "/b/2", "/c"))
