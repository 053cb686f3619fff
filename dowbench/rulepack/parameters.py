"""Conditions on one parameter, and the roles that the lexicon gives to parameters."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Any

from dowbench import words
from dowbench.errors import UsageError
from dowbench.phrases import PhraseError, Phrases
from dowbench.rulepack import matching
from dowbench.rulepack.reading import FaultError, Path, boolean, choices, kind_of, mapping, near, number, texts

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from dowbench.model import Parameter, Schema
    from dowbench.rulepack.matching import Mention, Search
    from dowbench.rulepack.view import Env, ToolView

TYPES = ("string", "integer", "number", "boolean", "array", "object", "untyped", "base64")
"""JSON types; ``untyped`` where none is stated, ``base64`` beside ``string`` where that is what a text holds."""
KEYWORDS = (
    "default", "enum", "const", "minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf",
    "minLength", "maxLength", "pattern", "format", "minItems", "maxItems", "uniqueItems", "description",
)  # fmt: skip
PLACES = ("query", "path", "header", "cookie", "body")
SOURCES = ("none", "schema", "documented", "unknown")
COMPARISONS = ("above", "at_most")
RESULT_ROLES = ("result_limit", "continuation")
"""Roles that depend on the whole tool; ``dowbench.result`` gives them."""
ROLE_KEYS = (
    "any",
    "all",
    "not",
    "name",
    "type",
    "items",
    "required",
    "nested",
    "place",
    "description",
    "about",
    "has",
    "lacks",
    "choice",
)
PARAMETER_KEYS = ("role", *ROLE_KEYS, "bound", "default", "unit")
UNITS = ("items", "characters", "tokens", "bytes", "words", "lines", "rows", "time", "work")


def compile_test(value: Any, at: Path, env: Env, *, role: bool = False) -> Callable[[ToolView, Parameter], bool]:
    """A test that one parameter meets all keys of ``value``. A role (``role``) may not build on roles or bounds."""
    keys = mapping(value, at, ROLE_KEYS if role else PARAMETER_KEYS)
    tests = []
    for key in sorted(keys, key=_BY_COST.index):
        part, place = keys[key], (*at, key)
        if key in ("any", "all"):
            if not isinstance(part, list):
                raise FaultError(f"expected a list, found {kind_of(part)}", place)
            branches = [compile_test(branch, (*place, i), env, role=role) for i, branch in enumerate(part)]
            tests.append(_any(branches) if key == "any" else _all(branches))
        elif key == "not":
            tests.append(_not(compile_test(part, place, env, role=role)))
        else:
            tests.append(_COMPILERS[key](part, place, env))
    return tests[0] if len(tests) == 1 else _all(tests)


def _not(test: Any) -> Callable[[ToolView, Parameter], bool]:
    return lambda view, parameter: not test(view, parameter)


def _all(tests: list[Any]) -> Callable[[ToolView, Parameter], bool]:
    def holds(view: ToolView, parameter: Parameter) -> bool:
        for test in tests:  # noqa: SIM110 (a generator takes twice as long, and this is where a scan's time goes)
            if not test(view, parameter):
                return False
        return True

    return holds


def _any(tests: list[Any]) -> Callable[[ToolView, Parameter], bool]:
    def holds(view: ToolView, parameter: Parameter) -> bool:
        for test in tests:  # noqa: SIM110
            if test(view, parameter):
                return True
        return False

    return holds


def _name(value: Any, at: Path, env: Env) -> Callable[[ToolView, Parameter], bool]:
    test = matching.name(value, at, env)
    known = lru_cache(maxsize=matching.NAMES)(lambda name: test(words.split(name)))
    return lambda view, parameter: known(parameter.name)


def _description(value: Any, at: Path, env: Env) -> Callable[[ToolView, Parameter], bool]:
    search = matching.description(value, at, env)
    return lambda view, parameter: search.in_text(view.told(parameter)) is not None


def _about(value: Any, at: Path, env: Env) -> Callable[[ToolView, Parameter], bool]:
    search = matching.description(value, at, env)
    return lambda view, parameter: said_of(search, view, parameter) is not None


def said_of(search: Search, view: ToolView, parameter: Parameter) -> Mention | None:
    """What is said of a parameter, in its own description or in those sentences of the tool's that name it."""
    found = search.in_text(view.told(parameter))
    if found is not None or parameter.name not in view.tool.description or view.once(search, view.sentences) is None:
        return found
    return search(view.mentions.of(parameter.name))


