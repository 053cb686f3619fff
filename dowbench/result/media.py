"""Whether a result carries pictures, sound, encoded bytes or a snapshot of a whole page."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dowbench.result import traits
from dowbench.result.bounds import choices
from dowbench.result.english import any_of, word_set
from dowbench.words import split

if TYPE_CHECKING:
    from dowbench.result.reading import Reading

_GIVES = word_set("return returns returned returning provides providing outputs embeds embedded inline renders")
_NEAR = 7
"""How many words after "returns" a picture is still what is returned."""
_OF = word_set("of for from about to in on")
"""Behind these stands what the returned thing is of: "the codec of a video"."""
_FILMS = word_set("video videos")
_FETCHES = word_set("download capture take record")
"""Only with these is a video what comes back, and not what is known of it."""
_ADDRESS = word_set("url urls link links path")
_MAKES = word_set("generate create draw render plot capture edit produce make visualize")
_TYPES = ("image/", "audio/", "video/")


def media(r: Reading, *, snapshots: bool) -> bool:
    """Whether media come back by default; not their addresses, not what is written to a file.

    ``snapshots``: the result is known to carry a snapshot of the page.
    """
    if snapshots or any(kind.startswith(_TYPES) for kind in r.tool.output_media):
        return True
    if r.tool.output is not None and r.tool.method is not None:
        return False
    if traits.saved(r):
        return False
    picture = traits.image(r) or traits.encoded(r) or _offers_base64(r)
    return picture or _is_object(r) or _is_returned(r) or _reads_any_file(r)


def _is_object(r: Reading) -> bool:
    """Whether a picture, an attachment or a page snapshot is what is got: "take a screenshot"."""
    v = r.v
    if not v["software_images"].isdisjoint(frozenset(r.first) | frozenset(r.name)):
        return False
    for action in r.actions:
        if action.act not in {"read", "document"} or not action.object:
            continue
        head, rest = action.object[-1], frozenset(action.object[:-1] + action.of + action.tail[:4])
        if not v["address_nouns"].isdisjoint(rest) or not _ADDRESS.isdisjoint(action.tail):
            continue
        if head in v["media_nouns"] and action.act == "read" and action.verb not in v["looking_verbs"]:
            return head not in _FILMS or action.verb in _FETCHES
        if head in {"attachment", "attachments"} and action.verb in {"download", "fetch"}:
            return True
        if head == "snapshot" or action.verb == "snapshot":
            return not v["page_parts"].isdisjoint(rest | frozenset(r.name))
    return r.name[-1:] in {("screenshot",), ("snapshot",)} and not v["page_parts"].isdisjoint(r.name + r.first[:12])


def _is_returned(r: Reading) -> bool:
    """Whether a sentence says that a picture or sound is returned, and not its address."""
    v = r.v
    for sentence in r.sentences[:6]:
        words = sentence.words
        for i, word in enumerate(words):
            near = words[i + 1 : i + 1 + _NEAR]
            if near[:1] in _BY:
                continue
            near = near[: next((k for k, w in enumerate(near) if k and w in _OF), _NEAR)]
            if word in _GIVES and near[:1] in _IT and _makes(r):
                return True
            if word in _GIVES and any_of(v["media_nouns"], near) and not any_of(v["address_nouns"], near):
                return not any(w in {"not", "no", "without"} for w in words[max(0, i - 3) : i])
    return False


_IT = {("it",), ("them",)}
_BY = {("by",), ("from",)}
"""Behind "returned", these say that something else was."""


def _makes(r: Reading) -> bool:
    """Whether a picture or a sound is what it makes: "draws a chart as an image"."""
    return any(a.verb in _MAKES and any_of(r.v["media_nouns"], a.object, a.tail[:4]) for a in r.actions)


def _reads_any_file(r: Reading) -> bool:
    """Whether it reads files, pictures among them: "handles text, images (PNG, JPG) and PDF files"."""
    reads = any(action.act in {"read", "document"} for action in r.actions)
    words = frozenset(word for sentence in r.sentences[:6] for word in sentence.words)
    said = bool({"image", "images"} & words) and bool({"png", "jpg", "jpeg", "audio"} & words)
    modes = any(
        "image" in str(value).lower()
        for p in r.tool.parameters
        if split(p.name)[-1:] == ("mode",)
        for value in choices(p.schema)
    )
    return reads and bool({"file", "files"} & words) and (said or modes)


def _offers_base64(r: Reading) -> bool:
    """Whether a parameter chooses base64, or offers it instead of a path that is not said to be the default."""
    writes = r.named is not None and r.named.act == "write"
    offered = [p for p in r.tool.parameters if "base64" in [str(value).lower() for value in choices(p.schema)]]
    defaults = [p.schema.get("default") for p in offered]
    return any(str(default).lower() == "base64" or (default is None and not writes) for default in defaults)
