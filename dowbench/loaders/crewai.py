"""CrewAI: tool specifications, with the schema of a run under ``run_params_schema``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from dowbench.loaders import build
from dowbench.loaders.definitions import ListLoader
from dowbench.loaders.entries import Definition, is_named

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from dowbench.loaders.context import Context
    from dowbench.model import Tool


def matches(entry: Mapping[str, Any]) -> bool:
    return "run_params_schema" in entry and is_named(entry)


def read(definition: Definition, context: Context) -> Iterator[Tool]:
    yield build.tool(context, definition.value, definition.pointer, schema="run_params_schema")


LOADER = ListLoader("crewai", matches, read, "a CrewAI tool (an object with name and run_params_schema)")
