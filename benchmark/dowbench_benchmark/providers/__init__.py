"""The ways to call models: an explicit table, and the entry-point group ``dowbench.providers``.

A provider's module imports its SDK when a provider is made, not before, so names, prices and estimates need none.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from dowbench.errors import UsageError
from dowbench_benchmark import plugins

if TYPE_CHECKING:
    from collections.abc import Mapping

    from dowbench_benchmark.model import Provider

GROUP = "dowbench.providers"
PROVIDERS: Mapping[str, str] = {
    "mock": "dowbench_benchmark.providers.mock:MockProvider",
}
"""Name to ``module:class``."""


def provider_class(name: str) -> type[Provider]:
    """The class of a provider. Raises ``UsageError`` with the known names."""
    found = plugins.load(GROUP, PROVIDERS, name)
    if not isinstance(found, type) or not all(hasattr(found, part) for part in ("create", "count", "complete")):
        raise UsageError(f"{GROUP}: {name!r} is no provider: it needs create, count and complete")
    return found


def known() -> tuple[str, ...]:
    """Names of all providers, the shipped ones first."""
    return plugins.names(GROUP, PROVIDERS)
