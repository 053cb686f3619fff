"""The benchmark's commands as a user meets them."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
import yaml
from dowbench_benchmark import brief, estimate, prices, progress, recording, runfile, runner
from dowbench_benchmark.ledger import Spend
from dowbench_benchmark.prices import UNIT
from plans import BASE, Wrapped, failing, make_plan, overloaded, run_part, run_plan, without

if TYPE_CHECKING:
    from workbench import Dowbench

SIMULATED = "SIMULATED: no model answered."


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def test_run_replay_audit_from_the_shipped_configuration(dowbench: Dowbench, tmp_path: Path) -> None:
    run = dowbench("run", "smoke")
    assert (run.code, run.err) == (0, "")
    assert run.out.startswith(SIMULATED)
    assert run.out.count(SIMULATED) == 2
    (line,) = [line for line in run.out.splitlines() if line.startswith("summary.json sha256 ")]
    assert "recorded in runs/smoke" in run.out
    assert "\nSIMULATED · 12/12 episodes" in run.out
    again = dowbench("replay", "runs/smoke")
    assert again.code == 0
    assert f"{line}: equal" in again.out
    assert again.out.startswith(SIMULATED)
    assert "REPLAYED" not in again.out
    summary = (tmp_path / "runs" / "smoke" / "summary.json").read_bytes()
    assert (tmp_path / "runs" / "smoke.replay" / "summary.json").read_bytes() == summary
    audit = dowbench("audit", "runs/smoke", "-o", "out.json")
    assert audit.code == 0
    assert audit.out.startswith(SIMULATED)
    assert f"{line}\n" in audit.out
    assert "equal to the recorded" in audit.out
    assert (tmp_path / "out.json").read_bytes() == summary


def test_replays_of_real_runs_are_marked(dowbench: Dowbench) -> None:
    made = make_plan()
    run_plan(made, Path("real"), Wrapped(), simulated=False, limits=runner.Limits(attousd=100 * UNIT))
    again = dowbench("replay", "real")
    assert again.code == 0
    assert again.out.startswith("REPLAYED: ")
    assert "SIMULATED" not in again.out
    run = json.loads((Path("runs/real.replay") / "run.json").read_text())
    assert (run["simulated"], run["replayed"]) == (False, True)


def test_simulated_outranks_replayed() -> None:
    assert (brief.banner(simulated=True, replayed=True) or "").startswith("SIMULATED")
    assert (brief.banner(simulated=False, replayed=True) or "").startswith("REPLAYED")
    assert brief.banner(simulated=False) is None


def test_a_median_of_bounds_says_so() -> None:
    run_plan(make_plan(), Path("run"))
    summary = json.loads((Path("run") / "summary.json").read_text())
    cell = summary["defenses"][0]
    assert cell["censored"] * 2 > cell["attack_episodes"]
    row = brief.table(summary).splitlines()[1]
    assert f"≥ {cell['median_amplification']:.2f}" in row


@pytest.mark.parametrize(
    ("what", "expected"),
    [
        ("attacks", "stale-copy-01"),
        ("tasks", "returns-window"),
        ("defenses", "max_total_tokens=8000"),
        ("providers", "mock  no key  simulated"),
        ("models", "gemini-3.5-flash-lite"),
        ("scenarios", "parts-desk"),
        ("configs", "pilot"),
    ],
)
def test_list(dowbench: Dowbench, what: str, expected: str) -> None:
    run = dowbench("list", what)
    assert run.code == 0
    assert expected in run.out
    assert expected in dowbench("list").out


def test_commands_load_no_sdk() -> None:
    program = (
        "import sys; from dowbench.cli import run\n"
        "for command in (['list'], ['estimate', 'pilot'], ['run', 'smoke', '-q'], ['replay', 'runs/smoke']):\n"
        "    assert run(command) == 0, command\n"
        "heavy = {'openai', 'anthropic', 'google', 'httpx', 'pydantic', 'rich', 'numpy', 'genai_prices', 'asyncio'}\n"
        "sys.exit(f'loaded: {heavy & set(sys.modules)}' if heavy & set(sys.modules) else 0)"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_an_errored_episode_is_exit_code_1(dowbench: Dowbench, tmp_path: Path) -> None:
    (tmp_path / "c.yaml").write_text(
        "run_name: c\nprovider: mock\nmodels: [mock-susceptible]\nattacks: [stale-copy-01]\n"
        "provider_options: {fault: {kind: unmappable, every: 1, times: 1}}\n"
    )
    run = dowbench("run", "c.yaml")
    assert run.code == 1
    assert "stopped: the usage of a call cannot be mapped" in run.err
    assert run.err.count("\n") == 1


def test_a_budget_that_is_reached_is_exit_code_3(dowbench: Dowbench) -> None:
    refused = dowbench("run", "smoke", "--budget-usd", "0.01")
    assert (refused.code, refused.err.count("\n")) == (2, 1)
    run = dowbench("run", "smoke", "--budget-usd", "0.01", "--partial")
    assert run.code == 3
    assert "stopped: budget of $0.0100 reached" in run.err
    assert "; the same command with a larger budget goes on" in run.err
    assert dowbench("run", "smoke", "--budget-usd", "100").code == 0


@pytest.mark.parametrize("text", ["-1", "nan", "1.5", "1e3", "", "٣"])
def test_token_budgets_are_whole_numbers(dowbench: Dowbench, text: str) -> None:
    run = dowbench("run", "smoke", f"--budget-tokens={text}")
    assert (run.code, "--budget-tokens: expected a whole number" in run.err) == (2, True)


@pytest.mark.parametrize("threshold", ["1", "0.5", "-3", "nan", "inf"])
def test_thresholds_are_above_one(dowbench: Dowbench, threshold: str) -> None:
    dowbench("run", "smoke")
    run = dowbench("audit", "runs/smoke", f"--threshold={threshold}")
    assert (run.code, "--threshold: expected a number above 1" in run.err) == (2, True)


def test_output_that_cannot_be_written(dowbench: Dowbench) -> None:
    dowbench("run", "smoke")
    for arguments in (
        ("audit", "runs/smoke", "-o", "no/such/folder/s.json"),
        ("replay", "runs/smoke", "--out", "/proc/no/such"),
        ("run", "smoke", "--out", "/proc/no/such"),
    ):
        run = dowbench(*arguments)
        assert (run.code, run.err.count("\n")) == (2, 1), arguments
        assert "cannot be" in run.err


# ---- estimates


def test_an_estimate(dowbench: Dowbench) -> None:
    run = dowbench("estimate", "smoke")
    assert run.code == 0
    worst = runner.worst_case(make_plan(), list(make_plan().episodes))
    assert worst == Spend(12 * 50_000, 12 * 50_000 * 5 * UNIT // 10**6)
    assert "episodes: 12 planned, 12 pending" in run.out
    assert "calls: at most 144, each counted first, tries after a failure apart" in run.out
    assert "worst case: 600,000 tokens, $3.0000" in run.out
    assert "expected case: unknown" in run.out
    assert "already spent here: 0 tokens, $0.0000" in run.out
    assert run.out.startswith(SIMULATED)


def test_other_prices_than_the_shipped_ones(dowbench: Dowbench, tmp_path: Path) -> None:
    shipped = (Path(prices.__file__).parents[2] / "pricing.yaml").read_text(encoding="utf-8")
    mock, real = shipped.split("  - provider: anthropic", 1)
    dear = tmp_path / "dear.yaml"
    dear.write_text(mock.replace("output_per_mtok: 5.0", "output_per_mtok: 10.0") + "  - provider: anthropic" + real)
    assert "worst case: 600,000 tokens, $3.0000" in dowbench("estimate", "smoke").out
    assert "worst case: 600,000 tokens, $6.0000" in dowbench("estimate", "smoke", "--prices", dear).out
    assert dowbench("run", "smoke", "--prices", dear).code == 0
    assert dowbench("run", "smoke", "--out", "shipped").code == 0
    used, usual = (recording.read(Path(name), {}).episodes.values() for name in ("runs/smoke", "shipped"))
    more = sum(row.cost_usd or 0 for row in used) - sum(row.cost_usd or 0 for row in usual)
    assert more == pytest.approx(sum(row.usage.output_tokens for row in usual) * 5 / 10**6)
    recorded = runfile.read(Path("runs/smoke")).prices
    assert recorded is not None
    assert {price.output_per_mtok for price in recorded.values()} == {10.0}
    listed = dowbench("list", "models", "--prices", dear).out
    assert any(line.split()[:4] == ["mock", "mock-partial", "1", "10"] for line in listed.splitlines())


def test_what_is_expected_comes_from_what_is_recorded(tmp_path: Path) -> None:
    made = make_plan(rate_limit={"rpm": 10, "tpm": 6000, "rpd": 100})
    run_part(made, tmp_path / "run", without(made, 6))
    earlier = recording.read(tmp_path / "run", made.prices)
    found = estimate.estimate(made, earlier)
    usage = sum(episode.usage.total for episode in earlier.episodes.values())
    turns = sum(episode.turns for episode in earlier.episodes.values())
    assert (found.planned, found.pending, found.most_calls) == (12, 6, 72)
    assert found.expected is not None
    assert (found.expected.recorded, found.expected.spend.tokens, found.expected.calls) == (6, usage, turns)
    assert found.spent.tokens == usage
    assert found.pace is not None
    assert (found.pace.minutes, found.pace.days) == (6 * 50_000 / 6000, 1)
    assert found.expected_pace is not None
    assert found.expected_pace.minutes == max(turns / 10, usage / 6000)


def test_a_finished_plan_has_nothing_to_estimate(dowbench: Dowbench) -> None:
    dowbench("run", "smoke")
    out = dowbench("estimate", "smoke").out
    assert "episodes: 12 planned, 0 pending" in out
    assert "expected case: nothing is pending" in out


def test_a_task_says_nothing_about_its_attack(tmp_path: Path, dowbench: Dowbench) -> None:
    """What is recorded first is cheap: its mean must not pass for that of the attacks to come."""
    made = make_plan()
    run_part(made, tmp_path / "run", without(made, 10))
    found = estimate.estimate(made, recording.read(tmp_path / "run", made.prices))
    tasks = list(recording.read(tmp_path / "run", made.prices).episodes.values())
    assert {row.kind for row in tasks} == {"benign"}
    assert found.expected is not None
    assert (found.expected.recorded, found.expected.covered, found.pending) == (2, 2, 10)
    assert found.expected.spend.tokens == sum(row.usage.total for row in tasks)
    (tmp_path / "c.yaml").write_text(yaml.safe_dump(dict(BASE)))
    out = dowbench("estimate", "c.yaml", "--out", "run").out
    assert "expected case: unknown for 8 pending episode(s): none of the same task or attack is recorded yet" in out
    assert f"expected case: for the other 2, {found.expected.spend.tokens:,} tokens, $" in out


def test_what_is_expected_is_what_the_run_then_bills(tmp_path: Path) -> None:
    """Half of a plan whose other half is the same again."""
    made = make_plan(repeats=2, defenses=["none"], models=["mock-susceptible", "mock-partial"])
    first = replace(made, episodes=tuple(spec for spec in made.episodes if spec.repeat == 0))
    run_part(made, tmp_path / "run", first)
    found = estimate.estimate(made, recording.read(tmp_path / "run", made.prices))
    assert found.expected is not None
    assert found.expected.covered == found.pending == 12
    result = run_plan(made, tmp_path / "run")
    assert result.progress.spent == found.spent + found.expected.spend
    assert result.progress.spent.tokens <= found.spent.tokens + found.worst.tokens
    assert result.progress.spent.attousd <= found.spent.attousd + found.worst.attousd
    assert len(recording.read(tmp_path / "run", made.prices).calls) == 2 * found.expected.calls
    assert found.expected.calls <= found.most_calls


def test_another_model_s_tokens_are_priced_as_one_s_own(tmp_path: Path) -> None:
    made = make_plan(models=["mock-susceptible", "mock-partial"], defenses=["none"])
    dear = replace(made.prices["mock-partial"], input_per_mtok=3.0, output_per_mtok=15.0)
    made = replace(made, prices={**made.prices, "mock-partial": dear})
    run_part(made, tmp_path / "run", without(made, 6))
    found = estimate.estimate(made, recording.read(tmp_path / "run", made.prices))
    assert found.expected is not None
    assert found.expected.spend == Spend(found.spent.tokens, 3 * found.spent.attousd)


# ---- progress


class Stream:
    def __init__(self) -> None:
        self.text = ""

    def write(self, text: str) -> int:
        self.text += text
        return len(text)

    def flush(self) -> None:
        pass


def _progress(**changes: object) -> runner.Progress:
    settings: dict[str, object] = {"planned": 100, "done": 30, "begun": 10, "spent": Spend(5000, UNIT // 2), **changes}
    return runner.Progress(**settings)


@pytest.mark.parametrize(
    ("unpriced", "state", "expected"),
    [
        (False, {}, "30/100 episodes · 2.0/s · $0.5000 spent · 35 s to go"),
        (True, {}, "30/100 episodes · 2.0/s · 5,000 tokens · 35 s to go"),
        (
            False,
            {"errored": 1, "failed": 2, "limits": runner.Limits(attousd=2 * UNIT)},
            "30/100 episodes · 1 errored · 2 to run again · 2.0/s · $0.5000 spent · $1.5000 left · 35 s to go",
        ),
        (
            True,
            {"limits": runner.Limits(tokens=6000)},
            "30/100 episodes · 2.0/s · 5,000 tokens · 1,000 left · 35 s to go",
        ),
        (False, {"done": 100}, "100/100 episodes · 9.0/s · $0.5000 spent"),
        (False, {"done": 10}, "10/100 episodes · $0.5000 spent"),
    ],
)
def test_a_line_of_progress(unpriced: bool, state: dict[str, object], expected: str) -> None:
    now = [100.0]
    meter = progress.Meter(Stream(), unpriced=unpriced, plain=True, now=lambda: now[0])
    now[0] += 10
    assert meter.text(_progress(**state)) == expected


def test_progress_of_a_simulated_run_says_so_on_every_line() -> None:
    stream = Stream()
    now = [0.0]
    meter = progress.Meter(stream, unpriced=False, plain=True, simulated=True, now=lambda: now[0])
    for _ in range(3):
        meter(_progress())
        now[0] += 40
    lines = stream.text.splitlines()
    assert len(lines) == 2
    assert all(line.startswith("SIMULATED · 30/100 episodes") for line in lines)


@pytest.mark.parametrize(("plain", "lines"), [(True, 2), (False, 0)])
def test_progress_is_plain_where_nobody_looks(plain: bool, lines: int) -> None:
    now, stream = [0.0], Stream()
    meter = progress.Meter(stream, unpriced=False, plain=plain, now=lambda: now[0])
    for _ in range(70):
        meter(_progress())
        now[0] += 1
    meter.finish()
    assert stream.text.count("\n") == lines
    assert ("\r" in stream.text) is not plain


def test_ci_gets_plain_lines() -> None:
    environment = {**os.environ, "CI": "true"}
    program = "from dowbench.cli import main; main(['run', 'smoke'])"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, env=environment, check=True)
    assert "\r" not in done.stderr + done.stdout


@pytest.mark.parametrize(
    ("seconds", "text"), [(0, "0 s"), (89, "89 s"), (90, "2 min"), (5400, "1.5 h"), (172800, "2.0 days")]
)
def test_durations(seconds: float, text: str) -> None:
    assert progress.duration(seconds) == text


def test_failed_episodes_are_said_to_be_run_again(dowbench: Dowbench) -> None:
    run_plan(make_plan(retry={"max_attempts": 1}), Path("run"), Wrapped(failing(overloaded, 1)))
    found = estimate.estimate(make_plan(), recording.read(Path("run"), make_plan().prices))
    assert found.pending == 1


def test_an_estimate_says_that_limits_are_not_applied_to_a_simulated_provider(
    tmp_path: Path, dowbench: Dowbench
) -> None:
    path = tmp_path / "plan.yaml"
    path.write_text(json.dumps({**BASE, "rate_limit": {"rpm": 600, "rpd": 20}}))
    out = dowbench("estimate", path).out
    assert [line for line in out.splitlines() if line.startswith("rate limits")] == [
        "rate limits: not applied, the provider is simulated"
    ]


def test_a_budget_that_is_too_large_is_told_its_limit(dowbench: Dowbench) -> None:
    run = dowbench("run", "smoke", "--budget-tokens", "9" * 60)
    assert (run.code, run.err) == (
        2,
        f"error: --budget-tokens: expected a whole number from 0 to 999,999,999,999,999, found '{'9' * 39}…'\n",
    )


def test_a_budget_s_message_shows_what_did_not_fit(tmp_path: Path, dowbench: Dowbench) -> None:
    path = tmp_path / "plan.yaml"
    path.write_text(json.dumps(BASE))
    run = dowbench("run", path, "--budget-usd", "0.0053101", "--partial", "-q", "--out", tmp_path / "out")
    assert run.code == 3
    assert "stopped: budget of $0.0053101 reached: $0.0000 spent, the next call could cost $0.00" in run.err
    assert run.err.endswith("; the same command with a larger budget goes on\n")
    cost = float(run.err.partition("could cost $")[2].partition(";")[0])
    assert cost > 0.0053101
