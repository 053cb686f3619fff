"""What noun phrases in a tool's texts name: a list, a document, a record; what is few by nature."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Literal

from dowbench.result.english import QUANTIFIERS, plural, singular, word_set
from dowbench.words import split

if TYPE_CHECKING:
    from collections.abc import Sequence

    from dowbench.model import Parameter
    from dowbench.result.vocabulary import Vocabulary

Kind = Literal["list", "text", "document", "record", "ack", "scalar", "media", "generation", "unknown"]

EXACTLY_ONE = word_set("single specific particular individual")
_THE = word_set("the a an its their your this all detailed specific")
_JUST_ONE = word_set("one single")
_WHOLE = word_set("entire whole full complete")
_ONE = word_set("a an one single specific particular individual specified requested selected current named")
"""Words by which a noun phrase says that it means one thing."""
_CONFIGURED = word_set("config configuration definition state settings")
_MARKUP = word_set("raw xml yaml toml hcl")
"""What a configuration is written in, where the whole of it is meant: "the raw configuration"."""
_PIECES = word_set("line row cell record entry item value byte word sentence character field key")
_SEVERAL = frozenset({"array", "boolean", "object"})
_CARRIERS = word_set("payload object response block")
"""What holds the thing that is named before it: a status payload."""
_ENTRIES = word_set("note log contract agreement trace bulletin memo manifest thread")
"""What may be long, and is one entry where it is said to be a single one."""


class Nouns:
    """Judges noun phrases, as the one tool means them whose inputs it knows."""

    def __init__(self, inputs: Sequence[Parameter], v: Vocabulary) -> None:
        self.inputs = inputs
        self.v = v

    def kind(self, noun: tuple[str, ...], of: tuple[str, ...] = ()) -> Kind | None:
        """What kind of thing a noun phrase names: a list, a document or a record."""
        return self.judged(noun, of)[0]

    def judged(self, noun: tuple[str, ...], of: tuple[str, ...] = ()) -> tuple[Kind | None, bool]:
        """What kind of thing a noun phrase names, and whether it says so: what nobody knows is a record."""
        v = self.v
        if not noun:
            return self.judged(of) if of else (None, False)
        head, heads = noun[-1], {noun[-1], " ".join(noun[-2:])}
        many = not QUANTIFIERS.isdisjoint(noun)
        of_many = bool(of) and (plural(of[-1]) or not QUANTIFIERS.isdisjoint(of)) and EXACTLY_ONE.isdisjoint(of)
        if head == "table" and of == ("contents",):
            return "record", True
        if head in v["list_nouns"] and of:
            return ("record" if self.small(of) else "list"), True
        if head == "instance" and of:
            return ("document" if self.kind(of) == "document" else "record"), True
        if head in v["view_nouns"] and of and (head != "tree" or of_many):
            return self.judged(of)
        if head in v["scalar_nouns"] and not many:
            each = head not in v["count_nouns"] and not QUANTIFIERS.isdisjoint(of) and v["sum_words"].isdisjoint(noun)
            return ("list" if each else "record"), True
        pair = " ".join(noun[-2:])
        if head in _CARRIERS and len(noun) > 1 and self.judged(noun[:-1]) == ("record", True):
            return "record", True
        if len(noun) > 1 and pair in v["document_nouns"]:
            return "document", True
        if len(noun) > 1 and pair in v["collection_nouns"]:
            return "list", True
        if head in _CONFIGURED and not _MARKUP.isdisjoint(noun[:-1]):
            return "document", True
        if not heads.isdisjoint(v["record_nouns"]):
            if of_many and not many and not v["sum_words"].isdisjoint(noun[:-1]):
                return "record", True
            if of_many and of[-1] not in v["record_nouns"] and head not in v["sum_nouns"]:
                return ("record" if self.small(of) else "list"), True
            several = many and plural(head) and head not in v["detail_nouns"] and not self.small(noun)
            series = head in v["series_nouns"] and not v["past_words"].isdisjoint(noun)
            return ("list" if several or series else "record"), True
        if ("single" in noun and head in _ENTRIES) or self.one_piece(noun):
            return "record", True
        if head in v["document_nouns"] or (head == "snapshot" and not v["page_parts"].isdisjoint(noun)):
            return "document", True
        if self.small(noun):
            return "record", True
        if self._whole(noun, of):
            return "document", True
        if not v["sum_words"].isdisjoint(noun[:-1]) and not many:
            return "record", True
        if plural(head) and of and self.small(of) and not v["scalar_nouns"].isdisjoint(singular(noun)[-1:]):
            return "record", True
        if plural(head) or head in v["collection_nouns"] or (many and head not in {"one", "single"}):
            return "list", True
        if head == "data":
            rest = tuple(word for word in noun[:-1] if word not in _THE)
            kind, sure = self.judged(rest)
            single = sure or self.of_one_day or not self.entities.isdisjoint(rest)
            return (kind or "record", True) if single and v["series_words"].isdisjoint(noun) else ("list", False)
        return "record", not _ONE.isdisjoint(noun)

    def one_piece(self, noun: tuple[str, ...]) -> bool:
        """Whether it is said to be one of many short pieces: "one line", "a single cell"."""
        return noun[-1] in _PIECES and not _JUST_ONE.isdisjoint(noun[:2])

    def _whole(self, noun: tuple[str, ...], of: tuple[str, ...]) -> bool:
        """Whether it is the text or the whole of something: "source of a class", "page dump", "full profile"."""
        v, head = self.v, noun[-1]
        if head == "source" and not v["program_parts"].isdisjoint(noun[:-1] + of):
            return True
        if head in {"source", "data", "string", "dump", "output"} and not v["document_nouns"].isdisjoint(noun[:-1]):
            return True
        if "tree" in noun and head in {"structure", "view", "listing"}:
            return True
        return not _WHOLE.isdisjoint(noun) or (head == "code" and "source" in noun)

    def small(self, noun: tuple[str, ...]) -> bool:
        """Whether things of this name are few by nature: what a service supports, what is open right now."""
        v, head = self.v, noun[-1]
        if head in v["small_nouns"] or " ".join(noun[-2:]) in v["small_nouns"] or not v["fixed_words"].isdisjoint(noun):
            return True
        for state in ("live", "opened", "offered"):
            if head in v[f"{state}_nouns"] and not v[f"{state}_words"].isdisjoint(noun):
                return True
        if plural(head) and not v["setup_words"].isdisjoint(noun[:-1]) and head not in v["stream_nouns"]:
            return head not in v["populous_nouns"]
        if head in v["owned_nouns"] or " ".join(noun[-2:]) in v["owned_nouns"]:
            return self.of_owner
        return head in v["part_nouns"] and self.of_one

    @cached_property
    def of_owner(self) -> bool:
        """Whether the caller picks the one thing or person that it belongs to, and no place or time."""
        others = self.v["term_names"] | self.v["scope_words"]
        single = (p for p in self.inputs if p.required and _SEVERAL.isdisjoint(p.schema.types))
        names = (split(p.name) for p in single)
        return any(name and others.isdisjoint((" ".join(name), name[-1])) for name in names)

    @cached_property
    def of_one(self) -> bool:
        """Whether the caller picks one thing, of which the parts are asked for: a file, a page, a data set."""
        wholes = self.v["whole_nouns"]
        return any(
            p.required and "array" not in p.schema.types and not wholes.isdisjoint(split(p.name)) for p in self.inputs
        )

    @cached_property
    def entities(self) -> frozenset[str]:
        """The words of the parameters by which one thing is picked: ``user_id`` picks a user."""
        return frozenset(word for p in self.inputs if p.required for word in split(p.name))

    @property
    def of_one_day(self) -> bool:
        """Whether the caller names one day."""
        names = {" ".join(split(p.name)) for p in self.inputs if p.required}
        return not names.isdisjoint({"date", "day"})
