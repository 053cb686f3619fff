"""What strangers write into names and texts does nothing to a terminal, a page, a log or a program."""

from __future__ import annotations

import json
import re

import pytest
from samples import finding, result

from dowbench.model import FileScan, Note, Suppressed
from dowbench.report import REPORTS, ReportOptions, render
from dowbench.report.escape import markdown, markdown_code, markdown_prose, visible

NASTY = (
    "a\r\n::error file=x::forged\x1b[31m\x1b]0;title\x07\x9b1m\u202egnp.exe\u2066\u200b\ufeff\u2028|`b`|<img src=x>"
    "[c](http://d)![e](f)&lt;\x00%0A@g #1 \U000e0041\ud800\\"
)

FILE = NASTY.replace("\ud800", "\udc80").replace("\x00", "")
"""As a name of a file: a byte that is no UTF-8 arrives as such a surrogate."""


def nasty_result():
    return result(
        finding(tool=NASTY, parameter=NASTY, message=f"{NASTY} is bad.", fix=NASTY, path="x.json"),
        files=(FileScan("x.json", "mcp", 1),),
        suppressed=(Suppressed(finding(tool=NASTY), "inline", NASTY),),
        skipped=(Note(FILE, NASTY),),
        errors=(Note(FILE, NASTY, 1, 1),),
        warnings=(Note(FILE, NASTY, 1, 1),),
    )


@pytest.mark.parametrize("name", REPORTS)
@pytest.mark.parametrize("verbose", [False, True])
def test_nasty_string_in_every_report(name, verbose):
    report = render(name, nasty_result(), ReportOptions(verbose=verbose))
    assert report.encode("utf-8")
    assert [c for c in report if not c.isprintable() and c != "\n"] == []
    assert not re.search("[\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufeff]", report)
    assert not re.search(r"^::error file=x::forged", report, re.MULTILINE)
    if name in ("json", "sarif"):
        json.loads(report)


def test_markdown_page_holds_none_of_the_markup_of_a_name():
    from html.parser import HTMLParser

    report = render("markdown", nasty_result(), ReportOptions())
    outside = re.sub(r"(`+)(?!`).*?(?<!`)\1(?!`)", "", report)
    tags: list[str] = []
    parser = HTMLParser()
    parser.handle_starttag = lambda tag, attributes: tags.append(tag)  # type: ignore[method-assign]
    parser.feed(outside)
    assert set(tags) <= {"details", "summary", "b"}
    assert not re.search(r"(?<!\\)\]\(", outside)
    for line in report.splitlines():
        if line.startswith("| high"):
            assert len(re.findall(r"(?<!\\)\|", line)) == 6


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("plain text", "plain text"),
        ("größe 中文 😀", "größe 中文 😀"),
        ("a\nb\tc", "a\\u000ab\\u0009c"),
        ("\u202e", "\\u202e"),
        ("\U000e0041", "\\U000e0041"),
        ("\ud800", "\\ud800"),
        ("\x7f\x85\xad", "\\u007f\\u0085\\u00ad"),
    ],
)
def test_visible(text, shown):
    assert visible(text) == shown


def test_visible_cuts():
    assert visible("abcdef", 4) == "abc…"
    assert visible("abcd", 4) == "abcd"


@pytest.mark.parametrize(
    ("text", "escaped"),
    [
        ("plain. text: (x-y) {z}", "plain. text: (x-y) {z}"),
        ("*a* _b_ `c` [d](e) <f> & g|h ~i~ #j !k", r"\*a\* \_b\_ \`c\` \[d\](e) &lt;f&gt; &amp; g\|h \~i\~ \#j \!k"),
        ("see http://a.b", r"see http\://a.b"),
        ("www.a.b", r"www\.a.b"),
        ("- a", r"\- a"),
        ("ask @octo/cat", r"ask \@<!-- -->octo/cat"),
        ("a@b.co @ home", r"a\@<!-- -->b.co \@ home"),
        ("#12 o/r#5 GH-7", r"\#<!-- -->12 o/r\#<!-- -->5 GH-<!-- -->7"),
        ("1. a", r"1\. a"),
        ("12) a", r"12\) a"),
    ],
)
def test_markdown(text, escaped):
    assert markdown(text) == escaped


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("a_b", "`a_b`"),
        ("a|b", "`a\\|b`"),
        ("a`b", "`` a`b ``"),
        ("``", "``` `` ```"),
        ("", "` `"),
        ("a\nb", "`a\\u000ab`"),
    ],
)
def test_markdown_code(text, code):
    assert markdown_code(text) == code


@pytest.mark.parametrize(
    ("text", "prose"),
    [
        ("pass `a_b` to c_d", r"pass `a_b` to c\_d"),
        ("one ` only *", r"one \` only \*"),
        ("`a` and ` one", r"`a` and \` one"),
        ("``", r"\`\`"),
        ("`<b>`", "`<b>`"),
    ],
)
def test_markdown_prose(text, prose):
    assert markdown_prose(text) == prose
