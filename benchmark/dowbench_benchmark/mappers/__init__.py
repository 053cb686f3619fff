"""From the usage that a provider reports to disjoint counters, strictly: what is not understood is refused.

A mapper takes the provider's usage object as plain data and raises ``model.UsageError`` for a field it does not know
that is not empty, for a missing field and for a sum that does not add up. Audits map recorded usage with the same code.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from dowbench_benchmark import plugins
from dowbench_benchmark.mappers.fields import only, whole
from dowbench_benchmark.model import Mapper, Usage

if TYPE_CHECKING:
    from collections.abc import Mapping

_HERE = "dowbench_benchmark.mappers"
BUILT_IN: Mapping[str, str] = {
    "mock": f"{_HERE}:counters",
    "gemini": f"{_HERE}.gemini:usage",
    "anthropic": f"{_HERE}.anthropic:usage",
    "openai": f"{_HERE}.openai:usage",
    "local": f"{_HERE}.openai:local",
}
"""Provider name to ``module:function``."""
_COUNTERS = ("input_tokens", "output_tokens", "reasoning_tokens", "cache_read_tokens", "cache_write_tokens")


def mapper(provider: str) -> Mapper:
    """The mapper of a provider. Raises ``dowbench.errors.UsageError`` where there is none."""
    found: Mapper = plugins.load("dowbench.mappers", BUILT_IN, provider)
    return found


def counters(raw: Mapping[str, Any]) -> Usage:
    """Usage that is given as the disjoint counters themselves."""
    only(raw, _COUNTERS)
    return Usage(**{name: whole(raw, name) for name in _COUNTERS})
