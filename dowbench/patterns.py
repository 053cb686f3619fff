"""Regular expressions that are compiled when they are first asked for: most scans need few of those there are."""

from __future__ import annotations

import re


class Patterns:
    """Patterns by name, each an attribute."""

    def __init__(self, flags: int = re.IGNORECASE, /, **sources: str) -> None:
        self._flags = flags
        self._sources = sources

    def __getattr__(self, name: str) -> re.Pattern[str]:
        if name.startswith("_") or name not in self._sources:
            raise AttributeError(name)
        compiled = re.compile(self._sources[name], self._flags)
        setattr(self, name, compiled)
        return compiled
