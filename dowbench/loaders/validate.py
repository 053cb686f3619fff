"""What ``openapi-spec-validator`` says of an OpenAPI document, with places. Only on request, and without a network."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from dowbench.errors import UsageError
from dowbench.loaders.context import Context, quote
from dowbench.loaders.openapi import LOADER
from dowbench.loaders.references import Part, References
from dowbench.model import Note
from dowbench.pointer import join

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

MOST = 100
"""Errors of one document that are told."""


class NotFollowedError(LookupError):
    """The validator asked for another file or address."""


def validate(value: Any, path: str, document: int = 0) -> Iterator[Note]:
    """The errors of an OpenAPI document, each with a ``pointer``; nothing for a document of another format.

    What lies behind a reference to another file is not looked at, and that is said. Documents that do not have the form
    that their version prescribes are not checked further for what else may be wrong with them.

    Raises:
        UsageError: the extra ``validate`` is not installed.
    """
    if not LOADER.confidence(value):
        return
    try:
        from openapi_spec_validator import validation  # noqa: F401
    except ImportError as error:
        raise UsageError("an OpenAPI validator is needed: pip install 'dowbench[validate]'") from error
    references = References(Context(path, document, value), value)
    for count, (way, message) in enumerate(errors(value)):
        if count == MOST:
            yield Note(path, f"more than {MOST} errors; the rest is not listed", document=document)
            return
        yield Note(path, message, pointer=place(references, way), document=document)


def errors(value: Mapping[str, Any]) -> Iterator[tuple[tuple[Any, ...], str]]:
    """Each error: the keys that lead to it, through references, and the message on one line."""
    from jsonschema_path import SchemaPath

    checker = validator(value)
    if checker is None:
        yield (), "the validator does not know this version of OpenAPI"
        return
    root = SchemaPath.from_dict(value, handlers=dict.fromkeys(("<all_urls>", "http", "https", "file", ""), refuse))
    checks = checker(root)
    try:
        well_formed = True
        for error in checks.schema_validator.iter_errors(value):
            well_formed = False
            cause = deepest(error)
            yield tuple(cause[0].absolute_path), quote(" or ".join(dict.fromkeys(c.message for c in cause)), 200)
        if well_formed:
            for error in checks.root_validator(root):
                yield (*getattr(error, "way", ()), *error.absolute_path), quote(str(error.message), 200)
    except Exception as error:
        yield (), quote(not_followed(error) or f"the validator could not go on: {type(error).__name__}: {error}", 200)


def not_followed(error: BaseException | None) -> str | None:
    """What was not followed, if that is behind an error."""
    while error is not None and not isinstance(error, NotFollowedError):
        error = error.__cause__ or error.__context__
    return str(error) if error is not None else None


def validator(value: Mapping[str, Any]) -> Any:
    """The class that checks a document of this version, made to say where errors are; ``None`` if there is none."""
    from openapi_spec_validator import validation

    name = "swagger" if "swagger" in value else "openapi"
    version = ".".join(str(value[name]).split(".")[:2])
    names = {"2.0": "V2", "3.0": "V30", "3.1": "V31", "3.2": "V32"}
    base = getattr(validation, f"OpenAPI{names.get(version)}SpecValidator", None)
    if base is None:
        return None
    located_checks = {keyword: located(check) for keyword, check in base.keyword_validators.items()}
    return type(base.__name__, (base,), {"keyword_validators": located_checks})


def located(check: Any) -> Any:
    """A check whose errors have a ``way``: the keys that lead to what the innermost check was given."""
    from jsonschema_path import SchemaPath

    class Located(check):  # type: ignore[misc]
        def __call__(self, *given: Any, **options: Any) -> Iterator[Any]:
            way = next((part.parts for part in given if isinstance(part, SchemaPath)), ())
            for error in super().__call__(*given, **options):
                if not hasattr(error, "way"):
                    error.way = way
                yield error

    return Located


def refuse(address: str) -> Any:
    """In place of reading a file or asking a server."""
    raise NotFollowedError(f"only the form was checked: {quote(address, 120)} is another file, which is not followed")


def deepest(error: Any) -> list[Any]:
    """Why a document lacks its form: of alternatives those that got furthest, and not that it is no ``$ref``."""
    while error.context:
        causes = [c for c in error.context if not (c.validator == "required" and "'$ref'" in c.message)]
        if not causes:
            break
        depth = max(len(cause.absolute_path) for cause in causes)
        causes = [cause for cause in causes if len(cause.absolute_path) == depth]
        if len(causes) > 1:
            return causes
        (error,) = causes
    return [error]


def place(references: References, way: tuple[Any, ...]) -> str:
    """The pointer of what the keys lead to, through references; of the nearest holder where they lead nowhere."""
    part = Part(references.root, "")
    for key in way:
        holder = references.follow(part.raw, part.pointer)
        raw = holder.raw
        listed = isinstance(raw, list) and isinstance(key, int) and key < len(raw)
        if listed or (isinstance(raw, dict) and key in raw):
            part = Part(raw[key], join(holder.pointer, key))
        else:
            break
    return part.pointer
