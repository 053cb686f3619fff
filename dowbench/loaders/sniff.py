"""A look at the bytes of a file that was not named, far cheaper than parsing: may it hold tool definitions?"""

from __future__ import annotations

import re
from typing import Literal

# White space is possessive: a stranger may write any amount of it, and trying again would take its square.
# What only tool definitions have, and words that a file must have one of to be tool definitions, as bytes. An escape or
# a NUL (UTF-16) may hide any of them.
_STRONG = (
    rb"""inputSchema|input_schema|function_?[dD]eclarations|toolSpec|parameters_?[jJ]son_?[sS]chema|args_schema"""
    rb"""|run_params_schema|["']?type["']?\s*:\s*["']?function\b|["']?(?:openapi|swagger)["']?\s*:\s*["']?\d"""
    rb"""|["'](?:tools|functions)["']\s*+:\s*+\[\s*+\{"""
    rb"""|\bparameters["']?\s*+:\s*+(?:\{\s*+)?["']?type["']?\s*+:\s*+["']?(?:object|OBJECT)\b"""
)
_WEAK = (
    rb"""\b(?:parameters|arguments|args|tools|functions|functionSchema|custom|lc)["']?\s*:|\\u00|\x00|operationId"""
    rb"""|(?:readOnly|destructive|idempotent|openWorld)Hint\b|para?m\w{0,3}t\w{0,3}["']?\s*:"""
    rb"""|[iI]nput[-_ ]?[sS]ch?em|[tT]ool[-_ ]?[sS]pec|[fF]unction[-_ ]?[dD]ecl"""
)


def looks_like(data: bytes) -> Literal["yes", "maybe", "no"]:
    """What the bytes of a file say of tool definitions in it.

    ``no`` is certain, ``maybe`` needs parsing to tell. With ``yes`` a file that cannot be parsed is a broken one, and
    not one of something else.
    """
    if re.search(_STRONG, data):
        return "yes"
    return "maybe" if re.search(_WEAK, data) else "no"
