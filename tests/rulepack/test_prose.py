"""Descriptions as sentences and words."""

from itertools import pairwise

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from dowbench.phrases import MAX_GAP, PhraseError, Phrases
from dowbench.prose import Hit, Mentions, sentences
from dowbench.words import split


def words(text):
    return [" ".join(sentence.words) for sentence in sentences(text)]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("One. Two! Three?", ["one", "two", "three"]),
        ("Returns rows, e.g. users. Then stops.", ["returns rows eg users", "then stops"]),
        ("Use v1.2 of example.com now.", ["use v 1 2 of example com now"]),
        ("A line\nthat goes on.\nAnother line", ["a line that goes on", "another line"]),
        ("Steps:\n- first\n- Second one\n1. third", ["steps", "first", "second one", "third"]),
        ("Nuts, bolts etc. If none, wait", ["nuts bolts etc", "if none wait"]),
        ("Nuts, etc. are here", ["nuts etc are here"]),
        ("Ask until\n`state` is `done`\n`other` line", ["ask until state is done", "other line"]),
        (
            "\n    A line that\n    goes on.\n\n    Args:\n        name: a part\n",
            ["a line that goes on", "args", "name a part"],
        ),
        ("Para\n\npara", ["para", "para"]),
        ("don't, can't, won’t, it's", ["do not can not will not it"]),
        ("2,000 rows or 10_000 or 3.5", ["2000 rows or 10000 or 3 5"]),
        ("web_search, nextCursor, GitHub, base64", ["web search next cursor github base 64"]),
        ("Größe der Straße", ["größe der straße"]),
        ("0A_ and _ and 1_", ["0 a and and 1"]),
        ("", []),
        ("... !!! ---", []),
    ],
)
def test_sentences(text, expected):
    assert words(text) == expected


@given(st.text(max_size=200))
def test_every_word_has_its_place(text):
    for sentence in sentences(text):
        assert len(sentence.words) == len(sentence.places) == len(sentence.clauses)
        assert all(0 <= start < end <= len(text) for start, end in sentence.places)
        assert list(sentence.clauses) == sorted(sentence.clauses)
        assert all(clause <= i for i, clause in enumerate(sentence.clauses))
        assert all(word and word == word.lower() for word in sentence.words)


@pytest.mark.parametrize(
    ("text", "negated"),
    [
        ("Does not return all rows.", True),
        ("Never return all rows.", True),
        ("It is done without having to return all rows.", True),
        ("This cannot return all rows.", True),
        ("Not sorted, return all rows.", False),
        ("It is not slow because we return all rows.", False),
        ("Not only return all rows.", False),
        ("No more than one call to return all rows.", False),
        ("Nothing that the caller could do would make this tool return all rows.", False),
        ("Return all rows, not some.", False),
    ],
)
def test_negation_is_in_the_clause_and_near(text, negated):
    (sentence,) = sentences(text)
    hit = Phrases.compile(["return all rows"]).find(sentence.words)
    assert hit is not None
    assert sentence.negated(hit) == negated


@pytest.mark.parametrize(
    ("text", "identifier"),
    [("Set include_all_text here.", True), ("It will include all text.", False), ("See include_all text.", False)],
)
def test_an_identifier_says_nothing(text, identifier):
    (sentence,) = sentences(text)
    hit = Phrases.compile(["include all text"]).find(sentence.words)
    assert sentence.is_identifier(hit) == identifier


def test_a_hit_is_quoted_as_it_was_written():
    (sentence,) = sentences("Please  Call\n it_now Again.")
    hit = Phrases.compile(["call ... again"]).find(sentence.words)
    assert hit == Hit(1, 5)
    assert sentence.quote(hit) == "Call it_now Again"


def test_a_gap_has_an_end():
    phrases = Phrases.compile(["a ... b"])
    assert phrases.find(["a", *["x"] * MAX_GAP, "b"]) == Hit(0, MAX_GAP + 2)
    assert phrases.find(["a", *["x"] * (MAX_GAP + 1), "b"]) is None
    assert phrases.find(["a", "b"]) == Hit(0, 2)


def test_lists_inside_phrases_try_every_entry():
    lists = {"step": Phrases.compile(["step", "step of work"])}
    phrases = Phrases.compile(["after each $step again", "$step first"], lists)
    assert phrases.find(["after", "each", "step", "of", "work", "again"]) == Hit(0, 6)
    assert phrases.find(["after", "each", "step", "again"]) == Hit(0, 4)
    assert phrases.find(["a", "step", "first"]) == Hit(1, 3)
    assert phrases.find(["after", "each", "step", "of", "again"]) is None


