"""What the caller has a tool run, send or choose: text to run, a request, one of several commands."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

from dowbench.phrases import Phrases
from dowbench.prose import sentences
from dowbench.result.bounds import choices
from dowbench.result.english import REQUESTS, any_of, in_name, singular, word_set
from dowbench.result.traits import words_of
from dowbench.words import split

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from dowbench.model import Parameter
    from dowbench.result.nouns import Kind
    from dowbench.result.reading import Reading


_RUNNING = word_set("evaluate execute executes executed executing run runs running interprets evaluates")
_OPERATIONS = frozenset({"command", "cmd", "function", "operation"})
_ARGUMENTS = frozenset({"parameters", "params", "arguments", "args", "payload", "body", "data", "input", "inputs"})
"""Beside an object of such a name, one of ``_OPERATIONS`` names a thing to do and is no text to run."""
_METHODS = frozenset({"GET", "POST"})


def query(r: Reading) -> Parameter | None:
    """The parameter whose text is run: a query or a program, not a question or a search term."""
    v, named = r.v, r.named
    runs_it = r.said is not None and r.said.act == "run"
    if named is not None and named.act in {"write", "compute"} and named.verb != "start" and not runs_it:
        return None
    if (asked := _asks_in_language(r)) is not None:
        return asked
    computes = r.said is not None and r.said.act == "compute" and (named is None or named.verb != "execute")
    if computes and (_RUNNING.isdisjoint(r.first) or "without" in r.first):
        return None
    if plans(r):
        return None
    if not _MIGRATIONS.isdisjoint(r.name):
        return None
    if any(pair == ("by", "name") for pair in pairwise(r.first)):
        return None
    if any(a.act == "run" and any_of(_CHANGING, a.object) and not any_of(_ASKING, a.object, a.tail) for a in r.actions):
        return None
    changes = _MODIFYING.issubset(r.first) or (any_of(_MODIFIES, r.first) and any_of(_CHANGING, r.first))
    if changes and not any_of(_ASKING | _NOT_ONLY, r.first):
        return None
    programs = v["program_nouns"] | v["query_languages"] | _languages(r.first)
    acts = [a for a in r.actions if a.verb in v["runner_verbs"] or (a.verb in {"send", "submit"} and a.object)]
    runs = any(not a.object or any_of(programs, a.object, a.of, a.tail[:6]) for a in acts)
    words = frozenset(r.first)
    runs = runs or not v["console_names"].isdisjoint(r.name)
    runs = runs or not (_RUNNING.isdisjoint(words) or programs.isdisjoint(words))
    launches = any(a.act == "run" for a in acts)
    routes = any(p.name in _ARGUMENTS and p.schema.types == ("object",) and not p.nested for p in r.tool.parameters)
    judges = r.said is not None and (r.said.act == "compute" or r.said.verb in _KEEPS)
    if judges and not (named is not None and named.act == "run") and not _runs(r.first):
        return None
    if any(_EMPTY.find(sentence.words) for sentence in r.sentences):
        return None
    for parameter in r.tool.parameters:
        name = " ".join(split(parameter.name))
        if routes and name in _OPERATIONS:
            continue
        if name in v["program_names"] and "string" in parameter.schema.types and not parameter.nested:
            text = parameter.description or r.argument_texts.get(parameter.name, "")
            said = sentences(text)[:1]
            if name not in v["language_names"] and _chooses(text):
                continue
            if said and not _RUNNING.isdisjoint(said[0].words) and not parameter.schema.get("enum"):
                return parameter
        if not runs and not (launches and name in v["language_names"]):
            continue
        known = name in v["query_names"] or name.rpartition(" ")[2] in v["language_names"] or _languages(name.split())
        if not known or parameter.schema.get("enum") or "boolean" in parameter.schema.types:
            continue
        if name in v["program_names"] or _languages(name.split()):
            return parameter
        told = words_of(parameter, 2) | frozenset(r.first)
        if not (v["query_languages"] | v["query_engines"]).isdisjoint(told) or _languages(told):
            return parameter
    return None


def plans(r: Reading) -> bool:
    """Whether only the plan of a query comes back, which is explained and not run."""
    if "explain" not in (*r.name, *r.first[:1]) or "results" in r.first or not r.takes(_STATEMENTS):
        return False
    return not any_of(_MEASURING, r.name, *(sentence.words for sentence in r.sentences[:3]))


_STATEMENTS = word_set("query sql statement")
_MEASURING = word_set("analyze analyse run runs execute executes")
"""What explains a query and does so runs it."""


def _asks_in_language(r: Reading) -> Parameter | None:
    """The parameter of a tool that searches or queries which is said to take a query of a language: "TraceQL query"."""
    if r.named is None or (r.named.act != "list" and r.name[:1] != ("query",)):
        return None
    for p in r.inputs:
        words = sentences(p.description)[:1] if " ".join(split(p.name)) in r.v["query_names"] else ()
        opening = words[0].words[:_OPENING] if words else ()
        if any_of(_ASKED, opening) and any(word.endswith("ql") and word in r.v["query_languages"] for word in opening):
            return p
    return None


_OPENING = 6
_ASKED = word_set("query expression statement")


def _runs(words: Sequence[str]) -> bool:
    """Whether these words say that something is run, and not only some time before or after it."""
    return any(word in _RUNNING and _SOME_TIME.isdisjoint(words[max(i - 2, 0) : i]) for i, word in enumerate(words))


_KEEPS = word_set("record log")
_SOME_TIME = word_set("before after prior")
_EMPTY = Phrases.compile(
    ["input is an empty", "input is empty", "input should be an empty", "input should be empty", "input must be empty"]
)
"""What is said of an input that takes nothing, though it has to be there."""
_CHANGING = word_set("insert update delete write create alter drop merge upsert ddl dml mutation mutations")
"""Statements of these kinds return how much they changed."""
_MODIFYING = word_set("insert update delete")
_MODIFIES = word_set("modifying modifies")
_MIGRATIONS = word_set("migration migrations")
_ASKING = word_set("select read any arbitrary")
_NOT_ONLY = word_set("show describe rows without not")
"""Words beside changes which say that something is read, too, or that nothing is changed."""


def _chooses(text: str) -> bool:
    """Whether a text names the values to choose from, as an ``enum`` would."""
    return text.count('"') >= _SEVERAL or text.count("'") >= _SEVERAL or "sub-command" in text.lower()


_SEVERAL = 8
"""So many quotes enclose several values, and not one example."""


def _languages(words: Collection[str]) -> frozenset[str]:
    """The query languages among words that are known by their ending: SQL, PromQL, NRQL."""
    return frozenset(word for word in words if len(word) > 2 and word.endswith("ql") and word not in _FILTERS)


_FILTERS = frozenset({"jql", "cql", "wiql"})
"""Languages that only say which entries of a list are wanted."""


def passes_on(r: Reading) -> bool:
    """Whether it calls something else and returns whatever that returns: a tool, any operation of an interface."""
    v = r.v
    runs = [action for action in r.actions if action.act == "run"]
    if any(any_of(v["called_nouns"], action.object, action.of) for action in runs):
        return True
    names = {" ".join(split(p.name)): p for p in r.inputs if not choices(p.schema)}
    open_ended = any(_is_open(names[name]) for name in _ARGUMENTS.intersection(names))
    return bool(runs or not r.actions) and open_ended and not v["operation_names"].isdisjoint(names)


_COMMANDS = word_set("action command operation op mode method subcommand cmd")


def commanded(r: Reading) -> Kind | None:
    """What the most that one of several commands returns, where a parameter chooses among them: list, get, delete."""
    v = r.v
    for parameter in r.inputs:
        if _COMMANDS.isdisjoint(split(parameter.name)[-1:]):
            continue
        for value in choices(parameter.schema) or r.commands:
            words = split(str(value))
            action = in_name(words, v.verbs) if words else None
            if action is None or action.verb not in words:
                continue
            if action.act not in {"list", "document"} and action.verb not in _VIEWS:
                continue
            if any(v.verbs.acts.get(word) == "write" for word in words[1:]):
                continue
            noun = tuple(w for w in (action.object or r.name) if w not in words[:1])
            if action.verb in _GETS:
                if action.object or r.nouns.kind(noun) != "list" or _by_key(r, noun):
                    continue
                return "list"
            if action.act == "list" and not (noun and (r.nouns.small(noun) or r.nouns.small((*noun, f"{noun[-1]}s")))):
                return "list"
            if action.verb in _VIEWS:
                return "document"
    return None


def _by_key(r: Reading, noun: tuple[str, ...]) -> bool:
    """Whether one of the things is named by its key: an ``issueKey`` beside issues."""
    one = singular(noun)[-1]
    return any(name[:-1] == (one,) and name[-1] in _KEYS for name in (split(p.name) for p in r.inputs))


_KEYS = word_set("id key slug uuid number")
_VIEWS = word_set("view read show cat get fetch retrieve")
_GETS = word_set("get fetch retrieve")
"""On things in the plural these list: ``get`` of a tool that manages functions."""
_KEEPING = word_set("create update add set register configure subscribe save edit modify")
"""Verbs that keep a method for later."""
_METHOD_NAMES = {("method",), ("http", "method"), ("request", "method"), ("verb",), ("http", "verb")}


def forwards(r: Reading) -> bool:
    """Whether the caller picks the HTTP method of the request that it sends: not that of a later one, a callback."""
    if any(action.verb in _KEEPING for action in r.actions):
        return False
    listed = [values for p in r.inputs if split(p.name) in _METHOD_NAMES and (values := choices(p.schema))]
    return any(_METHODS.issubset({str(value).upper() for value in values}) for values in listed)


def _is_open(parameter: Parameter) -> bool:
    """Whether any object can be passed."""
    return parameter.schema.types == ("object",) and not parameter.schema.properties


def requests(r: Reading) -> bool:
    """Whether it sends a request to an address that the caller gives, and returns what that answers."""
    if r.returned_noun[0][-1:] in _RESPONSE and any(action.object[-1:] in REQUESTS for action in r.actions):
        return True
    if r.said is None or r.said.verb != "call":
        return False
    return any(split(p.name)[-1:] in {("url",), ("uri",), ("endpoint",)} for p in r.inputs)


_RESPONSE = {("response",), ("responses",)}
