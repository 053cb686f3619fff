"""One reading of a request by the simulated model: what it makes of the prompt, the tools and the results so far."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from dowbench_benchmark.final_answer import FINAL_ANSWER
from dowbench_benchmark.model import Request, StopReason, ToolCall, ToolSpec, Vector
from dowbench_benchmark.providers.wishes import (
    ALL_SO_FAR,
    CallWish,
    EffortWish,
    Interface,
    Rule,
    identifiers,
    read_description,
    read_prompt,
    read_result,
)

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

_SMALL_WORDS = "a an and are for how in is it its many me much of on or that the this to what which with"
_STOPWORDS = frozenset(_SMALL_WORDS.split())
_ANSWER_SENTENCE = re.compile(r"(?<=[.!?])\s+(?=[A-Z0-9])|\n(?=[A-Z0-9]+-)")
_PARALLEL = 64


@dataclass(frozen=True, slots=True)
class Profile:
    """Whose instructions a simulated model follows."""

    follows: frozenset[Vector]
    limit: int | None = None
    """How often it goes on being told what to do, in one conversation; ``None``: for ever."""
    caches: bool = False
    """Whether it has a prompt cache."""


@lru_cache(maxsize=8192)
def tokens(text: str) -> int:
    """Simulated tokens of a text: four bytes of UTF-8 each, rounded up."""
    return (len(text.encode("utf-8", "surrogatepass")) + 3) // 4


class Reading:
    """One reading of a request, as a model with this profile takes it."""

    def __init__(self, request: Request, profile: Profile, interfaces: tuple[Interface, ...]) -> None:
        self.request = request
        self.profile = profile
        self.specs = {tool.name: tool for tool in request.tools}
        self.interfaces = interfaces
        self.prompt = next((m.content for m in request.messages if m.role == "user"), "")
        self.calls = [call for message in request.messages for call in message.tool_calls]
        self.results = [m for m in request.messages if m.role == "tool"]
        asked = {call.id: call for call in self.calls}
        self.answered = [(asked.get(m.tool_call_id or ""), m.content) for m in self.results]
        self.turns = sum(bool(message.tool_calls) for message in request.messages)

    def answer(self) -> tuple[str, tuple[ToolCall, ...], int, StopReason]:
        """Text, calls, tokens of thinking and why it stopped."""
        text, calls, thought, stop = self._turn()
        if FINAL_ANSWER.name in self.specs and not calls:
            call = ToolCall(f"call_{len(self.calls) + 1}", FINAL_ANSWER.name, {"answer": text})
            if call_tokens(call.name, call.arguments) <= self.request.max_tokens - thought:
                return "", (call,), thought, "tool_use" if stop == "end_turn" else stop
        return text, calls, thought, stop

    def _turn(self) -> tuple[str, tuple[ToolCall, ...], int, StopReason]:
        limit = self.request.max_tokens
        if not self.turns and self.specs:
            first = self._first_call()
            if first is not None:
                return self._calling([first], 0)
        wishes = self._wishes() if self.turns or not self.specs else []
        efforts = [wish for wish in wishes if isinstance(wish, EffortWish)]
        thought = 0
        if any(wish.kind == "think" for wish in efforts):
            thought = max(0, limit - 64) if limit > 128 else limit // 2
        calls = [wish for wish in wishes if isinstance(wish, CallWish)]
        if calls:
            return self._calling(calls, thought)
        text = self._answer_text()
        for wish in efforts:
            if wish.kind == "write":
                text += "\n" + self._flood(limit if wish.endless else 40 * (1 + self._last_text().count("\n")), limit)
        return self._saying(text, thought)

    def _saying(self, text: str, thought: int) -> tuple[str, tuple[ToolCall, ...], int, StopReason]:
        """An answer, cut where the limit is."""
        room = 4 * (self.request.max_tokens - thought)
        if len(text.encode()) <= room:
            return text, (), thought, "end_turn"
        return text.encode()[:room].decode("utf-8", "ignore"), (), thought, "max_tokens"

    def _wishes(self) -> Sequence[CallWish | EffortWish]:
        follows, limit = self.profile.follows, self.profile.limit
        if limit is not None and self.turns > limit:
            return []
        wishes: list[CallWish | EffortWish] = []
        if "user_prompt" in follows:
            wishes += read_prompt(self.prompt)
        if "tool_result" in follows:
            fresh = self._fresh()
            for index, (call, text) in enumerate(self.answered):
                found = read_result(text, call.name if call else "", self.interfaces)
                if index >= len(self.answered) - fresh:
                    wishes += found
                else:
                    wishes += [wish for wish in found if isinstance(wish, EffortWish) and wish.persistent]
        if "tool_description" in follows and not any(isinstance(wish, CallWish) for wish in wishes):
            wishes += self._ruled()
        return wishes

    def _ruled(self) -> list[CallWish]:
        last = {call.name for message in self.request.messages[-1 - self._fresh() :] for call in message.tool_calls}
        for rule in self._rules():
            tool = rule.wish.tool
            called = any(call.name == tool for call in self.calls)
            seen = [text for call, text in self.answered if call and call.name == tool]
            if (
                (rule.when == "until" and called and not any(rule.mark in text for text in seen))
                or (rule.when == "after" and tool in last)
                or (rule.when == "before" and not called)
            ):
                return [rule.wish]
        return []

    def _rules(self) -> list[Rule]:
        pairs = zip(self.request.tools, self.interfaces, strict=True)
        return [rule for tool, own in pairs for rule in read_description(tool.description, own, self.interfaces)]

    def _fresh(self) -> int:
        """How many results the last turn brought."""
        count = 0
        for message in reversed(self.request.messages):
            if message.role != "tool":
                break
            count += 1
        return count

    def _first_call(self) -> CallWish | None:
        wanted = _words(self.prompt)
        best: tuple[int, CallWish] | None = None
        for tool in self.request.tools:
            arguments = self._arguments(tool, {}, self.prompt)
            if arguments is None or tool.name == FINAL_ANSWER.name:
                continue
            # Only the first sentence: what else a description says is a matter of following it.
            score = len(wanted & _words(tool.name.replace("_", " ") + " " + tool.description.partition(".")[0]))
            if best is None or score > best[0]:
                best = (score, CallWish(tool.name, arguments))
        return best[1] if best else None

    def _calling(self, wishes: Sequence[CallWish], thought: int) -> tuple[str, tuple[ToolCall, ...], int, StopReason]:
        room = self.request.max_tokens - thought
        many = len(wishes) > 2
        done = {_key(call.name, call.arguments) for call in self.calls} if many else set()
        named = set(identifiers(self.prompt)) if many else set()
        calls: list[ToolCall] = []
        for wish in wishes[:_PARALLEL]:
            arguments = self._complete(wish, room)
            if arguments is None or _key(wish.tool, arguments) in done:
                continue
            if any(isinstance(value, str) and value in named for value in arguments.values()):
                continue
            room -= call_tokens(wish.tool, arguments)
            if room < 0:
                break
            calls.append(ToolCall(f"call_{len(self.calls) + len(calls) + 1}", wish.tool, arguments))
        if not calls:
            return self._saying(self._answer_text(), thought)
        return "", tuple(calls), thought, "tool_use"

    def _complete(self, wish: CallWish, room: int) -> dict[str, Any] | None:
        spec = self.specs.get(wish.tool)
        if spec is None:
            return None
        given = dict(wish.arguments)
        if "tool_description" in self.profile.follows:
            for rule in self._rules():
                if rule.when == "argument" and rule.wish.tool == wish.tool:
                    given |= rule.wish.arguments
        before = next((call.arguments for call in reversed(self.calls) if call.name == wish.tool), {})
        if wish.next_page:
            for name in ("page", "offset"):
                schema = spec.parameters.get("properties", {}).get(name)
                if schema is not None and name not in given:
                    given[name] = int(before.get(name, schema.get("default", 1))) + 1
        arguments = self._arguments(spec, {**before, **given}, self.prompt)
        if arguments is None:
            return None
        echoed = [name for name, value in arguments.items() if value is ALL_SO_FAR]
        for name in echoed:
            arguments[name] = ""
        for name in echoed:
            space = max(0, 4 * (room - call_tokens(wish.tool, arguments) - 8))
            # JSON escapes a line break in two bytes, so breaks are written as blanks.
            everything = " ".join(" ".join(m.content.split()) for m in self.results).replace('"', "'")
            arguments[name] = everything.encode()[:space].decode("utf-8", "ignore")
        return arguments

    def _arguments(self, tool: ToolSpec, given: Mapping[str, Any], prompt: str) -> dict[str, Any] | None:
        properties = tool.parameters.get("properties", {})
        arguments = {name: value for name, value in given.items() if name in properties}
        for name in tool.parameters.get("required", ()):
            if name in arguments:
                continue
            value = self._value(name, properties.get(name, {}), prompt)
            if value is None:
                return None
            arguments[name] = value
        return arguments

    def _value(self, name: str, schema: Mapping[str, Any], prompt: str) -> Any:
        kind = schema.get("type", "string")
        if "enum" in schema:
            return schema["enum"][0]
        if kind in ("integer", "number"):
            return schema.get("default", schema.get("minimum", 1))
        if kind == "boolean":
            return False
        found = identifiers(prompt)
        if kind == "array":
            return found or None
        if kind != "string":
            return {}
        if re.search(r"(?:^|_)(?:id|number|key|code)$", name):
            return found[0] if found else None
        if name.startswith(("previous", "notes", "history", "context")):
            return "none"
        if name in ("answer", "draft"):
            return self._answer_text()
        quoted = re.search(r"\"([^\"]+)\"", prompt)
        return quoted[1] if quoted else prompt

    def _answer_text(self) -> str:
        """The two sentences of the results that share most words with the prompt, in their order."""
        wanted = _words(self.prompt)
        sentences = [" ".join(part.split()) for _, text in self.answered for part in _ANSWER_SENTENCE.split(text)]
        scored = [(len(wanted & _words(sentence)), -index) for index, sentence in enumerate(sentences)]
        best = sorted(-index for score, index in sorted(scored, reverse=True)[:2] if score)
        return " ".join(sentences[index][:200] for index in best) or "I could not find it."

    def _last_text(self) -> str:
        return self.answered[-1][1] if self.answered else ""

    def _flood(self, wanted: int, limit: int) -> str:
        rows = self._last_text().splitlines() or ["carriage"]
        written: list[str] = []
        size = 0
        while size < 4 * min(wanted, limit + 1):
            row = rows[len(written) % len(rows)]
            written.append(f"{row} (listed since the rule asks for it, kept in its place, and given in full)")
            size += len(written[-1].encode()) + 1
        return "\n".join(written)


def _words(text: str) -> frozenset[str]:
    found = re.findall(r"[a-z0-9]+", text.lower())
    return frozenset(word.rstrip("s") for word in found if word not in _STOPWORDS)


def _key(name: str, arguments: Mapping[str, Any]) -> str:
    return json.dumps([name, arguments], sort_keys=True, ensure_ascii=False, default=str)


def call_tokens(name: str, arguments: Mapping[str, Any]) -> int:
    """Simulated tokens of a tool call."""
    return tokens(json.dumps({"name": name, "arguments": arguments}, ensure_ascii=False, default=str))
