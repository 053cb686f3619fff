"""Reports: what they must say, what they may not let through, and how they refuse."""

from __future__ import annotations

import json
import os
import re
from html.parser import HTMLParser
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from dowbench_benchmark import replay, report, store
from dowbench_benchmark.report import data, figures, svg, tables
from plans import PILOT, Wrapped, failing, make_plan, recorded_pilot, refused, run_plan

from dowbench.errors import DowbenchError

if TYPE_CHECKING:
    from collections.abc import Callable

    from workbench import Dowbench

SIMULATED = "SIMULATED: no model answered"
REPLAYED = "REPLAYED: recomputed from a recording"


class Page(HTMLParser):
    """The tags and texts of a page; every tag must be closed by its own end."""

    VOID = frozenset({"meta", "link", "br", "hr", "img", "input"})

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.open: list[str] = []
        self.texts: list[str] = []
        self.feed(text)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        if tag not in self.VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        if self.open[-1:] != ["style"]:
            self.texts.append(data)

    def attributes(self, name: str) -> list[str]:
        return [value or "" for _, attributes in self.tags for key, value in attributes.items() if key == name]


@pytest.fixture(scope="module")
def recorded(tmp_path_factory: pytest.TempPathFactory) -> Path:
    directory = tmp_path_factory.mktemp("report") / "run"
    run_plan(make_plan(paraphrases=3, models=["mock-susceptible", "mock-partial"]), directory)
    return directory


def copy(source: Path, target: Path, change: Callable[[dict[str, Any]], None] = lambda run: None) -> Path:
    """A copy of a run directory with ``change`` made to its ``run.json``."""
    target.mkdir()
    for path in source.iterdir():
        (target / path.name).write_bytes(path.read_bytes())
    run = json.loads((target / store.RUN).read_bytes())
    change(run)
    (target / store.RUN).write_text(json.dumps(run), encoding="utf-8")
    return target


@pytest.mark.parametrize("form", report.FORMATS)
def test_a_report_has_every_cell_and_attack_and_is_the_same_every_time(recorded: Path, form: str) -> None:
    text = report.render(recorded, form)
    assert text == report.render(recorded, form)
    assert text.endswith("\n")
    said = "\n".join(Page(text).texts).replace("\xa0", " ") if form == "html" else text.replace("\\", "")
    for words in ("mock-susceptible", "mock-partial", "turn_limit", "stale-copy-01", "open-cursor-01", "tool_loop"):
        assert words in said
    for term, meaning in tables.TERMS:
        assert term in said
        assert meaning[:40] in said


@pytest.mark.parametrize("form", report.FORMATS)
def test_simulated_stands_above_and_below_and_in_every_plot(recorded: Path, tmp_path: Path, form: str) -> None:
    replay.replay(recorded, tmp_path / "again")
    for directory in (recorded, tmp_path / "again"):
        text = report.render(directory, form)
        assert text.count(SIMULATED) >= 2
        assert REPLAYED not in text
        if form == "html":
            assert re.search(r"<title>SIMULATED", text)
            plots = re.findall(r"<figure>.*?</figure>", text, re.DOTALL)
            assert len(plots) == 12
            assert all(">SIMULATED</text>" in plot for plot in plots)
        else:
            headings = re.findall(r"^### .*", text, re.MULTILINE)
            assert headings
            assert all(heading.startswith("### SIMULATED: ") for heading in headings)


@pytest.mark.parametrize("form", report.FORMATS)
def test_an_episode_that_was_simulated_marks_a_run_that_denies_it(recorded: Path, tmp_path: Path, form: str) -> None:
    directory = copy(recorded, tmp_path / "run", lambda run: run.update(simulated=False, replayed=True))
    assert SIMULATED in report.render(directory, form)


def test_a_replay_of_a_real_run_says_so(recorded: Path, tmp_path: Path) -> None:
    directory = copy(recorded, tmp_path / "run", lambda run: run.update(simulated=False, replayed=True))
    rows = (directory / store.EPISODES).read_text(encoding="utf-8").replace('"simulated":true', '"simulated":false')
    (directory / store.EPISODES).write_text(rows, encoding="utf-8")
    for form in report.FORMATS:
        text = report.render(directory, form)
        assert text.count(REPLAYED) >= 2
        assert SIMULATED not in text
    assert ">REPLAYED</text>" in report.render(directory, "html")


