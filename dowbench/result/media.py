"""Whether a result carries pictures, sound, encoded bytes or a snapshot of a whole page."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dowbench.prose import sentences
from dowbench.result import models, traits
from dowbench.result.bounds import choices
from dowbench.result.english import any_of, word_set
from dowbench.result.recursion import before
from dowbench.words import split

if TYPE_CHECKING:
    from dowbench.result.english import Action
    from dowbench.result.reading import Reading

_GIVES = word_set("return returns returned returning provides providing outputs embeds embedded inline renders")
_NEAR = 7
"""How many words after "returns" a picture is still what is returned."""
_OF = word_set("of for from about to in on")
"""Behind these stands what the returned thing is of: "the codec of a video"."""
_FILMS = word_set("video videos")
_FETCHES = word_set("download capture take")
"""Only with these is a video what comes back, and not what is known of it."""
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
    if models.looks(r) or r.name[-1:] in _LINKS:
        return False
    if traits.saved(r) or _has_place(r):
        return _is_inline(r)
    picture = traits.encoded(r) or _offers_base64(r) or _is_returned(r) or _reads_any_file(r) or _commanded(r)
    if picture or any(_is_screen(action, r.name) for action in r.actions):
        return True
    return not _is_about(r) and (traits.image(r) or _is_object(r))


_LINKS = {("url",), ("urls",), ("link",), ("links",), ("uri",)}


def _has_place(r: Reading) -> bool:
    """Whether a parameter for a place has one by default, so that files go there unasked."""
    return any(
        not r.v["place_names"].isdisjoint(split(p.name)) and not _PATH.isdisjoint(str(p.schema.get("default") or ""))
        for p in r.inputs
    )


_PATH = frozenset("/\\.")


def _is_about(r: Reading) -> bool:
    """Whether the description says that an address or a property is got, whatever the name: "the file reference"."""
    if r.said is None or r.said.act != "read" or any_of(r.v["media_nouns"], r.said.tail[:3]):
        return False
    return not r.v["address_nouns"].isdisjoint(r.said.object[-1:])


def _is_object(r: Reading) -> bool:
    """Whether a picture, an attachment or a page snapshot is what is got: "take a screenshot"."""
    v = r.v
    if not v["software_images"].isdisjoint(frozenset(r.first) | frozenset(r.name)):
        return False
    for action in r.actions:
        if action.act not in {"read", "document"} or not action.object:
            continue
        head, rest = action.object[-1], frozenset(action.object[:-1] + action.of + action.tail[:4])
        if not v["address_nouns"].isdisjoint(rest) or not traits.ADDRESS.isdisjoint(action.tail):
            continue
        if head in v["media_nouns"] and action.act == "read" and action.verb not in v["looking_verbs"]:
            return head not in _FILMS or action.verb in _FETCHES
        if head in {"attachment", "attachments"} and action.verb in {"download", "fetch"}:
            return True
        if head == "snapshot" or action.verb == "snapshot":
            return not v["page_parts"].isdisjoint(rest | frozenset(r.name))
    if r.said is not None and r.said.act == "compute":
        return False
    return r.name[-1:] in {("screenshot",), ("snapshot",)} and not v["page_parts"].isdisjoint(r.name + r.first[:12])


def _is_screen(action: Action, name: tuple[str, ...]) -> bool:
    """Whether all that is on a screen is got: its tree of views, its elements, the screen itself."""
    if action.act not in {"read", "document", "list"} or not action.object:
        return False
    head, near = action.object[-1], frozenset(action.object[:-1] + action.of + action.tail[:4])
    if head in _SCREENS:
        return action.verb in _CAPTURES and "to" not in action.tail
    if head == "dom" and action.act != "list":
        return True
    if head in _INFORMATION:
        return "accessibility" in near and not _SCREENS.isdisjoint(action.of + action.tail)
    if head in _TREES and action.verb not in _SEARCHES:
        named = (before(w, i) for w in (name, action.object) for i, tree in enumerate(w) if tree in _TREES)
        return not _VIEWS.isdisjoint(near.union(name, *named))
    if head != "elements" or action.verb in _SEARCHES:
        return False
    return not _SHOWN.isdisjoint(near) or ("interactive" in near and "page" in action.tail)


_SCREENS = word_set("screen display desktop window viewport")
_INFORMATION = word_set("information info")
_CAPTURES = word_set("capture")
_TREES = word_set("tree hierarchy")
_VIEWS = word_set("accessibility a11y aria dom ui view views widget widgets screen window layout")
_SHOWN = word_set("screen ui accessibility")
_SEARCHES = word_set("find search query locate filter")


def _is_returned(r: Reading) -> bool:
    """Whether a sentence says that a picture or sound is returned, and not its address."""
    v = r.v
    told = sentences(r.text_on_result) if r.argument_texts else r.sentences
    for sentence in told[:_SAID]:
        words = sentence.words
        for i, word in enumerate(words):
            near = words[i + 1 : i + 1 + _NEAR]
            near = near[: next((k for k, w in enumerate(near) if k and w in _OF), _NEAR)]
            if word not in _GIVES or near[:1] in _BY:
                continue
            if near[:1] in _IT and _makes(r):
                return True
            if not v["software_images"].isdisjoint(near):
                continue
            if any_of(v["media_nouns"], near) and not any_of(v["address_nouns"], near):
                return not any(w in {"not", "no", "without"} for w in words[max(0, i - 3) : i])
    return False


def _commanded(r: Reading) -> bool:
    """Whether one of its commands takes a screenshot."""
    return any(
        split(str(value)) in _SHOTS
        for p in r.inputs
        if not _COMMANDS.isdisjoint(split(p.name)[-1:])
        for value in choices(p.schema)
    )


_COMMANDS = word_set("action command operation what")
_SHOTS = {("screenshot",), ("take", "screenshot"), ("get", "screenshot"), ("capture", "screenshot")}


def _is_inline(r: Reading) -> bool:
    """Whether a picture that is also saved is said to come back: "saves it and returns an inline preview"."""
    return any("inline" in s.words and not _GIVES.isdisjoint(s.words) for s in r.sentences[:6]) and _is_returned(r)


_SAID = 10
"""So many sentences of a description may say what is returned."""
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
    shown = any(not _PICTURES.isdisjoint(s.words) and not _AS_IT_IS.isdisjoint(s.words) for s in r.sentences)
    return reads and bool({"file", "files"} & words) and (said or modes or shown)


_PICTURES = word_set("image images picture pictures photo photos")
_AS_IT_IS = word_set("itself viewable inline visually multimodal")


def _offers_base64(r: Reading) -> bool:
    """Whether a parameter offers base64 instead of a path, and nothing else is the default."""
    writes = r.named is not None and r.named.act == "write"
    for p in r.tool.parameters:
        if "base64" in [str(value).lower() for value in choices(p.schema)]:
            default = p.schema.get("default")
            if (default is None and not writes) or (default == "base64" and not _OUTPUT.isdisjoint(split(p.name))):
                return True
    return False


_OUTPUT = word_set("output return response result format")