def test_a_list_as_an_entry_adds_its_phrases():
    lists = {"verbs": Phrases.compile(["get", "look up"])}
    assert Phrases.compile(["find", "$verbs"], lists).texts == ("find", "get", "look up")


@pytest.mark.parametrize(
    ("entry", "message"),
    [
        ("", "is no phrase"),
        ("...", "is no phrase"),
        ("a ...", "must begin and end with a word"),
        ("a ... b ... c ... d", "has more than 2 gaps"),
        ("$x", "unknown word list `$x`"),
        ("A", "`A` is no word"),
        ("a-b", "`a-b` is no word"),
        ("a_b", "`a_b` is no word"),
        ("don't", "is no word"),
    ],
)
def test_what_is_no_phrase(entry, message):
    with pytest.raises(PhraseError) as error:
        Phrases.compile(["fine", entry])
    assert message in str(error.value)
    assert error.value.index == 1


@pytest.mark.parametrize(
    ("own", "text", "expected"),
    [
        ("read_page", "Call read_page again.", ["call this tool again"]),
        ("readPage", "Call `readPage` again.", ["call this tool again"]),
        ("readPage", "Call read_page again.", ["call read page again"]),
        ("read", "Can read files.", ["can read files"]),
    ],
)
def test_the_tools_own_name_reads_as_this_tool(own, text, expected):
    assert [" ".join(sentence.words) for sentence in sentences(text, own)] == expected


@pytest.mark.parametrize(
    ("name", "text", "named"),
    [
        ("user_notes", "Put it into user_notes.", True),
        ("user_notes", "Put it into user notes.", False),
        ("notes", "Put it into `notes`.", True),
        ("notes", 'Put it into "notes".', True),
        ("notes", "Takes notes.", False),
        ("notes", "notes are taken.", False),
    ],
)
def test_a_sentence_names_an_identifier(name, text, named):
    (sentence,) = sentences(text)
    assert bool(Mentions([sentence]).of(name)) == named


PARTS = [
    "don't",
    "Won't",
    "isn’t",
    "user's",
    "e.g.",
    "i.e.",
    "approx.",
    "getURLs",
    "web_search",
    "2,000",
    "GitHub",
    "Ⅷ",
    "—",
]


def _can_be_sought(word: str) -> bool:
    """Whether a phrase may have the word: some signs for numbers are letters to Python, and words to nobody."""
    return word.isalnum() and word == word.lower() and bool(split(word))


@given(st.one_of(st.text(), st.text(st.characters(max_codepoint=127)), st.lists(st.sampled_from(PARTS)).map(" ".join)))
@example("𐦼")
def test_every_text_with_a_phrase_is_worth_reading_for_it(text):
    lists = {"list": Phrases.compile(["zzz", *(w for s in sentences(text) for w in s.words if _can_be_sought(w))])}
    for sentence in sentences(text):
        known = [word for word in sentence.words if _can_be_sought(word)]
        for first, second in pairwise(known):
            for phrase in (first, f"{first} {second}", f"{first} ... {second}", f"{first} $list", "$list"):
                phrases = Phrases.compile([phrase], lists)
                assert phrases.find(sentence.words) is None or phrases.may_be_in(text), phrase


def test_a_text_without_any_word_of_a_phrase_is_not_read_for_it():
    phrases = Phrases.compile(["all of $things", "word for word"], {"things": Phrases.compile(["pages", "rows"])})
    assert not phrases.may_be_in("The label of all of it.")
    assert phrases.may_be_in("Gets all of the Pages.")
    assert phrases.may_be_in("Größe")


def test_only_a_line_break_looks_over_the_indent() -> None:
    class Counted(str):
        taken = 0

        def __getitem__(self, key):
            part = super().__getitem__(key)
            Counted.taken += len(part)
            return part

    text = Counted("One. " * 500 + "One\n" + " " * 5_000 + "and two. Three.\n" + " " * 5_000 + "Four.")
    assert [" ".join(s.words) for s in sentences(text)][-3:] == ["one and two", "three", "four"]
    assert 500 < Counted.taken < 2 * len(text)


def test_elements_end_a_sentence_and_are_no_words() -> None:
    text = (
        "<summary>Finds parts</summary>\n<returns>\n<description>The <b>list</b> of <name>.</description>\n</returns>"
    )
    found = sentences(text)
    assert [s.words for s in found] == [("finds", "parts"), ("returns",), ("the", "list", "of", "name")]
    assert found[2].quote(Hit(0, 4)) == "The <b>list</b> of <name"
