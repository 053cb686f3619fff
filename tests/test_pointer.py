"""JSON pointers: what is joined is taken apart again, and leads to what it names."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dowbench.pointer import follow, join, parent, split, step, upwards


@given(st.lists(st.text()))
def test_split_undoes_join(tokens):
    assert split(join("", *tokens)) == tokens


def test_tokens_are_escaped_once():
    assert join("/a", "b/c~d", 3, "") == "/a/b~1c~0d/3/"
    assert split("/~01") == ["~1"]


def test_a_pointer_is_followed_as_far_as_it_leads():
    value = {"a/b": [None, {"c": 1}]}
    assert follow(value, split("/a~1b/1/c")) == (1,)
    assert follow(value, split("/a~1b/0")) == (None,)
    assert follow(value, split("")) == (value,)
    assert follow(value, split("/a~1b/2/c")) is None


def test_upwards_ends_at_the_whole_document():
    assert list(upwards("/a/b~1c")) == ["/a/b~1c", "/a", ""]
    assert (parent("/a"), parent("")) == ("", "")


@pytest.mark.parametrize(
    ("value", "token", "found"),
    [
        ({"a": None}, "a", (None,)),
        ({"": 1}, "", (1,)),
        ({}, "a", None),
        ([5, 6], "1", (6,)),
        ([5, 6], "2", None),
        ([5, 6], "-1", None),
        ([5, 6], "\u0661", None),
        ([5, 6], "9" * 5000, None),
        ("text", "0", None),
    ],
)
def test_step(value, token, found):
    assert step(value, token) == found
