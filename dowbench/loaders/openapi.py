"""OpenAPI 3.0, 3.1, 3.2 and Swagger 2.0: one tool an operation, as the usual bridges to agents make them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from dowbench.loaders.context import Context, quote
from dowbench.loaders.keywords import reference, unique
from dowbench.loaders.parameters import flatten
from dowbench.loaders.references import Part
from dowbench.loaders.schema import Resolver
from dowbench.model import Location, Parameter, Schema, Tool, ToolSet
from dowbench.pointer import join

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

METHODS = ("get", "put", "post", "delete", "options", "head", "patch", "trace", "query")
FIELDS = frozenset((*METHODS, "$ref", "summary", "description", "servers", "parameters", "additionalOperations"))
"""What a path may have."""
OWN = frozenset(
    (
        *("openapi", "swagger", "info", "servers", "tags", "security", "paths", "webhooks", "components"),
        *("definitions", "parameters", "responses", "securityDefinitions"),
    )
)
"""What a document may have that holds no tools of another format."""
FORMS = ("application/x-www-form-urlencoded", "multipart/form-data")


class OpenAPILoader:
    """The loader; see ``context.Loader``."""

    name = "openapi"

    def confidence(self, value: Any) -> float:
        """1 for a document that says which OpenAPI it is."""
        return float(isinstance(value, dict) and any(is_version(value.get(key)) for key in ("openapi", "swagger")))

    def load(self, value: Any, context: Context) -> ToolSet:
        """One tool for each operation of ``paths``; webhooks, which others call, are no tools."""
        if not self.confidence(value):
            context.expected('an OpenAPI document (an object with "openapi" or "swagger")', value, "")
        swagger = check_version(value, context)
        paths = value.get("paths")
        if paths is None and (swagger or not {"components", "webhooks"} & value.keys()):
            raise context.error('expected "paths", found an object without it', "")
        if paths is not None and not isinstance(paths, dict):
            context.expected("an object of paths", paths, "/paths")
        reader = Reader(context, Resolver(context, value), value, swagger)
        tools = [tool for path, item in (paths or {}).items() for tool in reader.path(path, item)]
        return context.toolset(self.name, tools, "/paths" if paths is not None else "")


LOADER = OpenAPILoader()


def is_version(value: Any) -> bool:
    """Whether it is a version number; YAML without quotes makes a number of it."""
    if isinstance(value, str):
        return value[:1].isdecimal()
    return isinstance(value, int | float) and not isinstance(value, bool)


def check_version(value: Mapping[str, Any], context: Context) -> bool:
    """Whether the document is Swagger 2.0; an error if its version is none that is read."""
    for key, read in (("openapi", "3."), ("swagger", "2.")):
        if is_version(version := value.get(key)):
            if not f"{version}.".startswith(read):
                wanted = "OpenAPI 3.0, 3.1 or 3.2" if key == "openapi" else "Swagger 2.0"
                context.expected(wanted, version, join("", key))
            return key == "swagger"
    return False


class Reader(NamedTuple):
    """Reads the operations of one document."""

    context: Context
    resolver: Resolver
    document: Mapping[str, Any]
    swagger: bool

    def path(self, path: str, raw: Any) -> Iterator[Tool]:
        """The operations of a path."""
        if path.startswith("x-") or raw is None:
            return
        pointer = join("/paths", path)
        item = self._followed(raw, pointer, "path", path)
        shared = self._parameters(item.raw.get("parameters"), join(item.pointer, "parameters"))
        for method in METHODS:
            if method in item.raw:
                yield self._operation(method, path, item.raw[method], join(item.pointer, method), item.use, shared)
        for key in item.raw if not FIELDS.issuperset(item.raw) else ():
            below = join(item.pointer, key)
            if key.lower() in METHODS and key not in METHODS:
                self.context.note(f'the method "{key}" is written "{key.lower()}" in OpenAPI, and read as that', below)
                yield self._operation(key.lower(), path, item.raw[key], below, item.use, shared)
            elif key not in FIELDS and not key.startswith("x-") and isinstance(item.raw[key], dict):
                self.context.note(f'the unknown key "{quote(key)}" of a path is not read', below)
        more = item.raw.get("additionalOperations")
        if more is not None and not isinstance(more, dict):
            self.context.expected("an object of operations", more, join(item.pointer, "additionalOperations"))
        if more:
            below = join(item.pointer, "additionalOperations")
            for method, operation in more.items():
                yield self._operation(method, path, operation, join(below, method), item.use, shared)

    def _followed(self, raw: Any, pointer: str, kind: str, path: str) -> Part:
        part = self.resolver.follow(raw, pointer)
        if isinstance(part.raw, dict):
            return part
        what = f"the {kind} {quote(path, 80)}"  # only now: there are thousands of paths
        if part.raw is None and isinstance(raw, dict):
            ref = quote(reference(raw) or "", 120)
            if ref.startswith("#"):
                target = self.resolver.target(ref, pointer)
                where = "in a circle" if target and isinstance(target.raw, dict) else "nowhere"
                raise self.context.error(f"{what} is a $ref to {ref}, which leads {where}", pointer)
            why = f"{what} is defined in another file ({ref}), which is not followed"
            raise self.context.error(f"{why}; bundle the description into one file first", pointer)
        return self.context.expected(f"{what} to be an object", part.raw, part.pointer)

    def _operation(
        self, method: str, path: str, raw: Any, pointer: str, use: str | None, shared: Mapping[Any, Part]
    ) -> Tool:
        part = self._followed(raw, pointer, f"operation {method.upper()}", path)
        operation, pointer, use = part.raw, part.pointer, part.use or use
        parameters = {**shared, **self._parameters(operation.get("parameters"), join(pointer, "parameters"))}
        identifier = operation.get("operationId")
        text, text_pointer = self._description(operation, pointer)
        inputs = [p for part in parameters.values() for p in self._parameter(part)]
        if self.swagger:
            body = tuple(self._swagger_body(parameters.values()))
        else:
            body = tuple(self._body(operation.get("requestBody"), join(pointer, "requestBody")))
        output, media = self._output(operation, pointer)
        return Tool(
            name=identifier if isinstance(identifier, str) and identifier.strip() else f"{method.upper()} {path}",
            location=Location(pointer, use),
            description=text,
            parameters=(*sorted(inputs, key=lambda p: p.nested), *body),
            output=output,
            output_media=media,
            method=method.lower(),
            definition=operation,
            description_location=Location(text_pointer, use) if text else None,
        )

    def _description(self, operation: Mapping[str, Any], pointer: str) -> tuple[str, str]:
        """Summary and description, the one where the other holds it, and where the longer of them stands."""
        texts = {
            key: text for key in ("summary", "description") if isinstance(text := operation.get(key), str) and text
        }
        if len(texts) == 2 and texts["summary"].strip(" .") in texts["description"]:
            del texts["summary"]
        return "\n".join(texts.values()), join(pointer, next(reversed(texts), "description"))

    def _parameters(self, raw: Any, pointer: str) -> dict[Any, Part]:
        """Parameter objects behind their references, by what identifies them."""
        if raw is None:
            return {}
        if not isinstance(raw, list):
            self.context.expected("a list of parameters", raw, pointer)
        self.context.few(len(raw), "parameters of a tool", pointer)
        found: dict[Any, Part] = {}
        for index, parameter in enumerate(raw):
            part = self.resolver.follow(parameter, join(pointer, index))
            if part.raw is None and isinstance(parameter, dict):
                continue  # the reference is noted
            if not isinstance(part.raw, dict):
                self.context.expected("a parameter, an object", part.raw, part.pointer)
            if not isinstance(part.raw.get("name"), str):
                self.context.expected("the name of a parameter, a text", part.raw.get("name"), part.pointer)
            found[part.raw["name"], str(part.raw.get("in"))] = part
        return found

    def _parameter(self, part: Part) -> Iterator[Parameter]:
        raw, pointer, use = part
        place = raw.get("in")
        if self.swagger and place in ("body", "formData"):
            return
        schema = self._parameter_schema(raw, pointer, use)
        description = raw.get("description")
        name = raw["name"]
        top = Parameter(
            name=name,
            path=(name,),
            schema=schema,
            required=raw.get("required") is True or place == "path",
            description=description if isinstance(description, str) and description else schema.description,
            place=place if isinstance(place, str) else None,
            location=Location(pointer, use),
        )
        yield top
        yield from flatten(schema, self.context, top.path, top.place)

    def _parameter_schema(self, raw: Mapping[str, Any], pointer: str, use: str | None) -> Schema:
        if self.swagger:
            # the parameter is its own schema, whose "required" is about the parameter
            return self.resolver.schema(raw, pointer, use)
        content = raw.get("content")
        if "schema" not in raw and isinstance(content, dict) and content:
            media = next(iter(content))
            if isinstance(content[media], dict):
                return self._member(Part(content[media], join(pointer, "content", media)), "schema", use)
        return self._member(Part(raw, pointer), "schema", use)

    def _member(self, holder: Part, key: str, use: str | None) -> Schema:
        """The schema under ``key``; where there is none, an unknown one at its holder."""
        if key in holder.raw:
            return self.resolver.schema(holder.raw[key], join(holder.pointer, key), use)
        return self.resolver.schema(None, holder.pointer, use)

    def _body(self, raw: Any, pointer: str) -> Iterator[Parameter]:
        if raw is None:
            return
        part = self.resolver.follow(raw, pointer)
        if part.raw is None:
            return
        if not isinstance(part.raw, dict):
            self.context.expected("a request body, an object", part.raw, part.pointer)
        required = part.raw.get("required") is True
        schema, _ = self._content(part.raw.get("content"), join(part.pointer, "content"), part.use)
        if schema is not None:
            description = part.raw.get("description")
            yield from self._members(schema, required, description if isinstance(description, str) else "")

    def _members(self, schema: Schema, required: bool, description: str, name: str = "body") -> Iterator[Parameter]:
        """The members of a body; a body that is no object is one parameter."""
        members = flatten(schema, self.context, (), "body")
        if schema.types == ("object",) and members:
            yield from members
            return
        if not schema.types and members and any(not member.nested for member in members):
            yield from members
            return
        yield Parameter(name, (name,), schema, required, description or schema.description, "body", schema.location)
        yield from flatten(schema, self.context, (name,), "body")

    def _swagger_body(self, parameters: Iterable[Part]) -> Iterator[Parameter]:
        for raw, pointer, use in parameters:
            description = raw.get("description")
            text = description if isinstance(description, str) else ""
            required = raw.get("required") is True
            if raw.get("in") == "body":
                schema = self._member(Part(raw, pointer), "schema", use)
                yield from self._members(schema, required, text, raw["name"])
            elif raw.get("in") == "formData":
                schema = self.resolver.schema(raw, pointer, use)
                name = raw["name"]
                yield Parameter(name, (name,), schema, required, text, "body", Location(pointer, use))

    def _content(self, content: Any, pointer: str, use: str | None) -> tuple[Schema | None, tuple[str, ...]]:
        """The schema of the media type that is read first, JSON if there is one, and all media types."""
        if content is None:
            return None, ()
        if not isinstance(content, dict):
            self.context.expected("an object of media types", content, pointer)
        media = tuple(content)
        if not media:
            return None, ()
        first = min(media, key=rank)
        body = self.resolver.follow(content[first], join(pointer, first))
        if not isinstance(body.raw, dict):
            return None, media
        key = "schema" if "schema" in body.raw or "itemSchema" not in body.raw else "itemSchema"
        return self._member(body, key, body.use or use), media

    def _output(self, operation: Mapping[str, Any], pointer: str) -> tuple[Schema | None, tuple[str, ...]]:
        """Schema and media types of what a call that succeeds returns."""
        responses, pointer = operation.get("responses"), join(pointer, "responses")
        if responses is None:
            return None, ()
        if not isinstance(responses, dict):
            self.context.expected("an object of responses", responses, pointer)
        codes = [code for code in responses if str(code).startswith("2")] or [c for c in responses if c == "default"]
        best: tuple[int, Schema | None] | None = None
        media: list[str] = []
        for code in sorted(codes, key=str):
            part = self.resolver.follow(responses[code], join(pointer, code))
            if not isinstance(part.raw, dict):
                if part.raw is not None:
                    self.context.expected("a response, an object", part.raw, part.pointer)
                continue
            schema, types = self._response(part, operation)
            media.extend(types)
            quality = min(map(rank, types), default=9) if schema is not None else 10
            if best is None or quality < best[0]:
                best = quality, schema
        return (None, ()) if best is None else (best[1], unique(media))

    def _response(self, part: Part, operation: Mapping[str, Any]) -> tuple[Schema | None, tuple[str, ...]]:
        if not self.swagger:
            return self._content(part.raw.get("content"), join(part.pointer, "content"), part.use)
        if "schema" not in part.raw:
            return None, ()
        produces = operation.get("produces", self.document.get("produces"))
        media = tuple(m for m in produces if isinstance(m, str)) if isinstance(produces, list) else ()
        return self.resolver.schema(part.raw["schema"], join(part.pointer, "schema"), part.use), media


def rank(media: str) -> int:
    """Which of several media types is read: JSON, what is written like it, forms, any other."""
    kind = media.partition(";")[0].strip().lower() if isinstance(media, str) else ""
    if kind == "application/json":
        return 0
    if kind.endswith("json") or kind == "*/*":
        return 1
    return 2 if kind in FORMS else 3
