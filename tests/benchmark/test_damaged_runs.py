"""Run directories that were damaged: every command says where and ends as documented, whatever a value has become.

``DOWBENCH_DAMAGES`` sets how many damages are tried on each file, ``DOWBENCH_DAMAGE_SEED`` which.
"""

from __future__ import annotations

import json
import os
import random
import re
import shutil
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest
from dowbench_benchmark import codec
from dowbench_benchmark.providers.mock import MockProvider
from plans import BASE, PILOT, make_plan, recorded_pilot, run_part, run_plan, without

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from dowbench_benchmark.model import Request, Response
    from workbench import Dowbench, Run

DAMAGES = int(os.environ.get("DOWBENCH_DAMAGES", "12"))
SEED = int(os.environ.get("DOWBENCH_DAMAGE_SEED", "20261130"))
LOGS = ("requests.jsonl", "cassette.jsonl", "calls.jsonl", "episodes.jsonl")
CHANGES: dict[str, Any] = {"attacks": ["open-cursor-01"], "controls": False}
VALUES: tuple[bytes, ...] = (
    b"null", b"true", b"0", b"-1", b"0.5", b"1e999", b"-1e999", b"1e-320", b"NaN", b"Infinity", b"1" * 400, b"9" * 5000,
    b'""', b'"x"', b'"\\ud800"', b'"\\u001b[31m"', b'"\xff"', b'"\\u0000"', b'"' + b"A" * 300 + b'"',
    b"[]", b"[0]", b"{}", b'{"a":1}', b"[" * 100_000, b"[" * 500 + b"]" * 500, b"",
)  # fmt: skip
"""What a value becomes, as it stands in the file; the last one is no JSON."""
ROWS: tuple[bytes, ...] = (b"[]", b"null", b"{}", b'"x"', b"{", b"\xff", b"\x00", b"[" * 100_000)


@pytest.fixture(scope="module")
def done(tmp_path_factory: pytest.TempPathFactory) -> Path:
    directory = tmp_path_factory.mktemp("done") / "run"
    run_plan(make_plan(**CHANGES), directory)
    return directory


