"""Whether a call walks a tree, a folder or a site to the end."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

from dowbench.result.english import any_of, word_set
from dowbench.words import split

if TYPE_CHECKING:
    from collections.abc import Sequence

    from dowbench.model import Parameter
    from dowbench.result.english import Action
    from dowbench.result.reading import Reading


def recursive(r: Reading) -> bool:
    """Whether it walks down a tree, or along links, to the end."""
    v = r.v
    walking = v["recursion_words"] - (_CRAWLS if _reads_crawls(r) else frozenset())
    if any(action.verb == "check" for action in r.actions) or _given_pages(r):
        return False
    names = [split(parameter.name) for parameter in r.tool.parameters]
    if any("depth" in name for name in names):
        return False
    if any("recursive" in name for name in names):
        return True
    if "tree" in r.name and v["other_trees"].isdisjoint(r.name) and not _is_other(r, r.name, r.name.index("tree")):
        return True
    for sentence in r.sentences[:2]:
        words = sentence.words
        whole = not v["below_words"].isdisjoint(words) and not _EVERY.isdisjoint(words)
        whole = whole or any(a == "everything" and b in _BELOW for a, b in pairwise(words))
        told = {
            word
            for i, word in enumerate(words)
            if word in walking and (i == 0 or words[i - 1] not in _NOT) and _COMPUTED.isdisjoint(words[i + 1 : i + 2])
        }
        if sentence is not r.sentences[0]:
            told -= _PATTERNS
        if whole or (told and _LEFT_OUT.isdisjoint(words)):
            return True
        for i, word in enumerate(words):
            if word != "tree" or not i or _is_other(r, words, i):
                continue
            if words[i - 1] in v["tree_nouns"] or words[i + 1 : i + 2] in _TREE_OF:
                return True
    if not walking.isdisjoint(r.name):
        return True
    if "root" not in r.first and any(_is_project(a) for a in r.actions):
        return True
    if any(map(_maps_site, (sentence.words for sentence in r.sentences[:2]))):
        return True
    files = any(any_of(_FOUND, a.object, a.tail) for a in r.actions if a.verb in _SEARCHING)
    files = files or (r.many and any(_is_recursive(r, p) for p in r.inputs))
    return files and any(not v["folder_names"].isdisjoint(split(p.name)) for p in r.inputs)


def _given_pages(r: Reading) -> bool:
    """Whether the pages that are read are given, each by its address."""
    given = any(p.required and "array" in p.schema.types and split(p.name)[-1:] == ("urls",) for p in r.inputs)
    return given and not any_of(_FOLLOWS, r.first)


_FOLLOWS = word_set("link links follow follows following subpages recursive recursively deep site sites")


def _reads_crawls(r: Reading) -> bool:
    """Whether a crawl that is spoken of was done before: it is read or listed, or there is nowhere to start one."""
    if not r.actions or any(a.verb == "crawl" or a.act not in _READING for a in r.actions):
        return False
    starts = any(not _STARTS.isdisjoint(split(parameter.name)) for parameter in r.tool.parameters)
    return not starts or any(not _CRAWLS.isdisjoint(a.object[-1:] + a.of[-1:]) for a in r.actions)


_CRAWLS = word_set("crawl crawls")
_READING = frozenset({"list", "read"})
_STARTS = word_set(
    "url urls uri link links website websites site domain domains start seed seeds host address page pages"
)
"""Words for where a crawl starts, in the name of a parameter."""


_SEARCHING = word_set("find search grep")
_FOUND = word_set("file files code codebase")


def _is_recursive(r: Reading, parameter: Parameter) -> bool:
    """Whether what is matched against the names of files also goes down: "pattern: a recursive glob"."""
    text = parameter.description or r.argument_texts.get(parameter.name, "")
    return "ecursive" in text and "glob" in text.lower()


def _maps_site(words: Sequence[str]) -> bool:
    """Whether every page of a site is found: "discovers all accessible URLs", "maps a website"."""
    for i, word in enumerate(words):
        if word in _REACHED and not _LINKS.isdisjoint(words[i + 1 : i + 3]) and words[i - 1 : i] in _EACH:
            return True
        if word in {"map", "maps"} and i < _OPENING and not _SITES.isdisjoint(words[i + 1 : i + 4]):
            return True
    return False


_OPENING = 6
_REACHED = word_set("accessible reachable discoverable")
_LINKS = word_set("url urls link links page pages subpages")
_EACH = {("all",), ("every",)}
_SITES = word_set("website websites site")


def _is_other(r: Reading, words: Sequence[str], i: int) -> bool:
    """Whether the tree that word ``i`` names is none that is walked: an accessibility tree, an a11y tree."""
    return not r.v["other_trees"].isdisjoint(before(words, i))


def before(words: Sequence[str], i: int) -> frozenset[str]:
    """What stands right before word ``i``, also where it was split at digits: a11y is three words."""
    return frozenset("".join(words[start:i]) for start in range(max(0, i - 3), i))


def _is_project(action: Action) -> bool:
    """Whether all the files of a project are read, which lie in folders of any depth."""
    return action.object[-1:] == ("files",) and "all" in action.object and any_of(_PROJECTS, action.of, action.tail)


_PROJECTS = word_set("project repository repo codebase workspace vault")
_EVERY = word_set("all every recursively through including nested")
_BELOW = word_set("below beneath under inside")
_PATTERNS = word_set("glob globs")
_NOT = word_set("not non no never without")
_COMPUTED = word_set("summarization summary function formula query algorithm definition reasoning refinement")
"""What is recursive and walks down no tree."""
_LEFT_OUT = word_set("ignore ignores ignored exclude excludes excluded excluding")
_TREE_OF = {("view",), ("structure",), ("of",)}
