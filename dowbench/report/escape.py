"""Names and texts come from strangers: nothing in them may act on a terminal, a page or a workflow log.

Every report passes such text through ``visible`` first and then through the escaping of its own syntax.
"""

from __future__ import annotations

import re

from dowbench.patterns import Patterns

# Control characters, line separators, bidirectional controls, characters without width, lone surrogates, tag
# characters and the supplementary variation selectors: all that is there without being seen, or changes what is seen.
_BEYOND_C0 = (
    "\x7f-\x9f\xad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u2028-\u202e\u2060-\u206f"
    "\u3164\ud800-\udfff\ufeff\uffa0\ufff0-\ufffb\U000e0000-\U000e0fff"
)
_HIDDEN = f"[\x00-\x1f{_BEYOND_C0}]"
_HIDDEN_IN_JSON = f"[{_BEYOND_C0}]"
_MARKDOWN = r"([\\`*_\[\]#!|~@]|:(?=//)|(?<=www)\.|^[-+=]|(?<=^\d)[.)](?= )|(?<=^\d\d)[.)](?= ))"

# GitHub looks for mentions and for numbers of issues in the page, when Markdown's escapes are gone.
_GITHUB = Patterns(references=r"@(?=[A-Za-z\d])|#(?=\d)|\bGH-(?=\d)")

# GitHub's runner obeys a line that begins with ::, after white space, and ##[ anywhere in one:
# https://github.com/actions/runner/blob/main/src/Runner.Common/ActionCommand.cs
_RUNNER = Patterns(re.MULTILINE, commands=r"^([ \t]*):(?=:)|#(?=#\[)")


def _escape(match: re.Match[str]) -> str:
    code = ord(match[0])
    return f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"


def visible(text: str, limit: int | None = None) -> str:
    r"""``text`` on one line with hidden characters as ``\uXXXX``; cut to ``limit`` characters with an ellipsis."""
    if limit is not None and len(text) > limit:
        text = text[: limit - 1] + "…"
    return text if text.isascii() and text.isprintable() else re.sub(_HIDDEN, _escape, text)


def inert(report: str) -> str:
    r"""A whole report without anything that a workflow's log takes for a command: ``\u003a:error::`` for ``::error::``.

    JSON still parses to the same.
    """
    if "::" not in report and "##[" not in report:
        return report
    return _RUNNER.commands.sub(lambda match: "\\u0023" if match[1] is None else f"{match[1]}\\u003a", report)


def json_text(text: str) -> str:
    """JSON already serialized, with hidden characters escaped as JSON does, so that it still parses to the same."""
    if text.isascii() and "\x7f" not in text:
        return text
    return re.sub(_HIDDEN_IN_JSON, _json_escape, text)


def _json_escape(match: re.Match[str]) -> str:
    code = ord(match[0])
    if code < 0x10000:
        return f"\\u{code:04x}"
    code -= 0x10000
    return f"\\u{0xD800 + (code >> 10):04x}\\u{0xDC00 + (code & 0x3FF):04x}"


def markdown(text: str, limit: int | None = None) -> str:
    """``text`` as literal text of GitHub-flavoured Markdown: no markup, link, mention, table cell or HTML in it."""
    plain = visible(text, limit).replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    return _GITHUB.references.sub(r"\g<0><!-- -->", re.sub(_MARKDOWN, r"\\\1", plain))


def markdown_prose(text: str, limit: int | None = None) -> str:
    """``markdown``, but what stands in single backticks, as in messages of rules, becomes code spans."""
    pieces = visible(text, limit).split("`")
    if len(pieces) % 2 == 0:  # the last backtick has no partner
        pieces[-2:] = [f"{pieces[-2]}`{pieces[-1]}"]
    return "".join(
        (markdown_code(piece) if piece else "\\`\\`") if odd % 2 else markdown(piece)
        for odd, piece in enumerate(pieces)
    )


def markdown_code(text: str, limit: int | None = None) -> str:
    """``text`` as a code span that also holds inside a table."""
    plain = visible(text, limit).replace("|", "\\|")
    runs = [len(run) for run in re.findall("`+", plain)]
    fence = "`" * (max(runs, default=0) + 1)
    pad = " " if runs else ""
    return f"{fence}{pad}{plain or ' '}{pad}{fence}"