@pytest.fixture(scope="module")
def cut(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run of which the last episode is missing."""
    directory = tmp_path_factory.mktemp("cut") / "run"
    run_part(make_plan(**CHANGES), directory, without(make_plan(**CHANGES), 1))
    return directory


@pytest.fixture
def plan(tmp_path: Path) -> Path:
    path = tmp_path / "plan.yaml"
    path.write_text(json.dumps({**BASE, **CHANGES}), encoding="utf-8")
    return path


def places(value: Any, at: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """The keys that lead to every value inside ``value``."""
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, item in inner:
        yield (*at, key)
        yield from places(item, (*at, key))


def put(value: Any, at: tuple[Any, ...], new: bytes | None) -> bytes:
    """``value`` as JSON, with what is at ``at`` replaced by ``new``, or left out."""
    changed = json.loads(json.dumps(value))
    holder = changed
    for key in at[:-1]:
        holder = holder[key]
    if new is None:
        del holder[at[-1]]
        new = b""
    else:
        holder[at[-1]] = "@@"
    text = json.dumps(changed, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    return text.encode().replace(b'"@@"', new)


def damage(file: Path, chance: random.Random) -> str:
    """Damage one place of a file, and say how."""
    data = file.read_bytes()
    if file.suffix == ".json":
        value = json.loads(data)
        at = chance.choice(list(places(value)))
        new = chance.choice([*VALUES, None])
        file.write_bytes(put(value, at, new))
        return f"{file.name} {at} = {new and new[:20]!r}"
    rows = data.splitlines(keepends=True)
    number = chance.randrange(len(rows))
    how = chance.choice(["value"] * 6 + ["row", "cut", "lost", "twice", "torn"])
    if how == "value":
        row = json.loads(rows[number])
        at = chance.choice(list(places(row)))
        new = chance.choice([*VALUES, None])
        how = f"{at} = {new and new[:20]!r}"
        rows[number] = put(row, at, new) + b"\n"
        if row.get("kind") == "part" and at[0] == "value" and new is not None and chance.random() < 0.8:
            # As whoever wants to do harm would: under its right digest, by which others still find it.
            text = rows[number][rows[number].index(b'"value":') + 8 : -2]
            digest = codec.text_digest(text)[: len(row["digest"])].encode()
            rows = [line.replace(row["digest"].encode(), digest) for line in rows]
    elif how == "row":
        rows[number] = chance.choice(ROWS) + b"\n"
    elif how == "cut":
        rows[number] = rows[number][: len(rows[number]) // 2] + b"\n"
    elif how == "lost":
        del rows[number]
    elif how == "twice":
        rows.insert(number, rows[number])
    else:
        rows[-1] = rows[-1][:-10]
    file.write_bytes(b"".join(rows))
    return f"{file.name}:{number + 1} {how}"


def check(run: Run, directory: Path, said: str) -> None:
    """A documented exit code, and for a refusal one line that names a file of the run."""
    assert "internal error" not in run.err, said
    assert "Traceback" not in run.err, said
    assert run.code in (0, 1, 2, 3), said
    errors = [line for line in run.err.splitlines() if line.startswith("error: ")]
    assert len(errors) == (run.code == 2), (said, run.err)
    if errors:
        assert re.match(rf"error: (episode|attempt|{re.escape(str(directory))})", errors[0]), (said, errors)


@pytest.mark.parametrize("name", [*LOGS, "run.json"])
def test_every_command_survives_every_damage(
    done: Path, cut: Path, plan: Path, tmp_path: Path, dowbench: Dowbench, name: str
) -> None:
    chance = random.Random(f"{SEED} {name}")
    for number in range(DAMAGES):
        directory = tmp_path / f"run{number}"
        shutil.copytree(chance.choice([done, cut]), directory)
        said = damage(directory / name, chance)
        for command in ("audit", "report"):
            check(dowbench(command, directory), directory, f"{command}: {said}")
        check(dowbench("replay", directory, "--out", tmp_path / "again"), directory, f"replay: {said}")
        check(dowbench("estimate", plan, "--out", directory), directory, f"estimate: {said}")
        before = {path.name: path.read_bytes() for path in directory.iterdir()}
        run = dowbench("run", plan, "--out", directory, "-q")
        check(run, directory, f"run: {said}")
        if run.code == 2:
            assert {path.name: path.read_bytes() for path in directory.iterdir()} == before, said
        shutil.rmtree(directory)


@recorded_pilot
@pytest.mark.parametrize("name", ["run.json", "episodes.jsonl", "cassette.jsonl", "summary.json"])
def test_runs_of_0_1_0_survive_every_damage(tmp_path: Path, dowbench: Dowbench, name: str) -> None:
    chance = random.Random(f"{SEED} {name} 0.1.0")
    for number in range(DAMAGES):
        directory = tmp_path / f"run{number}"
        shutil.copytree(PILOT, directory)
        (directory / name).chmod(0o600)
        said = damage(directory / name, chance)
        for command in ("audit", "report"):
            check(dowbench(command, directory), directory, f"{command}: {said}")
        if name == "summary.json":
            run = dowbench("audit", directory)
            assert run.code == 1, said
            assert str(directory / name) in run.err, said
        directory.chmod(0o700)
        shutil.rmtree(directory)


SCALARS = {
    "requests.jsonl": ("attempt", "call", "episode_id", "model", "counted", "max_tokens", "at"),
    "calls.jsonl": (
        "attempt", "call", "episode_id", "turn", "depth", "role", "model", "counted", "max_tokens", "usage",
        "raw_usage", "cost_usd", "stop_reason", "served_model", "latency_s", "error", "billed",
    ),
    "episodes.jsonl": (
        "episode_id", "model", "defense", "kind", "item_id", "benign_task_id", "repeat", "status", "reason", "turns",
        "usage", "cost_usd", "simulated", "attempt", "wording", "answered",
    ),
    "cassette.jsonl": ("attempt", "kind", "episode_id", "digest", "error", "call", "turn", "depth", "role", "response"),
}  # fmt: skip


@pytest.mark.parametrize(("name", "field"), [(name, field) for name, fields in SCALARS.items() for field in fields])
def test_a_value_of_the_wrong_kind_is_refused_with_its_line(
    done: Path, tmp_path: Path, dowbench: Dowbench, name: str, field: str
) -> None:
    directory = tmp_path / "run"
    shutil.copytree(done, directory)
    rows = (directory / name).read_bytes().splitlines()
    number = max(place for place, row in enumerate(rows) if b'"kind":"part"' not in row)
    rows[number] = put(json.loads(rows[number]), (field,), b'["wrong"]')
    (directory / name).write_bytes(b"".join(row + b"\n" for row in rows))
    run = dowbench("replay", directory, "--out", tmp_path / "again")
    assert (run.code, run.err.count("\n")) == (2, 1), run.err
    assert run.err.startswith(f"error: {directory / name}:{number + 1}: {field}: expected "), run.err


@pytest.mark.parametrize(
    ("at", "value"),
    [
        (("run_name",), b"7"),
        (("simulated",), b'"yes"'),
        (("spent_usd",), b"1" * 400),
        (("spent_tokens",), b"-1"),
        (("config", "seed"), b"1.5"),
        (("config", "repeats"), b"9" * 30),
        (("config", "success_threshold"), b"1"),
        (("config", "ceiling", "max_turns"), b"null"),
        (("config", "defenses", 1, "stack"), b"7"),
        (("config", "defenses", 1, "stack", 0, "name"), b'"no_such"'),
        (("config", "models"), b"[]"),
        (("config", "surprise"), b"1"),
        (("attacks", 0, "payload", "vector"), b'"mail"'),
        (("attacks", 0, "task"), b'"no-such"'),
        (("attacks", 0, "payload", "padding"), b"[1]"),
        (("prices", 0, "input_per_mtok"), b"-1"),
        (("prices", 0, "model"), b'"other"'),
        (("plan", 3, "episode_id"), b"null"),
        (("scenario", "digest"), b"0"),
        (("served_model_versions", "mock-susceptible"), b"Infinity"),
    ],
)
def test_a_wrong_value_in_run_json_is_refused_with_its_line(
    done: Path, tmp_path: Path, dowbench: Dowbench, at: tuple[Any, ...], value: bytes
) -> None:
    directory = tmp_path / "run"
    shutil.copytree(done, directory)
    content = json.loads((directory / "run.json").read_bytes())
    holder = content
    for key in at[:-1]:
        holder = holder[key]
    holder[at[-1]] = "@@"
    text = json.dumps(content, indent=2, sort_keys=True).encode()
    (directory / "run.json").write_bytes(text.replace(b'"@@"', value))
    line = text[: text.index(b'"@@"')].count(b"\n") + 1
    run = dowbench("replay", directory, "--out", tmp_path / "again")
    assert (run.code, run.err.count("\n")) == (2, 1), run.err
    if at == ("prices", 0, "model"):  # what is missing now is the price of a configured model
        line = text[: text.index(b'"mock-susceptible"')].count(b"\n") + 1
    assert run.err.startswith(f"error: {directory / 'run.json'}:{line}: "), (line, run.err)


def _nested(depth: int) -> Any:
    value: Any = "x"
    for _ in range(depth):
        value = [value]
    return value


class Odd(MockProvider):
    """A model whose tool calls carry an odd value, until it is told what came of them."""

    def __init__(self, value: Any) -> None:
        super().__init__()
        self.value = value

    def complete(self, request: Request) -> Response:
        response = super().complete(request)
        calls = tuple(replace(call, arguments={**call.arguments, "odd": self.value}) for call in response.tool_calls)
        return replace(response, tool_calls=calls, opaque={"odd": self.value}, served_model=f"m{self.value!r}"[:40])


@pytest.mark.parametrize(
    ("value", "errored"),
    [
        ("\ud800 \udfff", False),
        ("\x00\x1b[31m\u2028\u202e", False),
        (float("nan"), False),
        (float("-inf"), False),
        (10**400, False),
        ({"": {"\ud800": None}}, False),
        (_nested(60), False),
        (_nested(120), True),
        (_nested(5000), True),
    ],
)
def test_whatever_a_model_says_can_be_read_again(
    tmp_path: Path, plan: Path, dowbench: Dowbench, value: Any, errored: bool
) -> None:
    directory = tmp_path / "run"
    made = make_plan(**CHANGES)
    run_part(made, directory, without(made, 1), Odd(value))
    done = dowbench("run", plan, "--out", directory, "-q")
    assert done.code == int(errored), done.err
    assert dowbench("audit", directory).code == 0
    assert dowbench("report", directory).code == 0
    again = dowbench("replay", directory, "--out", tmp_path / "again")
    assert again.code == 0, again.err
    assert ": equal" in again.out
    rows = [json.loads(line) for line in (directory / "episodes.jsonl").read_bytes().splitlines()]
    assert any(row["status"] == "errored" for row in rows) is errored