def test_the_page_runs_nothing_and_loads_nothing(recorded: Path) -> None:
    page = Page(report.render(recorded, "html"))
    assert not {tag for tag, _ in page.tags} & {"script", "iframe", "object", "embed", "img", "form", "base", "image"}
    assert set(page.attributes("src")) == set()
    assert [link for link in page.attributes("href") if not link.startswith("#")] == ["data:,"]
    assert not [key for _, attributes in page.tags for key in attributes if key.startswith("on") or key == "style"]
    assert "default-src 'none'" in "".join(page.attributes("content"))
    css = Path(str(svg.__file__)).with_name("style.css").read_text(encoding="utf-8")
    assert "url(" not in css
    assert "@import" not in css


def test_plots_have_names_descriptions_and_tables(recorded: Path) -> None:
    page = Page(report.render(recorded, "html"))
    identities = page.attributes("id")
    assert len(identities) == len(set(identities))
    for reference in (*page.attributes("aria-labelledby"), *page.attributes("aria-describedby")):
        assert reference in identities
    for link in page.attributes("href"):
        assert link == "data:," or link[1:] in identities
    drawn = [attributes for tag, attributes in page.tags if tag == "svg" and attributes.get("role") == "img"]
    assert drawn
    assert all(one["aria-labelledby"] and one["aria-describedby"] for one in drawn)
    hidden = [attributes for tag, attributes in page.tags if tag == "svg" and attributes.get("role") != "img"]
    assert all(one.get("aria-hidden") == "true" for one in hidden)
    assert [tag for tag, _ in page.tags].count("details") == 6
    assert [tag for tag, _ in page.tags].count("caption") == [tag for tag, _ in page.tags].count("table")


NASTY = "<script>alert(1)</script>\"&'|`[x](javascript:1)\u202e\n::error::a"


def hostile(source: Path, target: Path) -> Path:
    """A run whose every name is hostile."""

    def change(run: dict[str, Any]) -> None:
        run["run_name"] = NASTY
        run["config"]["agent"] = NASTY
        run["config"]["defenses"][1]["label"] = NASTY
        run["scenario"]["id"] = run["dowbench_version"] = run["git_commit"] = NASTY
        for attack in run["attacks"]:
            attack["id"], attack["family"] = attack["id"] + NASTY, NASTY

    directory = copy(source, target, change)
    rows = [json.loads(line) for line in (directory / store.EPISODES).read_text(encoding="utf-8").splitlines()]
    for row in rows:
        row["model"] += NASTY
        row["item_id"] += NASTY if row["kind"] != "benign" else ""
        row["defense"] = row["defense"].replace("turn_limit", NASTY)
    (directory / store.EPISODES).write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return directory


def test_hostile_names_are_text(recorded: Path, tmp_path: Path) -> None:
    directory = hostile(recorded, tmp_path / "run")
    page = report.render(directory, "html")
    parsed = Page(page)
    assert "script" not in {tag for tag, _ in parsed.tags}
    assert any("<script>alert(1)" in text for text in parsed.texts)
    assert [link for link in parsed.attributes("href") if not link.startswith("#")] == ["data:,"]
    marked = report.render(directory, "markdown")
    for text in (page, marked):
        assert "\u202e" not in text
        assert "\\u202e" in text or "\\\\u202e" in text
    assert "<script" not in marked
    assert not re.search(r"(?<!\\)\[x\]", marked)
    rows = [line for line in marked.splitlines() if line.startswith("|")]
    widths = {len(re.findall(r"(?<!\\)\|", line)) for line in rows if "stale-copy-01" in line}
    assert widths == {13}
    assert not re.search(r"^::", marked, re.MULTILINE)


def said(text: str, form: str) -> str:
    """What a reader sees."""
    return "\n".join(Page(text).texts).replace("\xa0", " ") if form == "html" else text.replace("\\", "")


