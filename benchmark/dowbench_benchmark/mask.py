"""Keeps keys out of files and messages: what is shaped like a known vendor's key, or was registered, base64 included.

Masking is by shape, never by the name of a field, and it is idempotent: digests are taken over masked text, so a replay
of a masked recording asks for the same.
"""

from __future__ import annotations

import base64
import re

MASK = b"[masked-key]"
_SHAPES: tuple[tuple[bytes, bytes], ...] = (
    (b"sk-", rb"sk-[A-Za-z0-9_-]{20,}"),
    (b"sk_live_", rb"sk_live_[A-Za-z0-9]{16,}"),
    (b"AIza", rb"AIza[A-Za-z0-9_-]{35}"),
    (b"ya29.", rb"ya29\.[A-Za-z0-9_-]{20,}"),
    (b"AKIA", rb"AKIA[A-Z0-9]{16}"),
    (b"ghp_", rb"ghp_[A-Za-z0-9]{30,}"),
    (b"gho_", rb"gho_[A-Za-z0-9]{30,}"),
    (b"ghs_", rb"ghs_[A-Za-z0-9]{30,}"),
    (b"github_pat_", rb"github_pat_[A-Za-z0-9_]{30,}"),
    (b"glpat-", rb"glpat-[A-Za-z0-9_-]{20,}"),
    (b"xoxb-", rb"xox[bp]-[A-Za-z0-9-]{20,}"),
    (b"hf_", rb"hf_[A-Za-z0-9]{30,}"),
    (b"gsk_", rb"gsk_[A-Za-z0-9]{30,}"),
    (b"xai-", rb"xai-[A-Za-z0-9]{30,}"),
    (b"pplx-", rb"pplx-[A-Za-z0-9]{30,}"),
    (b"r8_", rb"r8_[A-Za-z0-9]{30,}"),
)
_ANY = re.compile(b"|".join(pattern for _, pattern in _SHAPES))
# "sk-" also ends words such as "task-", so in plain text a key begins where a word does.
_PLAIN = re.compile(rb"(?<![A-Za-z0-9])(?:" + _ANY.pattern + rb")")
_WORD = re.compile(rb"[A-Za-z0-9+/_.-]{19,}")
"""Every key, and the base64 of every key, lies within one of these."""
_BASE64_RUN = re.compile(rb"[A-Za-z0-9+/_-]{11,}={0,2}")
_MINIMUM = 8


def _fragments(text: bytes) -> tuple[bytes, ...]:
    """What the base64 of anything that holds ``text`` contains, one for each alignment."""
    found = []
    for shift in range(3):
        encoded = base64.b64encode(b"\0" * shift + text)
        # Characters that also depend on what stands before or after are left out.
        start = (shift * 8 + 5) // 6
        end = (shift + len(text)) * 8 // 6
        found.append(encoded[start:end])
    return tuple(found)


_ENCODED = tuple(fragment for prefix, _ in _SHAPES for fragment in _fragments(prefix))
_secrets: list[tuple[bytes, tuple[bytes, ...]]] = []


def protect(secret: str) -> None:
    """Mask this value wherever it turns up from now on, whatever its shape."""
    if len(secret) >= _MINIMUM and all(secret.encode() != known for known, _ in _secrets):
        _secrets.append((secret.encode(), _fragments(secret.encode())))


def data(value: bytes) -> bytes:
    """``value`` with every key in it masked."""
    for secret, fragments in _secrets:
        value = value.replace(secret, MASK)
        if any(fragment in value or _urlsafe(fragment) in value for fragment in fragments):
            value = _BASE64_RUN.sub(_run, value)
    for word in _WORD.findall(value):
        # A digest, lower case without a dash, is by far the most frequent word of this length.
        if not (word.isalnum() and word.islower()) and (_PLAIN.search(word) or _hides(word)):
            return _BASE64_RUN.sub(_run, _PLAIN.sub(MASK, value))
    return value


def text(value: str) -> str:
    """``data`` for text."""
    return data(value.encode("utf-8", "surrogatepass")).decode("utf-8", "surrogatepass")


def _run(found: re.Match[bytes]) -> bytes:
    return MASK if _hides(found[0]) else found[0]


def _hides(run: bytes) -> bool:
    """Whether the base64 in ``run`` holds a key."""
    if run.islower():
        return False
    plain = run.rstrip(b"=").replace(b"-", b"+").replace(b"_", b"/")
    if any(fragment in plain for _, fragments in _secrets for fragment in fragments):
        return True
    if not any(fragment in plain for fragment in _ENCODED):
        return False
    for piece in re.findall(rb"[A-Za-z0-9+/]+", plain):
        for cut in range(4):
            whole = piece[cut : len(piece) - ((len(piece) - cut) % 4 == 1)]
            if _ANY.search(base64.b64decode(whole + b"=" * (-len(whole) % 4))):
                return True
    return False


def _urlsafe(fragment: bytes) -> bytes:
    return fragment.replace(b"+", b"-").replace(b"/", b"_")
