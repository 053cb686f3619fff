"""Whether a model or an agent writes the answer, and what says so."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

from dowbench.patterns import Patterns
from dowbench.result.english import any_of, noun_of, word_set
from dowbench.result.traits import saved
from dowbench.words import split

if TYPE_CHECKING:
    from collections.abc import Sequence

    from dowbench.result.english import Action
    from dowbench.result.reading import Reading


def generates(r: Reading) -> bool:
    """Whether a model or an agent writes the answer."""
    prompted = r.takes(r.v["prompt_names"])
    if any(_completes(r, action, prompted) for action in r.actions) or _is_agent(r, prompted):
        return True
    if _collects(r) or looks(r) or _converses(r, prompted):
        return True
    if _by_model(r):
        return not saved(r)
    return prompted and _asks_model(r)


def answers_later(r: Reading) -> bool:
    """Whether the call ends before the answer is there: "returns immediately and does not wait"."""
    text = r.tool.description
    return any(stem in text for stem in _STEMS) and _TOLD.alone.search(text) is not None


_STEMS = ("mmediately", "wait", "block", "background")
_TOLD = Patterns(
    alone=r"\breturns? (?:\w+ ){0,4}immediately\b"
    r"|\bdoes(?: not|n['’]t) (?:wait|block)(?=[.,;:)—–-]|\s*$"
    r"| for (?:the |its |an |any )?(?:answer|result|response|completion|end|agent|it)\b)"
    r"|\bwithout (?:waiting|blocking)\b|\b(?:runs?|works?|goes on|executes) in the background\b",
)


def _completes(r: Reading, action: Action, prompted: bool) -> bool:
    """Whether an action is one of a model: "creates a completion", or for a prompt "writes a story"."""
    head = action.object[-1:]
    if head in _COMPLETIONS and action.verb in _COMPLETING:
        return True
    if head == ("code",) and action.verb in {"generate", "write"}:
        return prompted or r.takes(_DESCRIPTIONS, required=True)
    return prompted and any_of(r.v["written_nouns"], head) and action.verb in _WRITING


_DESCRIPTIONS = word_set("description requirements specification")
_COMPLETIONS = {("completion",), ("completions",)}
_COMPLETING = word_set("create generate get run request")
_WRITING = word_set("generate write produce get")


def _is_agent(r: Reading, prompted: bool) -> bool:
    """Whether it is called after what answers, and says of itself nothing else."""
    called = r.name[:-1] if r.name[-1:] == ("tool",) else r.name
    if prompted and called[-1:] == ("agent",) and (r.said is None or r.said.act != "write"):
        return True
    subject, _, _ = noun_of(r.first, 0, len(r.first))
    if prompted and subject[-1:] == ("agent",) and _KINDS_OF_AGENTS.issuperset(subject[:-1]):
        return True
    expert = r.said is None and any_of(_EXPERTS, called[-1:])
    return expert and r.takes(r.v["prompt_names"], required=True)


def _collects(r: Reading) -> bool:
    """Whether agents are started and what they answer is returned."""
    started = any(a.verb in _STARTING and any_of(_AGENTS, a.object[-1:]) for a in r.actions)
    return started and r.returned == "list"


_STARTING = word_set("spawn launch start delegate dispatch run")
_AGENTS = word_set("agent agents subagent subagents")


_KINDS_OF_AGENTS = word_set(
    "an a the ai autonomous intelligent expert search research coding our this general specialized"
)


def _converses(r: Reading, prompted: bool) -> bool:
    """Whether a turn of a conversation, or a question in plain language, is answered."""
    if any(action.verb in _KEEPING for action in r.actions):
        return False
    inner = [p for p in r.tool.parameters if p.nested]
    turns = {p.path[:-1] for p in inner if p.name == "role"} & {p.path[:-1] for p in inner if p.name == "content"}
    if turns and (any(a.act == "answer" or a.verb in _SENDING | _ASKING for a in r.actions) or _chats(r)):
        return True
    opening = [word for sentence in r.sentences[:2] for word in sentence.words]
    answered = not _ANSWERS.isdisjoint(opening)
    plain = any(pair == ("natural", "language") for pair in pairwise(r.first))
    return prompted and answered and (_chats(r) or (plain and not _ANSWERS.isdisjoint(r.first)))


def _chats(r: Reading) -> bool:
    return not _CHAT.isdisjoint(r.name)


_CHAT = word_set("chat converse conversation completion completions")
_ASKING = word_set("query ask complete answer get generate create")
_ANSWERS = word_set("answer answers reply replies response responses responds")
_KEEPING = word_set(
    "add save store import log record upload append update index remember list delete search find count format tokenize"
)


def looks(r: Reading) -> bool:
    """Whether it tells what a prompt asks of a picture or a film, which only a model can."""
    shown = any(not _SEEN.isdisjoint(split(p.name)) and p.required for p in r.inputs)
    asked = any(p.required and split(p.name) in _PROMPTS for p in r.inputs)
    return shown and asked and not any(a.act == "write" or a.verb in _DRAWING for a in r.actions)


_SEEN = word_set("image images screenshot picture photo video diagram chart")
_PROMPTS = {("prompt",), ("question",), ("instruction",), ("instructions",)}
_DRAWING = word_set("generate create edit make produce render draw animate transform convert modify upscale")


def _by_model(r: Reading) -> bool:
    """Whether something is told by means of a model: "describes a picture with an LLM"."""
    first, main = r.first, next(iter(r.actions), None)
    if main is None or r.v["model_words"].isdisjoint(first[:14]):
        return False
    told = main.act in _TELLING or main.verb in {"analyze", "describe", "review"}
    return told and any(_is_model(r, first, i) and not _BY.isdisjoint(first[max(0, i - 3) : i]) for i in range(14))


def _asks_model(r: Reading) -> bool:
    """Whether a prompt goes to a model for its answer."""
    main = next(iter(r.actions), None)
    if not _names_model(r, r.first[:18] + r.name):
        return False
    if main is None:
        return _names_model(r, r.first[:6] + r.name)
    if main.act == "write":
        if any(action.verb in _THINKING for action in r.actions):
            return True
        if main.verb in {"launch", "start"} and r.takes(r.v["prompt_names"], required=True):
            return _names_model(r, main.object)
        asked = any_of(r.v["sent_nouns"], main.object[-1:])
        answered = any_of(r.v["written_nouns"], r.returned_noun[0][-1:])
        return main.verb in _SENDING and (asked or answered) and _names_model(r, main.tail)
    if main.act in {"answer", "run"} or main.verb in _THINKING:
        return True
    return main.act in _TELLING | {"list"} and _names_model(r, r.name)


def _names_model(r: Reading, words: Sequence[str]) -> bool:
    return any(_is_model(r, words, i) for i in range(len(words)))


def _is_model(r: Reading, words: Sequence[str], i: int) -> bool:
    """Whether word ``i`` names a model or an agent, and not what is meant for one: "LLM context"."""
    return i < len(words) and words[i] in r.v["model_words"] and words[i + 1 : i + 2] not in _FOR_MODELS


_FOR_MODELS = {
    (word,)
    for word in word_set(
        "context friendly ready optimized search memory tools services service platform studio config configs "
        "configuration configurations settings client clients desktop runs"
    )
}
_EXPERTS = word_set("expert assistant advisor consultant copilot chatbot")
"""Names of what answers questions."""
_SENDING = word_set("send post submit forward")
_THINKING = word_set("analyze analyse reason think solve")
_BY = word_set("with using uses use via by through")
_TELLING = frozenset({"document", "answer", "read"})
