"""What holds for every name."""

from hypothesis import given
from hypothesis import strategies as st

from dowbench.words import find, split

WORD = st.from_regex(r"[a-z]{2,8}", fullmatch=True)
WORDS = st.lists(WORD, min_size=1, max_size=5)


@given(st.text())
def test_words_hold_every_letter_and_digit_in_order_and_nothing_else(name: str) -> None:
    words = split(name)
    assert all(word and word == word.lower() and not word.isspace() for word in words)
    if name.isascii():
        assert "".join(words) == "".join(filter(str.isalnum, name)).lower()


@given(WORDS)
def test_every_convention_gives_the_same_words(words: list[str]) -> None:
    camel = words[0] + "".join(word.capitalize() for word in words[1:])
    pascal = "".join(word.capitalize() for word in words)
    for name in ("_".join(words), "-".join(words), ".".join(words), "_".join(words).upper(), camel, pascal):
        assert split(name) == tuple(words)


@given(WORDS, st.data())
def test_a_run_of_words_is_found_where_it_stands(words: list[str], data: st.DataObject) -> None:
    start = data.draw(st.integers(0, len(words) - 1))
    end = data.draw(st.integers(start + 1, len(words)))
    found = find(words, words[start:end])
    assert found is not None
    assert found <= start
    assert words[found : found + end - start] == words[start:end]
