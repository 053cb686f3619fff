"""The settings that findings name exist where they are said to be."""

import importlib
import inspect
import re
from pathlib import Path

import pytest
from workbench import tool, write

from dowbench.errors import RuleError
from dowbench.rulepack import builtin_directory, load_pack
from dowbench.rulepack.files import Directory
from dowbench.rulepack.frameworks import load_frameworks

FRAMEWORKS = load_frameworks(Directory(builtin_directory()).load("frameworks.yaml"))
CHECKED = [(setting.framework, name) for setting in FRAMEWORKS.settings for name in setting.checked]
_NAME = re.compile(r"([\w.]+):([\w.]+)(?:\((\w+)(?:=(.*))?\))?")


def looked_up(name):
    """The default of a parameter as text, or ``None`` where it has none; raises where something does not exist."""
    found = _NAME.fullmatch(name)
    assert found, f"{name}: expected module:object(parameter=default)"
    module, path, parameter, default = found.groups()
    target = importlib.import_module(module)
    for part in path.split("."):
        target = getattr(target, part)
    if parameter is None:
        return None, default
    annotations = inspect.get_annotations(target) if isinstance(target, type) else {}
    try:
        parameters = inspect.signature(target).parameters
    except (TypeError, ValueError):
        parameters = {}
    if parameter not in parameters:
        assert parameter in annotations, f"{path} has no parameter {parameter}"
        return None, default
    value = parameters[parameter].default
    return (None if value is inspect.Parameter.empty else repr(value)), default


@pytest.mark.frameworks
@pytest.mark.parametrize(("framework", "name"), CHECKED, ids=[name for _, name in CHECKED])
def test_a_setting_exists_in_the_installed_package(framework, name):
    pytest.importorskip(_NAME.fullmatch(name)[1].split(".")[0], reason=f"{framework} is not installed")
    found, default = looked_up(name)
    if default is not None:
        assert found == default


@pytest.mark.frameworks
def test_the_check_notices_what_does_not_exist():
    with pytest.raises(AssertionError, match="no parameter max_steps"):
        looked_up("inspect:Signature(max_steps)")
    with pytest.raises(AttributeError):
        looked_up("inspect:NoSuchThing(x)")
    assert looked_up("inspect:Signature(parameters=None)") == ("None", "None")


@pytest.mark.parametrize("framework", ["LangChain", "OpenAI Agents SDK", "pydantic-ai"])
def test_the_common_frameworks_are_checked(framework):
    settings = [s for s in FRAMEWORKS.settings if s.framework == framework]
    assert settings
    assert all(s.checked and s.version for s in settings)


def test_every_topic_has_a_common_setting_and_every_rule_asks_for_known_topics():
    answered = {topic for setting in FRAMEWORKS.settings if setting.common for topic in setting.topics}
    assert answered == set(FRAMEWORKS.topics)
    assert {topic for rule in load_pack().rules for topic in rule.topics} <= set(FRAMEWORKS.topics)


def test_a_finding_gets_one_common_setting_of_each_framework():
    pairs = FRAMEWORKS.common(("calls", "turns"))
    codes = {setting.framework: setting.code for setting in pairs}
    assert len(pairs) == len(codes)
    assert codes["LangChain"] == "ToolCallLimitMiddleware(run_limit=20)"
    assert codes["OpenAI Agents SDK"] == "Runner.run(agent, input, max_turns=10)"


def test_a_setting_that_cuts_no_new_result_is_not_printed_as_an_answer_to_one():
    cutting = {setting.framework: setting for setting in FRAMEWORKS.common(("result_size",))}
    assert not {"OpenAI Agents SDK", "pydantic-ai"} & cutting.keys()
    assert cutting["Claude Code"].formats == ("mcp",)


def test_settings_of_a_framework_are_printed_with_formats_that_it_takes():
    formats = {setting.framework: set(setting.formats) for setting in FRAMEWORKS.common(("turns",))}
    assert "crewai" in formats["CrewAI"]
    assert not {name for name, known in formats.items() if "crewai" in known} - {"CrewAI"}
    assert all("mcp" in known for known in formats.values())


def test_a_rule_with_an_unknown_topic_is_an_error(probe):
    probe.rule("{name: {words: [fetch]}}", frameworks="[call]")
    with pytest.raises(RuleError, match=r"probe\.yaml:\d+:\d+: frameworks: unknown topic `call`; did you mean `calls`"):
        _ = probe.pack().infos


def test_a_broken_file_is_a_located_error(tmp_path: Path):
    text = "topics: {calls: c}\nsettings:\n  - {framework: F, set: S, default: d, verified: hearsay, topics: [calls]}\n"
    (tmp_path / "frameworks.yaml").write_text(text)
    with pytest.raises(RuleError, match=r"frameworks\.yaml:3:\d+: settings\.0\.verified: expected one of package"):
        load_frameworks(Directory(tmp_path).load("frameworks.yaml"))


OWN = """\
topics:
  spending: What one run may cost.
settings:
  - {framework: Ours, set: "cap: 5", default: none, verified: source, topics: [spending, calls], common: true}
  - {framework: LangChain, set: OurMiddleware(20), default: none, verified: source, topics: [calls], common: true}
"""


def test_a_pack_brings_its_own_topics_and_settings(probe):
    probe.write(OWN, "frameworks.yaml")
    probe.rule("{name: {words: [fetch]}}", frameworks="[spending, calls, turns]")
    (info,) = probe.pack().infos
    codes = {setting.framework: setting.code for setting in info.frameworks}
    assert codes["Ours"] == "cap: 5"
    assert codes["LangChain"] == "OurMiddleware(20)"
    assert codes["OpenAI Agents SDK"] == "Runner.run(agent, input, max_turns=10)"
    (pagination,) = [info for info in load_pack([probe.folder]).infos if info.id == "unbounded-pagination"]
    assert "cap: 5" in {setting.code for setting in pagination.frameworks}
    assert not {"cap: 5", "OurMiddleware(20)"} & {s.code for info in load_pack().infos for s in info.frameworks}


@pytest.mark.parametrize(
    ("text", "line", "message"),
    [
        ("topics:\n  calls: Again.\n", 2, "topics.calls: a topic `calls` exists already"),
        ("topics: [calls]\n", 1, "topics: expected a mapping, found a list"),
        ("topics: {own: }\n", 1, "topics.own: expected text, found nothing"),
        ("topics: {}\nsettings: 5\n", 2, "settings: expected a list of settings, found the number 5"),
        ("topics: {}\nsettings: [5]\n", 2, "settings.0: expected a mapping, found the number 5"),
        ("setting: []\n", 1, "unknown key `setting`; did you mean `settings`?"),
        (OWN.replace("[calls]", "[cals]"), 5, "settings.1.topics.0: expected one of "),
        ("- a\n", 1, "expected a mapping, found a list"),
    ],
)
def test_a_wrong_file_in_a_pack_is_a_located_error_of_the_scan(probe, dowbench, folder, text, line, message):
    path = probe.write(text, "frameworks.yaml")
    probe.write()
    write(folder / "tools.json", tool())
    run = dowbench("scan", "--rules", str(probe.folder), "tools.json")
    assert (run.code, run.out) == (2, "")
    assert run.err.startswith(f"error: {path}:{line}:")
    assert message in run.err
    assert run.err.count("\n") == 1
