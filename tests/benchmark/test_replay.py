"""Recording and replay."""

from __future__ import annotations

import json
import socket
from typing import TYPE_CHECKING, Any

import pytest
from dowbench_benchmark import attacks, cassette, runfile, store
from dowbench_benchmark.cassette import Cassette, DriftError
from dowbench_benchmark.replay import replay
from plans import Wrapped, failing, make_plan, overloaded, refused, run_plan, unmappable, without

from dowbench.errors import DowbenchError

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from workbench import Dowbench

EVERYTHING = {
    "attacks": ["second-opinion-01", "stale-copy-01"],
    "defenses": ["none", "turn_limit", {"name": "result_summary", "params": {"min_chars": 100}}],
    "models": ["mock-susceptible", "mock-partial", "mock-caching"],
}


def rows(path: Path) -> list[dict[str, Any]]:
    return [row.object() for row in store.rows(path)]


def test_a_replay_gives_the_same_bytes_without_a_network(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    run_plan(make_plan(**EVERYTHING), tmp_path / "run")

    def forbidden(*arguments: Any) -> None:
        raise AssertionError("a socket was opened")

    monkeypatch.setattr(socket.socket, "connect", forbidden)
    found = replay(tmp_path / "run", tmp_path / "again")
    assert found.missing == 0
    assert found.summary is not None
    assert found.summary.sha256 == found.recorded_sha256
    for name in ("summary.json", "episodes.jsonl", "calls.jsonl"):
        assert (tmp_path / "again" / name).read_bytes() == (tmp_path / "run" / name).read_bytes(), name
    run = runfile.read(tmp_path / "again")
    assert (run.simulated, run.replayed) == (True, True)


def test_a_turn_comes_back_to_the_provider_as_it_gave_it_after_a_resume_too(tmp_path: Path) -> None:
    """The caching model finds its cache in its own turns: read back otherwise, they would cost more."""
    made = make_plan(models=["mock-caching"], attacks=["dated-register-01"], retry={"max_attempts": 1})
    straight = run_plan(made, tmp_path / "straight")
    assert run_plan(made, tmp_path / "rough", Wrapped(failing(overloaded, 4, 10))).progress.failed == 2
    resumed = run_plan(made, tmp_path / "rough")
    assert straight.summary is not None
    assert resumed.summary is not None
    assert resumed.summary.sha256 == straight.summary.sha256
    assert resumed.progress.spent == straight.progress.spent
    assert replay(tmp_path / "rough", tmp_path / "again").recorded_sha256 == straight.summary.sha256


def test_tasks_that_end_with_a_call_end_alike_and_replay(tmp_path: Path) -> None:
    tasks = ["returns-window", "rear-wheel-tension", "delegated-carriage", "reviewed-window"]
    plans = [
        make_plan(benign_tasks=tasks, attacks=["endless-word-01"], final_answer=offered) for offered in (False, True)
    ]
    for made, name in zip(plans, ("plain", "called"), strict=True):
        run_plan(made, tmp_path / name)
    ends = [
        [(row["item_id"], row["kind"], row["status"], row["answered"], row["turns"]) for row in rows(path)]
        for path in (tmp_path / "plain" / "episodes.jsonl", tmp_path / "called" / "episodes.jsonl")
    ]
    assert ends[0] == ends[1]
    assert {status for _, kind, status, _, _ in ends[1] if kind != "attack"} == {"completed"}
    reasons = {row["stop_reason"] for row in rows(tmp_path / "called" / "calls.jsonl")}
    assert reasons == {"tool_use", "max_tokens"}
    found = replay(tmp_path / "called", tmp_path / "again")
    assert found.summary is not None
    assert found.summary.sha256 == found.recorded_sha256


def test_the_cassette_says_each_message_once(tmp_path: Path) -> None:
    run_plan(make_plan(attacks=["long-appendix-01"]), tmp_path)
    tape = Cassette(tmp_path / "cassette.jsonl")
    lines = (tmp_path / "cassette.jsonl").read_bytes().splitlines()
    assert len({line for line in lines if b'"kind":"part"' in line}) == len(tape.parts)
    events = [event for attempt in tape.events.values() for event in attempt]
    longest = max((tape.request(event.digest) for event in events), key=lambda request: len(request["messages"]))
    assert longest is not None
    assert [message["role"] for message in longest["messages"]][:3] == ["user", "assistant", "tool"]
    assert longest["tools"][0]["name"] == "read_document"


@pytest.mark.parametrize(("error", "code"), [(refused, 1), (unmappable, 1)])
def test_errored_episodes_replay_to_the_same_error(tmp_path: Path, error: Callable[[], Exception], code: int) -> None:
    assert run_plan(make_plan(), tmp_path / "run", Wrapped(failing(error, 4))).code == code
    run_plan(make_plan(), tmp_path / "run")
    found = replay(tmp_path / "run", tmp_path / "again")
    assert sum(episode.status == "errored" for episode in found.episodes) == 1
    assert found.summary is not None
    assert found.summary.sha256 == found.recorded_sha256


def test_an_unfinished_run_replays_as_far_as_it_goes(tmp_path: Path) -> None:
    made = make_plan()
    run_plan(made, tmp_path / "run", Wrapped(failing(unmappable, 7)))
    found = replay(tmp_path / "run", tmp_path / "again")
    assert found.summary is None
    assert len(found.episodes) + found.missing == 12
    assert found.missing > 0


def test_an_old_run_replays_after_the_catalogue_has_changed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    run_plan(make_plan(), tmp_path / "run")
    monkeypatch.setattr(attacks, "load_attacks", lambda scenario=None: {})
    found = replay(tmp_path / "run", tmp_path / "again")
    assert found.summary is not None
    assert found.summary.sha256 == found.recorded_sha256


# ---- drift


def rewrite(path: Path, change: Callable[[list[dict[str, Any]]], list[dict[str, Any]]]) -> None:
    rows = [json.loads(line) for line in path.read_bytes().splitlines()]
    dumped = (json.dumps(row, sort_keys=True, separators=(",", ":")) for row in change(rows))
    path.write_text("".join(line + "\n" for line in dumped))


def _events(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [row for row in rows if row["kind"] != "part"]


def _other_arguments(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    event = next(row for row in rows if row["kind"] == "complete" and row["response"]["tool_calls"])
    event["response"]["tool_calls"][0]["arguments"]["document_id"] = "other"
    return rows


def _other_usage(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    event = next(row for row in rows if row["kind"] == "complete")
    event["response"]["usage"]["input_tokens"] += 1
    return rows


def _fewer(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    attempt = _events(rows)[0]["attempt"]
    last = [row for row in rows if row.get("attempt") == attempt][-1]
    return [row for row in rows if row is not last]


def _more(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    first = _events(rows)[0]
    last = [row for row in rows if row.get("attempt") == first["attempt"]][-1]
    rows.insert(rows.index(last) + 1, first)
    return rows


def _other_kind(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    count, complete = _events(rows)[:2]
    rows.remove(complete)
    rows.insert(rows.index(count), complete)
    return rows


def _lost_part(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    rows = _other_arguments(rows)
    event = [row for row in _events(rows) if row["kind"] == "count"][1]
    return [row for row in rows if row.get("digest") != event["digest"] or row["kind"] != "part"]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (
            _other_arguments,
            r"messages\[1\]\.tool_calls\[0\]\.arguments\.document_id from character 1: recorded 'returns",
        ),
        (_other_usage, r"ends otherwise: (cost_usd|usage\.input_tokens): recorded"),
        (_fewer, "the loop asks for a complete, the recording has ended"),
        (_more, "the recording has 1 more event"),
        (_other_kind, "the loop asks for a count, recorded is a complete"),
        (_lost_part, "the recorded request .* is not in the cassette"),
    ],
)
def test_drift_is_refused_with_the_first_difference(
    tmp_path: Path,
    dowbench: Dowbench,
    change: Callable[[list[dict[str, Any]]], list[dict[str, Any]]],
    message: str,
) -> None:
    run_plan(make_plan(), tmp_path / "run")
    rewrite(tmp_path / "run" / "cassette.jsonl", change)
    with pytest.raises(DriftError, match=message) as error:
        replay(tmp_path / "run", tmp_path / "again")
    first = json.loads((tmp_path / "run" / "run.json").read_bytes())["plan"][0]
    assert f"episode {first['episode_id']}" in str(error.value)
    run = dowbench("replay", tmp_path / "run", "--out", tmp_path / "again")
    assert run.code == 2
    assert run.err.count("\n") == 1


def test_another_scenario_is_drift(tmp_path: Path) -> None:
    run_plan(make_plan(), tmp_path / "run")
    run = json.loads((tmp_path / "run" / "run.json").read_bytes())
    run["scenario"]["digest"] = "0" * 64
    (tmp_path / "run" / "run.json").write_text(json.dumps(run))
    with pytest.raises(DowbenchError, match="'parts-desk' is not the one that was recorded"):
        replay(tmp_path / "run", tmp_path / "again")


def test_an_edited_attack_is_drift(tmp_path: Path) -> None:
    run_plan(make_plan(), tmp_path / "run")
    run = json.loads((tmp_path / "run" / "run.json").read_bytes())
    run["attacks"][0]["payload"]["text"] += " And again."
    (tmp_path / "run" / "run.json").write_text(json.dumps(run))
    with pytest.raises(DowbenchError, match="the plan differs from episode 3 on"):
        replay(tmp_path / "run", tmp_path / "again")


def test_a_replay_does_not_overwrite_a_recording(tmp_path: Path) -> None:
    run_plan(make_plan(), tmp_path / "run")
    run_plan(without(make_plan(), 6), tmp_path / "other")
    with pytest.raises(DowbenchError, match="cannot be written over its recording"):
        replay(tmp_path / "run", tmp_path / "run")
    with pytest.raises(DowbenchError, match="holds a recorded run"):
        replay(tmp_path / "run", tmp_path / "other")
    replay(tmp_path / "run", tmp_path / "again")
    replay(tmp_path / "run", tmp_path / "again")
    run_plan(make_plan(seed=5), tmp_path / "third")
    with pytest.raises(DowbenchError, match="holds a replay of another run"):
        replay(tmp_path / "third", tmp_path / "again")


@pytest.mark.parametrize(
    ("recorded", "now", "message"),
    [
        ({"a": [1, 2]}, {"a": [1, 3]}, "a[1]: recorded 2, now 3"),
        ({"a": [1]}, {"a": [1, 2]}, "a has 2 item(s), recorded 1"),
        ({"a": 1}, {"a": 1, "b": 2}, "b is new: 2"),
        ({"a": 1, "b": 2}, {"a": 1}, "b is gone, recorded 2"),
        (
            {"a": "x" * 50 + "1"},
            {"a": "x" * 50 + "2"},
            "a from character 51: recorded 'xxxxxxxxxx1', now 'xxxxxxxxxx2'",
        ),
        ({"a": {"b": "cut"}}, {"a": {"b": "cut off"}}, "a.b from character 4: recorded 'cut', now 'cut off'"),
        ({"a": 1}, {"a": "1"}, 'a: recorded 1, now "1"'),
    ],
)
def test_differences_in_words(recorded: Any, now: Any, message: str) -> None:
    assert cassette.first_difference(recorded, now) == message


def test_a_changed_part_is_refused_with_its_line(tmp_path: Path) -> None:
    run_plan(make_plan(attacks=["long-appendix-01"]), tmp_path / "run")
    file = tmp_path / "run" / "cassette.jsonl"
    rows = file.read_bytes().splitlines(keepends=True)
    at = next(i for i, row in enumerate(rows) if b'"kind":"part"' in row and b'"role":"tool"' in row)
    rows[at] = rows[at].replace(b'"content":"', b'"content":"x', 1)
    file.write_bytes(b"".join(rows))
    with pytest.raises(DowbenchError, match=f"cassette.jsonl:{at + 1}: was changed"):
        replay(tmp_path / "run", tmp_path / "again")


def test_usage_that_differs_from_the_billed_calls_is_drift(tmp_path: Path) -> None:
    run_plan(make_plan(attacks=["long-appendix-01"]), tmp_path / "run")
    file = tmp_path / "run" / "cassette.jsonl"
    rows = [json.loads(row) for row in file.read_bytes().splitlines()]
    event = next(row for row in rows if row["kind"] == "complete")
    event["response"]["raw_usage"]["input_tokens"] = 999_999
    file.write_bytes(
        b"".join(
            json.dumps(row, sort_keys=True, separators=(",", ":"), ensure_ascii=False).encode() + b"\n" for row in rows
        )
    )
    with pytest.raises(DriftError, match=r"calls\.jsonl and the cassette differ in raw_usage\.input_tokens"):
        replay(tmp_path / "run", tmp_path / "again")


def test_spend_that_nobody_recorded_is_not_zero(tmp_path: Path) -> None:
    run_plan(make_plan(attacks=["long-appendix-01"]), tmp_path / "run")
    for name in ("calls.jsonl", "requests.jsonl"):
        (tmp_path / "run" / name).unlink()
    with pytest.raises(DowbenchError, match="the spend is unknown"):
        run_plan(make_plan(attacks=["long-appendix-01"]), tmp_path / "run")
