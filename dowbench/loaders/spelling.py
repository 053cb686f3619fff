"""Keys of a definition that somebody misspelt: what stands under them would be passed over as if it were not there."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping

KNOWN = frozenset(
    (
        *("parameters", "parametersJsonSchema", "parameters_json_schema", "inputSchema", "input_schema", "args_schema"),
        *("run_params_schema", "init_params_schema", "description", "descriptions"),
    )
)
"""Keys that mean what they say, so that none of them is a misspelt other one."""
OUTPUT = ("output", "return", "response", "result")
"""Words in keys of what a tool gives, not of what it takes."""
ALIKE = 0.85
"""``difflib``'s ratio from which a key is taken for another one: one letter of six missing, two of nine swapped."""


def misspelt(entry: Mapping[str, Any], wanted: str, kind: type) -> str | None:
    """The first key of ``entry`` that is nearly ``wanted``, and holds a value of this kind."""
    return next((k for k, v in entry.items() if isinstance(v, kind) and k not in KNOWN and alike(k, wanted)), None)


def stray_schema(entry: Mapping[str, Any], wanted: str) -> str | None:
    """The key of ``entry`` that holds the schema which ``wanted`` should hold."""
    found = misspelt(entry, wanted, dict)
    if found is not None:
        return found
    return next((key for key, value in entry.items() if is_object_schema(value) and not _of_output(key)), None)


def _of_output(key: str) -> bool:
    return any(word in key.lower() for word in OUTPUT)


@lru_cache(maxsize=4096)
def alike(key: str, meant: str) -> bool:
    """Whether a key is nearly another one, or the same."""
    if not isinstance(key, str) or not 3 < len(key) < 40:
        return False
    found, wanted = _letters(key), _letters(meant)
    if 2 * min(len(found), len(wanted)) < ALIKE * (len(found) + len(wanted)):  # no ratio is higher
        return False
    from difflib import SequenceMatcher

    return SequenceMatcher(None, found, wanted).ratio() >= ALIKE


def _letters(key: str) -> str:
    return key.lower().replace("_", "").replace("-", "").replace(" ", "")


def is_object_schema(value: Any) -> bool:
    """Whether a value is the JSON Schema of an object, as the input of a tool is."""
    return isinstance(value, dict) and value.get("type") == "object" and isinstance(value.get("properties"), dict)