@pytest.mark.parametrize("form", report.FORMATS)
def test_attacks_stand_beside_their_controls(recorded: Path, form: str) -> None:
    found = data.read(recorded)
    words = said(report.render(recorded, form), form)
    for model in found.models:
        table = tables.controls(found, model)
        assert table is not None
        assert [row[0] for row in table.rows] == ["none", "turn_limit"]
        for row in table.rows:
            assert row[3] == "0 of 6"
            assert row[4] == "2"
            assert float(row[5].removeprefix("≥ ")) > 1.5
            assert all(cell in words for cell in row)
    assert "as well: these attacks succeed by their shape" not in words


@pytest.mark.parametrize("form", report.FORMATS)
def test_controls_that_cost_as_much_are_named_first(tmp_path: Path, form: str) -> None:
    run_plan(make_plan(attacks=["stale-copy-01", "long-appendix-01"], success_threshold=2.5), tmp_path / "run")
    words = said(report.render(tmp_path / "run", form), form)
    assert "Without a defense, controls of long-appendix-01 reach A ≥ 2.5 as well" in words
    assert words.index("as well: these attacks succeed by their shape") < words.index("Model mock-susceptible")


@pytest.mark.parametrize("form", report.FORMATS)
def test_a_baseline_that_was_cut_is_said_to_be(recorded: Path, tmp_path: Path, form: str) -> None:
    run_plan(make_plan(ceiling={"max_turns": 1}), tmp_path / "run")
    words = said(report.render(tmp_path / "run", form), form)
    assert "Without a defense or an attack mock-susceptible completed 0 of 2 tasks: A rests on" in words
    assert "Without a defense or an attack" not in said(report.render(recorded, form), form)


@pytest.mark.parametrize("form", report.FORMATS)
def test_a_run_without_controls_says_what_it_cannot_say(tmp_path: Path, form: str) -> None:
    run_plan(make_plan(controls=False), tmp_path / "run")
    words = said(report.render(tmp_path / "run", form), form)
    assert "There are no controls: how much of A is the length of the text" in words
    assert "Attacks beside their controls" not in words


def test_an_agent_run_says_that_it_is_one(recorded: Path, tmp_path: Path) -> None:
    directory = copy(recorded, tmp_path / "run", lambda run: run["config"].update(agent="shop.agents:Clerk"))
    assert "Agent run: the calls were made by shop.agents:Clerk" in report.render(directory, "markdown")
    assert "Agent run" not in report.render(recorded, "markdown")


def test_an_unpriced_run_says_that_its_dollars_are_unknown(tmp_path: Path) -> None:
    run_plan(make_plan(unpriced=True), tmp_path / "run")
    text = report.render(tmp_path / "run", "markdown")
    assert "Measured in: billed tokens: the run is unpriced, USD are unknown" in text
    assert "unknown USD" in text