def searches(value: Any, env: Env) -> list[Search]:
    """The searches of a test that has passed ``compile_test``, those under ``not`` left out."""
    found = []
    for key, part in value.items():
        if key in ("any", "all"):
            found += [search for branch in part for search in searches(branch, env)]
        elif key in ("about", "description"):
            found.append(matching.description(part, (), env))
    return found


def speaks(value: Any) -> bool:
    """Whether a test has such a search."""
    return isinstance(value, dict) and any(
        key in ("about", "description") or (key in ("any", "all") and isinstance(part, list) and any(map(speaks, part)))
        for key, part in value.items()
    )


def _types(schema: Schema | None) -> frozenset[str]:
    if schema is None:
        return frozenset({"untyped"})
    types = set(schema.types)
    for alternative in schema.alternatives:
        types.update(alternative.types)
    if "string" in types and any(map(_encoded, (schema, *schema.alternatives))):
        types.add("base64")
    return frozenset(types) or frozenset({"untyped"})


def _encoded(schema: Schema) -> bool:
    """Whether a text is said to be bytes: in JSON Schema, or as OpenAPI 3.0 has it."""
    return schema.get("contentEncoding") in {"base64", "base64url"} or schema.get("format") in {"byte", "base64"}


def _type(value: Any, at: Path, env: Env) -> Callable[[ToolView, Parameter], bool]:
    wanted = choices(value, at, TYPES)

    def test(view: ToolView, parameter: Parameter) -> bool:
        schema = parameter.schema
        types = view.among.types.get(id(schema))
        if types is None:
            types = view.among.types[id(schema)] = _types(schema)
        return not wanted.isdisjoint(types)

    return test


def _items(value: Any, at: Path, env: Env) -> Callable[[ToolView, Parameter], bool]:
    wanted = choices(value, at, TYPES)
    return lambda view, parameter: not wanted.isdisjoint(_types(parameter.schema.items))


def _required(value: Any, at: Path, env: Env) -> Callable[[ToolView, Parameter], bool]:
    wanted = boolean(value, at)
    return lambda view, parameter: parameter.required == wanted


def _nested(value: Any, at: Path, env: Env) -> Callable[[ToolView, Parameter], bool]:
    wanted = boolean(value, at)
    return lambda view, parameter: parameter.nested == wanted


def _place(value: Any, at: Path, env: Env) -> Callable[[ToolView, Parameter], bool]:
    wanted = choices(value, at, PLACES)
    return lambda view, parameter: parameter.place in wanted


def stated(parameter: Parameter, keyword: str) -> bool:
    """Whether a parameter states a keyword; a description may stand beside the schema."""
    if keyword == "description":
        return bool(parameter.description.strip())
    return keyword in parameter.schema.keywords


def _has(value: Any, at: Path, env: Env) -> Callable[[ToolView, Parameter], bool]:
    wanted = choices(value, at, KEYWORDS)
    return lambda view, parameter: all(stated(parameter, keyword) for keyword in wanted)


def _lacks(value: Any, at: Path, env: Env) -> Callable[[ToolView, Parameter], bool]:
    unwanted = choices(value, at, KEYWORDS)
    return lambda view, parameter: not any(stated(parameter, keyword) for keyword in unwanted)


def _role(value: Any, at: Path, env: Env) -> Callable[[ToolView, Parameter], bool]:
    names = texts(value, at)
    for i, name in enumerate(names):
        if name not in RESULT_ROLES and name not in env.roles:
            place = (*at, i) if isinstance(value, list) else at
            raise FaultError(f"unknown role `{name}`{near(name, [*RESULT_ROLES, *env.roles])}", place)
    return _any([_has_role(name, env.roles.get(name)) for name in names])


def _has_role(name: str, test: Any) -> Callable[[ToolView, Parameter], bool]:
    if test is None:
        return lambda view, parameter: id(parameter) in view.result_roles(name)

    def has(view: ToolView, parameter: Parameter) -> bool:
        key = (id(parameter), name)
        known = view.roles.get(key)
        if known is None:
            known = view.roles[key] = bool(test(view, parameter))
        return known

    return has


