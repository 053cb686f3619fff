"""The words that decide, taken from the lexicon of the rule pack."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cached_property
from typing import Any, TypeVar

from dowbench.result.english import ACTS, Act, Verbs
from dowbench.words import split

T = TypeVar("T")
_RUN_TOGETHER = ("limit_names", "count_names", "cursor_names", "page_names", "offset_names")
Lexicon = Mapping[str, tuple[str, ...]]
"""List name → phrases, in lower case, a space between their words."""


class Vocabulary(dict[str, frozenset[str]]):
    """Lists of the lexicon as sets: of single words, or of whole names with a space between their words.

    A list that the lexicon does not have is empty.
    """

    def __init__(self, lexicon: Lexicon) -> None:
        super().__init__()
        self.lexicon = lexicon
        self._known: dict[tuple[Callable[..., Any], str], Any] = {}

    def __missing__(self, name: str) -> frozenset[str]:
        found = self[name] = frozenset(self.lexicon.get(name, ()))
        return found

    def words(self, name: str) -> tuple[str, ...]:
        """The words of a parameter's name; one run together in a known way (``pagesize``) is taken apart."""
        words = split(name)
        return self._apart.get(words[0], words) if len(words) == 1 else words

    @cached_property
    def _apart(self) -> Mapping[str, tuple[str, ...]]:
        """Names of two words and more, by how they look without a space."""
        names = (entry for of in _RUN_TOGETHER for entry in self.lexicon.get(of, ()))
        return {entry.replace(" ", ""): tuple(entry.split()) for entry in names if " " in entry}

    def known(self, of: Callable[[str, Vocabulary], T], name: str) -> T:
        """What ``of`` says of a name, worked out once: large interfaces repeat the names of their parameters."""
        key = (of, name)
        if key not in self._known:
            self._known[key] = of(name, self)
        found: T = self._known[key]
        return found

    @cached_property
    def verbs(self) -> Verbs:
        """The verbs, by what they do."""
        acts: dict[str, Act] = {}
        for act in ACTS:
            for verb in self[f"{act}_verbs"]:
                acts.setdefault(verb, act)
        return Verbs(
            acts, self["document_verbs"], self["plain_verbs"], self["noun_like_verbs"], self["agent_nouns"], {}
        )


_last: Vocabulary | None = None


def vocabulary(lexicon: Lexicon) -> Vocabulary:
    """The vocabulary of a lexicon; that of the last one asked for is kept."""
    global _last
    if _last is None or _last.lexicon is not lexicon:
        _last = Vocabulary(lexicon)
    return _last