def test_what_is_not_recorded_yet_is_said(recorded: Path, tmp_path: Path) -> None:
    directory = copy(recorded, tmp_path / "run", lambda run: run.update(complete=False))
    lines = (directory / store.EPISODES).read_bytes().splitlines(keepends=True)
    # Half of the episodes, and a torn line as a crash leaves it.
    (directory / store.EPISODES).write_bytes(b"".join(lines[: len(lines) // 2]) + lines[-1][:40])
    for form in report.FORMATS:
        text = report.render(directory, form)
        assert "The run is not complete" in text
        assert "planned episode(s) are not recorded yet" in text.replace("\\", "")
        assert "is not what these episodes give" in text


def broken_lines(directory: Path, name: str, line: int, text: bytes) -> None:
    lines = (directory / name).read_bytes().split(b"\n")
    lines[line - 1] = text
    (directory / name).write_bytes(b"\n".join(lines))


BROKEN: list[tuple[str, int | None, bytes, str]] = [
    (store.EPISODES, 3, b"{", "is not JSON"),
    (store.EPISODES, 2, b"[]", "expected an object"),
    (store.EPISODES, 2, b"{}", "the key 'episode_id' is missing"),
    (store.CALLS, 4, b'{"raw_usage": {}, "usage": {"a": "b"}}', "the key 'attempt' is missing"),
    (store.RUN, 1, b"{", "is not JSON"),
    (store.RUN, 1, b"[]", "expected an object"),
    (store.RUN, 1, b"{}", "the key 'config' is missing"),
    (store.RUN, 1, b'{"format": 2, "config": []}', "the key 'plan' is missing"),
    (store.RUN, 1, b'{"format": 99}', "has the format 99"),
    (store.EPISODES, None, b"", "has no episodes"),
]


@pytest.mark.parametrize(("name", "line", "text", "said"), BROKEN)
def test_a_broken_run_is_one_located_line(
    recorded: Path, tmp_path: Path, dowbench: Dowbench, name: str, line: int | None, text: bytes, said: str
) -> None:
    directory = copy(recorded, tmp_path / "run")
    if line is None or name == store.RUN:
        (directory / name).write_bytes(text)
    else:
        broken_lines(directory, name, line, text)
    run = dowbench("report", directory)
    place = f"{directory / name}:{line}:" if line else f"{directory / name}:"
    assert (run.code, run.out) == (2, "")
    assert run.err.startswith(f"error: {place}")
    assert said in run.err
    assert run.err.count("\n") == 1


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("kind", "nice"), ("status", 7), ("model", None), ("turns", -1), ("wording", "x"), ("repeat", 1.5),
        ("cost_usd", "1"), ("cost_usd", -1), ("cost_usd", float("nan")), ("cost_usd", float("inf")),
        ("usage", {"input_tokens": "1"}), ("usage", None), ("usage", {"other_tokens": 1}),
    ],
)  # fmt: skip
def test_a_row_of_wrong_values_is_refused_with_its_line(recorded: Path, tmp_path: Path, field: str, value: Any) -> None:
    directory = copy(recorded, tmp_path / "run")
    row = json.loads((directory / store.EPISODES).read_bytes().splitlines()[4])
    broken_lines(directory, store.EPISODES, 5, json.dumps({**row, field: value}).encode())
    with pytest.raises(DowbenchError) as refused:
        data.read(directory)
    assert (refused.value.path, refused.value.line) == (str(directory / store.EPISODES), 5)


def test_no_run_directory(tmp_path: Path, dowbench: Dowbench) -> None:
    for path in (tmp_path, tmp_path / "none"):
        run = dowbench("report", path)
        assert (run.code, run.out) == (2, "")
        assert run.err == f"error: {path}: no run directory: it has no run.json\n"


def test_the_format_follows_the_name_and_the_option(recorded: Path, tmp_path: Path, dowbench: Dowbench) -> None:
    assert dowbench("report", recorded).out == report.render(recorded, "markdown")
    assert dowbench("report", recorded, "--format", "html").out == report.render(recorded, "html")
    for name, options, form in (
        ("a.html", (), "html"),
        ("a.md", (), "markdown"),
        ("b.md", ("--format", "html"), "html"),
    ):
        run = dowbench("report", recorded, "-o", tmp_path / name, *options)
        assert (run.code, run.out) == (0, f"written to {tmp_path / name}\n")
        assert (tmp_path / name).read_bytes() == report.render(recorded, form).encode()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a.html", "a.md", "b.md"]


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="this system has no FIFOs")
def test_a_place_that_cannot_be_written_is_one_line(recorded: Path, tmp_path: Path, dowbench: Dowbench) -> None:
    (tmp_path / "folder").mkdir()
    os.mkfifo(tmp_path / "pipe")
    for place in (tmp_path / "none" / "a.md", tmp_path / "folder", tmp_path / "pipe"):
        run = dowbench("report", recorded, "-o", place)
        assert (run.code, run.out) == (2, "")
        assert re.fullmatch(rf"error: {re.escape(str(place))}: [^\n]+\n", run.err)
    assert (tmp_path / "pipe").is_fifo()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["folder", "pipe"]


@recorded_pilot
def test_the_recorded_pilot_has_a_report() -> None:
    text = report.render(PILOT, "markdown")
    assert "SIMULATED" not in text
    assert "12abac6affd07670c26bc2e090b17c5ded70b08d1f581f4699ead6ab4166dcad" in text
    assert "| bloat-verify-001 | unknown | 1 | 8.86 |" in text
    assert "is not what these episodes give" not in text
    Page(report.render(PILOT, "html"))


