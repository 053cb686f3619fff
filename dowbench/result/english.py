"""As much English as names and descriptions of tools need: verb forms, noun phrases, what is done to what.

``list_open_tickets`` and "Returns all open tickets of a user" both say: list, tickets. Nothing is read deeper than a
verb, its noun phrase up to the next preposition, and the lead-ins that descriptions begin with.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Literal, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

Act = Literal["list", "read", "document", "answer", "run", "write", "compute", "other"]
ACTS: tuple[Act, ...] = ("write", "read", "document", "list", "answer", "run", "compute")
"""What a verb that may do several things does first."""


def word_set(text: str) -> frozenset[str]:
    """The words of a text, split at white space."""
    return frozenset(text.split())


QUANTIFIERS = word_set("all every each multiple several many various any numerous")
_ARTICLES = word_set("a an the one single")
_BEFORE_ARTICLES = QUANTIFIERS | word_set("a an the")
"""Of these a noun phrase may still be made when an article comes: all the, a single."""
_STOP = word_set(
    "in on for from by with without using via to at as that which who whose when where based into through across "
    "matching given within per about between what how why whether related regarding concerning including such if so "
    "then and or but is are was were be has have having containing belonging associated it its this these their "
    "your against during whenever unless except plus versus like since until before after below above beneath "
    "we inside outside under over around near behind along toward towards upon because while optionally"
)
"""Words that end a noun phrase."""
_AFTER_NOUNS = word_set(
    "similar available eligible visible accessible relevant present nearby made found wrote said sent left gave have "
    "open"
)
"""Adjectives that stand behind a plural noun: artists similar to one."""
_STATES = word_set(
    "available active open opened loaded running connected supported offered configured installed registered enabled "
    "paired mounted enrolled authorized authorised authenticated linked subscribed integrated plugged defined"
)
"""Adjectives that say the same behind a plural noun and before it: pages open, open pages."""
_LINKING = word_set("that which are were currently now presently already")
_LEAD = word_set(
    "this tool function endpoint method operation api command call is can be could used to use for a an the that which "
    "will would allows allow allowing you lets let helps help efficiently quickly useful when need needs want wants "
    "should may must your it us users user enables enable enabling provides provide ability designed tries try "
    "attempts attempt simply directly automatically easily interface wrapper utility service action request requests "
    "client and or also then first only just please description summary purpose performs perform performing makes make "
    "making does do doing conducts conduct carries out input from with simple basic advanced powerful one more "
    "semantic full current i we they any given bulk"
)
"""Words that a description may have before its verb."""
_ADJECTIVES = word_set("full simple basic advanced powerful semantic current")
"""Those of ``_LEAD`` behind which a word that may be a noun is one: "full text search"."""
_BEFORE_NOUNS = word_set("of by in from for with on at per")
"""Before a word of a name, these make it a noun: the list in ``sum_of_list``."""
DETERMINERS = {("a",), ("an",), ("the",), ("all",), ("your",), ("this",)}
"""Behind the first word of a sentence, these make it a verb, known or not."""
_PRONOUNS = word_set("everything something anything nothing note not")
_LIGHT = word_set("perform performs performing make makes making do does conduct conducts carry carries")
_DEEDS: Mapping[str, str] = {
    "search": "search", "searches": "search", "lookup": "search", "scan": "scan", "scans": "scan", "audit": "audit",
    "audits": "audit", "check": "check", "checks": "check", "review": "review", "analysis": "analyze",
    "assessment": "assess", "calculation": "calculate", "validation": "validate", "comparison": "compare",
}  # fmt: skip
"""Nouns for what is done, with the verb that they stand for: to run a scan is to scan."""
_REPORTS = word_set("report reports")
"""To run one of these is to read it."""
_THINGS_DONE = word_set("action actions operation operations")
"""Nouns for what is done: to run one of them on a thing changes that."""
_USES = word_set("uses use using utilizes utilize leverages leverage employs")
_GIVES = word_set("provides provide provided gives")
_CALLS = word_set("call calls request requests")
_SENDS = word_set("send issue")
REQUESTS = {("request",), ("requests",)}
_REACH = 18
"""How far into a sentence its verb is looked for, in words."""

_SINGULAR_S = word_set(
    "status news address access process class series business progress css js aws dns sms gps ios os "
    "kubernetes postgres "
    "redis https canvas bus campus bonus focus virus cors rss tls ssl express wordpress always was has does us as less "
    "plus alias bias atlas lens gas glass chess success loss boss mass pass press stress witness fitness awareness "
    "previous various numerous serious species means physics mathematics politics ethics sales gis pos kms ens sas "
    "cvss crs ecs eks rds sqs sns ses gcs oss lms tts nfs zfs hdfs xss"
)
_PLURALS_IS = word_set("apis wikis uris pois kpis emojis uis taxis skis safaris")
_PLURALS = word_set("people children men women criteria indices matrices vertices mice feet phenomena schemata")


class Action(NamedTuple):
    """A verb with its object."""

    act: Act
    verb: str
    object: tuple[str, ...]
    """The noun phrase after the verb, quantifiers included."""
    of: tuple[str, ...]
    """The noun phrase after an "of" or "about", where there is one."""
    tail: tuple[str, ...]
    """What follows, up to the end of the clause or name."""
    sure: bool = True
    """Whether the verb can hardly be a noun where it stands."""


class Verbs(NamedTuple):
    """Verbs in their base form, by what they do."""

    acts: Mapping[str, Act]
    documents: frozenset[str]
    """Those that give the text of a thing: read, extract."""
    plain: frozenset[str]
    """Verbs that are hardly ever nouns: get, create."""
    nouns: frozenset[str]
    """Verbs that, in a name, are more often nouns: order, log, report."""
    agents: frozenset[str]
    """Nouns for what does the verb: a reader reads."""
    bases: dict[str, str | None]
    """What ``base`` said of a word before: the same words come again and again."""

    def base(self, word: str) -> str | None:
        """The known verb that ``word`` is a form of."""
        if word in self.bases:
            return self.bases[word]
        base = next((form for form in base_forms(word, word in self.agents) if form in self.acts), None)
        self.bases[word] = base
        return base


def singular(noun: tuple[str, ...]) -> tuple[str, ...]:
    """A noun phrase with its head in the singular."""
    head = noun[-1]
    if not plural(head) or head in _PLURALS:
        return noun
    stem = head[:-3] + "y" if head.endswith("ies") and len(head) > 4 else head[: -2 if head.endswith(_ES) else -1]
    return (*noun[:-1], stem)


_ES = ("sses", "ches", "shes", "xes")


def plural(word: str) -> bool:
    """Whether an English noun is in the plural, by its form."""
    if word in _PLURALS:
        return True
    if len(word) < 3 or word[-1] != "s" or word in _SINGULAR_S:
        return False
    return word in _PLURALS_IS if word[-2] == "i" else word[-2] not in "su'"


@lru_cache(maxsize=8192)
def base_forms(word: str, agent: bool = False) -> tuple[str, ...]:
    """The verbs that ``word`` may be a form of, itself first: ``fetches`` may be of fetches, fetche or fetch."""
    forms = [word]
    if agent:
        forms += [word[:-2], word[:-1], word[:-2] + "e"]
    if word.endswith("s") and len(word) > 3:
        forms.append(word[:-1])
        if word.endswith("es"):
            forms.append(word[:-2])
        if word.endswith("ies"):
            forms.append(word[:-3] + "y")
    for ending in ("ing", "ed"):
        if word.endswith(ending) and len(word) > len(ending) + 2:
            stem = word[: -len(ending)]
            forms += [stem, stem + "e"]
            if stem[-1] == stem[-2]:
                forms.append(stem[:-1])
            if ending == "ed" and stem.endswith("i"):
                forms.append(stem[:-1] + "y")
    return tuple(forms)


def phrase(
    words: Sequence[str], start: int, end: int | None = None, *, name: bool = False
) -> tuple[tuple[str, ...], int]:
    """The noun phrase that begins at ``start``, and where it ends: "open tickets" of "open tickets assigned to you".

    In a ``name`` a participle is part of the noun: ``guests_onboarding``. A state that is told behind the noun is put
    before it: "pages that are open" are open pages.
    """
    end = len(words) if end is None else end
    noun: list[str] = []
    bare = True  # so far there is nothing but what may stand before an article
    i = start
    while i < end and words[i] != "of":
        word = words[i]
        if word in _SKIPPING and (three := tuple(words[i : i + 3])) in _SKIPPED:
            noun += _SKIPPED[three]
            i += 3
            continue
        if word == "by" and noun and words[i + 1 : i + 2] == (noun[-1],):  # line by line
            noun.pop()
            i += 2
            continue
        if word in _STOP or (word in _ARTICLES and not bare):
            break
        if not name and noun and plural(noun[-1]) and (word.endswith(("ing", "ed", "ly")) or word in _AFTER_NOUNS):
            break
        if not name and noun and word.endswith(_ADVERBS):
            break
        if not name and noun and not bare and word.endswith("ed") and tuple(words[i + 1 : i + 2]) in _AGENTS:
            break
        noun.append(word)
        bare = bare and word in _BEFORE_ARTICLES
        i += 1
    if not name and noun and plural(noun[-1]):
        told = next((k for k in range(i, min(i + _LINKED, end)) if words[k] not in _LINKING), i)
        if words[told : told + 1] and words[told] in _STATES:
            noun.insert(-1, words[told])
    return tuple(noun), i


_AGENTS = {("by",), ("from",), ("in",), ("on",), ("at",), ("with",), ("for",)}
"""Before these a participle is told of the noun in front of it: "an item returned by a search"."""
_ADVERBS = ("ically", "ately", "ously", "ently", "antly", "ectly")
"""Endings of adverbs, which tell how something is done to the noun in front of them: "the page immediately"."""
_SKIPPED: Mapping[tuple[str, ...], tuple[str, ...]] = {
    ("up", "to", "date"): (),
    ("one", "or", "more"): ("several",),
    ("one", "or", "multiple"): ("several",),
}
"""Words within a noun phrase that would seem to end it, and what they say of the noun."""
_SKIPPING = frozenset(words[0] for words in _SKIPPED)
_LINKED = 4
"""How far behind a noun a state may be told of it, in words."""


def noun_of(
    words: Sequence[str], start: int, end: int, *, name: bool = False
) -> tuple[tuple[str, ...], tuple[str, ...], int]:
    """The noun phrase at ``start``, the one after an "of" or "about" behind it, and where they end."""
    noun, i = phrase(words, start, end, name=name)
    of: tuple[str, ...] = ()
    if i < end and words[i] in {"of", "about", "regarding"}:
        of, i = phrase(words, i + 1, end, name=name)
    return noun, of, i


def in_name(words: Sequence[str], verbs: Verbs) -> Action | None:
    """The action that a tool's name states; ``None`` when no word of it is a known verb.

    A verb that is hardly a noun (get, create) goes before one that may be (list, search, report), the first word
    before later ones: ``get_search_results`` gets, ``sites_list`` lists, ``message_send`` sends.
    """
    if len(words) > 1 and words[-1] in {"tool", "function", "api"} and verbs.acts.get(words[0]) != "run":
        words = words[:-1]
    if words[-1:] in REQUESTS and not _LIGHT.union(_SENDS).isdisjoint(words[:-1]):
        return Action("run", "call", tuple(words[-1:]), (), ())
    found: list[tuple[int, int, str]] = []

    def after_noun(found: list[tuple[int, int, str]]) -> bool:
        return bool(found) and found[0][1] == 0 and found[0][2] in verbs.nouns

    for i, word in enumerate(words):
        verb = verbs.base(word)
        if verb is None or (word == verb + "s" and verb in verbs.nouns) or (i and words[i - 1] in _BEFORE_NOUNS):
            continue
        if word in verbs.agents:
            rank = 0
        elif word != verb:
            rank = 3 if verb in verbs.nouns else 2
        else:
            rank = 1 if verb in verbs.plain else 3 if verb in verbs.nouns else 2
        if i == 0 and word == verb:
            rank = 1
        elif i == len(words) - 1 and rank < 3 and word == verb and after_noun(found):
            rank = 0
        found.append((rank, i, verb))
    if not found:
        return None
    rank, i, verb = min(found)
    action = _action(verbs.acts[verb], verb, words, i + 1, len(words), name=True)
    sure = rank < 2 or (rank == 2 and words[i] == verb)
    return Action(action.act, verb, action.object or tuple(words[:i]), action.of, action.tail, sure)


def in_sentence(words: Sequence[str], clauses: Sequence[int], verbs: Verbs) -> Action | None:
    """The main action of a sentence that describes a tool; ``None`` when it begins with something else.

    ``clauses`` gives for each word the index of the first word of its clause. A few words before the first comma, colon
    or bracket may be no more than what it is about: "Mail: lists the folders".
    """
    action = _main(words, clauses, verbs, _told_user(words))
    second = clause_end(clauses, 0)
    if action is None and second <= _TOPIC and second < len(words):
        action = _main(words, clauses, verbs, second)
        return action if action is not None and action.object else None
    return action


def _told_user(words: Sequence[str]) -> int:
    """Where a sentence goes on after saying who calls: "the agent uses this tool to read"."""
    for i, word in enumerate(words[1:_CALLER], 1):
        if word in _USES and words[i + 1 : i + 4] in _THIS_TO:
            return i + 4
    return 0


_CALLER = 5
"""How far into a sentence its verb stands, in words, where it begins with who calls."""
_THIS_TO = {("this", noun, "to") for noun in ("tool", "function", "endpoint", "command")}
_TOPIC = 3
"""Longest topic before the sentence, in words."""


def _main(words: Sequence[str], clauses: Sequence[int], verbs: Verbs, i: int) -> Action | None:
    start = i
    while i < min(len(words), start + _REACH):
        word = words[i]
        if word in _LIGHT:
            noun, end = phrase(words, i + 1)
            noun = tuple(w for w in noun if w not in _ARTICLES)
            if purpose := _purpose(words, clauses, verbs, i):
                i = purpose
                continue
            if noun and noun[-1] in _CALLS:
                return Action("run", "call", noun, (), tuple(words[end : clause_end(clauses, i)]))
            verb = verbs.base(noun[-1]) if noun else None
            if verb is not None:
                return _action(verbs.acts[verb], verb, words, end, clause_end(clauses, i))
            i += 1
            continue
        if word in _USES and "to" in words[i + 1 : i + 7]:
            i = words.index("to", i + 1) + 1
            continue
        verb = verbs.base(word)
        if verb in _SENDS and (purpose := _purpose(words, clauses, verbs, i)):
            i = purpose
            continue
        if verb in verbs.nouns and verb not in verbs.plain and _is_noun(words, i, verb):
            return None
        if verb in verbs.nouns and word == verb and i > start and words[i - 1] in _ADJECTIVES:
            i += 1
            continue
        if verb is not None and word not in _LEAD:
            return _with_second(words, clauses, verbs, i, verb)
        if word.endswith("ly") and i == start and verb is None:
            i += 1
            continue
        if word not in _LEAD:
            if i == start and words[i + 1 : i + 2] in DETERMINERS and word not in _STOP | QUANTIFIERS | _PRONOUNS:
                return _action("other", word, words, i + 1, clause_end(clauses, i))
            if i > start and words[i - 1 - (words[i - 1] in _ARTICLES)] in _GIVES:
                return _action("read", "provide", words, i, clause_end(clauses, i))
            return None
        i += 1
    return None


def _purpose(words: Sequence[str], clauses: Sequence[int], verbs: Verbs, i: int) -> int | None:
    """Where the verb stands that says what a request is made for: "sends a request to list the nodes"."""
    noun, end = phrase(words, i + 1, clause_end(clauses, i))
    asked = noun[-1:] and noun[-1] in _CALLS and words[end : end + 1] == ("to",)
    return end + 1 if asked and end + 1 < len(words) and verbs.base(words[end + 1]) is not None else None


def _is_noun(words: Sequence[str], i: int, verb: str) -> bool:
    """Whether what follows makes a word that may be a verb a noun: "history of", "orders of", "access to"."""
    word, after = words[i], words[i + 1 : i + 2]
    return (word == verb and after == ("to",)) or (word in {verb, verb + "s"} and after == ("of",))


def _with_second(words: Sequence[str], clauses: Sequence[int], verbs: Verbs, i: int, verb: str) -> Action:
    """The action at ``i``, or of the verb that is joined to it: "get or list resources" lists them."""
    end = clause_end(clauses, i)
    act = verbs.acts[verb]
    if i + 2 < len(words) and words[i + 1] in {"or", "and"}:
        second = verbs.base(words[i + 2])
        if second is not None and (words[i + 2] not in verbs.nouns or second in {"list", "search"}):
            other = verbs.acts[second]
            if act != "write" and other not in {"write", "compute"}:
                act, verb = other, second
            return _action(act, verb, words, i + 3, end)
    return _action(act, verb, words, i + 1, end)


def _action(act: Act, verb: str, words: Sequence[str], start: int, end: int, *, name: bool = False) -> Action:
    noun, of, i = noun_of(words, start + (words[start : start + 1] in _WHAT), end, name=name)
    if act == "run" and noun and noun[-1] in _REPORTS:
        return Action("read", verb, noun, of, tuple(words[i:end]))
    if act == "run" and noun and noun[-1] in _DEEDS:
        done = _DEEDS[noun[-1]]
        return Action("list" if done == "search" else "compute", done, noun[:-1], of, tuple(words[i:end]))
    if not noun and i < end and words[i] in {"for", "at", "through", "into", "up"}:
        noun, of, i = noun_of(words, i + 1, end)
    if act == "run" and noun and noun[-1] in _THINGS_DONE and words[i : i + 1] == ("on",):
        act = "write"
    return Action(act, verb, noun, of, tuple(words[i:end]))


_WHAT = {("what",), ("which",), ("only",), ("just",)}


def clause_end(clauses: Sequence[int], i: int) -> int:
    """Where the clause of word ``i`` ends."""
    end = i + 1
    while end < len(clauses) and clauses[end] == clauses[i]:
        end += 1
    return end


def ends_phrase(words: Sequence[str], clauses: Sequence[int], i: int) -> bool:
    """Whether word ``i`` is the last of its noun phrase."""
    return i + 1 == len(words) or clauses[i + 1] != clauses[i] or words[i + 1] in _STOP or words[i + 1] == "of"


def any_of(words: Collection[str], *among: Sequence[str]) -> bool:
    """Whether one of ``words`` stands in one of the sequences."""
    return any(word in words for sequence in among for word in sequence)