def _bound(value: Any, at: Path, env: Env) -> Callable[[ToolView, Parameter], bool]:
    if isinstance(value, dict):
        keys = mapping(value, at, COMPARISONS)
        tests = [_compare(key, threshold(part, (*at, key), env)) for key, part in keys.items()]
        return _all(tests)
    sources = choices(value, at, SOURCES)
    return lambda view, parameter: view.bound(parameter).source in sources


def _default(value: Any, at: Path, env: Env) -> Callable[[ToolView, Parameter], bool]:
    limit = threshold(mapping(value, at, ("above",), ("above",))["above"], (*at, "above"), env)

    def above(view: ToolView, parameter: Parameter) -> bool:
        default = parameter.schema.get("default")
        return isinstance(default, (int, float)) and default > limit

    return above


def _unit(value: Any, at: Path, env: Env) -> Callable[[ToolView, Parameter], bool]:
    wanted = choices(value, at, UNITS)
    return lambda view, parameter: view.bound(parameter).unit in wanted


def _compare(key: str, limit: float) -> Callable[[ToolView, Parameter], bool]:
    def compare(view: ToolView, parameter: Parameter) -> bool:
        maximum = view.bound(parameter).maximum
        return maximum is not None and (maximum > limit if key == "above" else maximum <= limit)

    return compare


def threshold(value: Any, at: Path, env: Env) -> float:
    """A number, or ``$name`` for an option of the rule."""
    if isinstance(value, str):
        name = value.removeprefix("$")
        if name == value or name not in env.options:
            raise FaultError(f"expected a number or `$option`, found `{value}`{near(name, env.options)}", at)
        return env.options[name]
    return number(value, at)


def _choice(value: Any, at: Path, env: Env) -> Callable[[ToolView, Parameter], bool]:
    test = matching.name(value, at, env)

    def holds(view: ToolView, parameter: Parameter) -> bool:
        enum = parameter.schema.get("enum")
        return isinstance(enum, list) and any(isinstance(entry, str) and test(words.split(entry)) for entry in enum)

    return holds


_QUICK: Mapping[str, Any] = {
    "required": _required,
    "nested": _nested,
    "place": _place,
    "has": _has,
    "lacks": _lacks,
    "type": _type,
    "items": _items,
    "name": _name,
    "choice": _choice,
    "role": _role,
}
_SLOW: Mapping[str, Any] = {
    "description": _description,
    "about": _about,
    "bound": _bound,
    "default": _default,
    "unit": _unit,
}
_COMPILERS = {**_QUICK, **_SLOW}
_BY_COST = (*_QUICK, "all", "any", "not", *_SLOW)
"""All keys, those that are quickly told first."""


def compile_roles(value: Any, at: Path, env: Env) -> dict[str, Callable[[ToolView, Parameter], bool]]:
    """The roles of a lexicon: a name and the test of a parameter that has it."""
    if not isinstance(value, dict):
        raise FaultError(f"expected a mapping of roles, found {kind_of(value)}", at)
    for name in value:
        if name in RESULT_ROLES:
            raise FaultError(f"role `{name}` is worked out from the whole tool and cannot be declared", (*at, name))
    return {name: compile_test(part, (*at, name), env, role=True) for name, part in value.items()}


def compile_lists(value: Any, at: Path, env: Env, more: Mapping[str, tuple[str, ...]]) -> dict[str, Phrases]:
    """The lists of ``env`` and those of ``value``, each of which may name earlier ones.

    ``more`` are phrases added by a configuration. Raises ``UsageError`` for one that is none.
    """
    if not isinstance(value, dict):
        raise FaultError(f"expected a mapping of word lists, found {kind_of(value)}", at)
    lists = dict(env.lists)
    env = env._replace(lists=lists)
    for name, entries in value.items():
        compiled = matching.phrases(entries, (*at, name), env)
        if name in more:
            try:
                compiled = Phrases.compile([*texts(entries, at), *more[name]], lists)
            except PhraseError as error:
                raise UsageError(f"words for `{name}`: {error}") from None
        lists[name] = compiled
    return lists