def test_figures_say_what_they_are() -> None:
    assert [figures.number(v) for v in (None, 0.0, 1.234, 9.996, 12.34, 1234.5)] == [
        "unknown", "0.00", "1.23", "10.0", "12.3", "1,234"
    ]  # fmt: skip
    assert figures.interval([None, None]) == "unknown"
    assert figures.interval([1.5, None]) == "≥ 1.50"
    assert figures.interval([None, 1.5]) == "≤ 1.50"
    assert figures.interval([1.5, 2.5]) == "1.50 to 2.50"
    assert figures.change(0.336) == "−66.4 %"
    assert figures.percent(-0.0001, signed=True) == "0.0 %"
    assert figures.p_value(0.00001) == "< 0.001"


def test_ticks_are_round_and_within() -> None:
    assert svg.Scale(0.7, 130, 0, 1, log=True).ticks(8) == pytest.approx([1, 2, 5, 10, 20, 50, 100])
    assert svg.Scale(0.7, 130, 0, 1, log=True).ticks(4) == pytest.approx([1, 10, 100])
    assert svg.Scale(-0.12, 0.31, 0, 1).ticks(5) == pytest.approx([-0.1, 0, 0.1, 0.2, 0.3])
    scale = svg.Scale(1, 100, 10, 20, log=True)
    assert [scale(v) for v in (0.0, 1, 10, 100, 1e9)] == pytest.approx([10, 10, 15, 20, 20])


def luminance(colour: str) -> float:
    """Relative luminance, WCAG 2.2."""
    parts = [int(colour[place : place + 2], 16) / 255 for place in (1, 3, 5)]
    red, green, blue = (p / 12.92 if p <= 0.04045 else ((p + 0.055) / 1.055) ** 2.4 for p in parts)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def test_colours_have_contrast_in_light_and_dark() -> None:
    css = Path(str(svg.__file__)).with_name("style.css").read_text(encoding="utf-8")
    palettes = [dict(re.findall(r"--([a-z-]+): (#[0-9a-f]{6})", block)) for block in css.split(":root")[1:3]]
    assert len(palettes) == 2
    for palette in palettes:
        for front, back, least in [
            *((name, "paper", 4.5) for name in ("ink", "soft", "link", "stamp", "attack", "control", "benign")),
            ("ink", "tint", 4.5),
            ("soft", "tint", 4.5),
            ("warn-ink", "warn", 4.5),
        ]:
            light, dark = sorted((luminance(palette[front]), luminance(palette[back])), reverse=True)
            assert (light + 0.05) / (dark + 0.05) >= least, (front, back)


def totals(text: str) -> list[int]:
    """Each ``n`` of what a report says as ``k of n``."""
    return [int(total) for total in re.findall(r"\d of (-?\d+)", text)]


def test_a_run_of_which_the_tasks_were_censored_says_what_is_unknown(tmp_path: Path, dowbench: Dowbench) -> None:
    """With one turn no task is finished: nothing that is measured against them is certain."""
    run_plan(make_plan(ceiling={"max_turns": 1}), tmp_path / "run")
    for form in report.FORMATS:
        text = report.render(tmp_path / "run", form).replace("\\", "")
        assert min(totals(text)) >= 0
        assert "stand against a task that was censored itself: their A is an upper bound" in text
    audit = dowbench("audit", tmp_path / "run")
    assert audit.code == 0
    assert "their A is at most what is shown, and fewer may have succeeded" in audit.err
    attack = store.read_json(tmp_path / "run" / store.STATS).object()["attacks"][0]["attack"]
    assert (attack["median_is_lower_bound"], attack["median_is_upper_bound"]) == (True, True)


def test_attacks_that_errored_before_they_cost_anything(tmp_path: Path) -> None:
    run_plan(make_plan(), tmp_path / "run", Wrapped(failing(refused, 3, 4, 7)))
    for form in report.FORMATS:
        text = report.render(tmp_path / "run", form)
        assert min(totals(text.replace("\\", ""))) >= 0
