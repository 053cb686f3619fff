"""The line hash of GitHub's upload action, against the values that its own tests state."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dowbench.report.linehash import line_hashes

# Facts from fingerprints.test.ts of github/codeql-action.
PUBLISHED = [
    ("", ["c129715d7a2bc9a3:1"]),
    (" a\nb\n  \t\tc\n d", ["271789c17abda88f:1", "54703d4cd895b18:1", "180aee12dab6264:1", "a23a3dc5e078b07b:1"]),
    (
        " hello; \t\nworld!!!\n\n\n  \t\tGreetings\n End",
        [
            "8b7cf3e952e7aeb2:1",
            "b1ae1287ec4718d9:1",
            "bff680108adb0fcc:1",
            "c6805c5e1288b612:1",
            "b86d3392aea1be30:1",
            "e6ceba753e1a442:1",
        ],
    ),
]


@pytest.mark.parametrize(("text", "expected"), PUBLISHED)
@pytest.mark.parametrize("newline", ["\n", "\r\n", "\r"])
def test_published_values(text: str, expected: list[str], newline: str) -> None:
    data = text.replace("\n", newline).encode()
    assert line_hashes(data, range(1, 20)) == dict(enumerate(expected, 1))


def by_rolling_window(data: bytes) -> dict[int, str]:
    """The upload action's way to the same value: one unit at a time through a ring of 100."""
    window, starts = [0] * 100, [0] * 100
    counts: dict[str, int] = {}
    found: dict[int, str] = {}
    value = index = line = 0
    units = data.decode("utf-8", "replace").encode("utf-16-le")
    codes = [int.from_bytes(units[i : i + 2], "little") for i in range(0, len(units), 2)]

    def push(code: int) -> None:
        nonlocal value, index
        value = (value * 37 + code - pow(37, 100, 1 << 64) * window[index]) % (1 << 64)
        window[index] = code
        index = (index + 1) % 100

    def flush() -> None:
        if starts[index]:
            key = f"{value:x}"
            counts[key] = counts.get(key, 0) + 1
            found[starts[index]] = f"{key}:{counts[key]}"
            starts[index] = 0

    at_start, after_cr = True, False
    for code in [*codes, 0xFFFF]:
        if code in (0x20, 0x09) or (after_cr and code == 0x0A):
            after_cr = False
            continue
        after_cr = code == 0x0D
        code = 0x0A if after_cr else code
        flush()
        if at_start:
            line += 1
            starts[index] = line
        at_start = code == 0x0A
        push(code)
    for _ in range(100):
        flush()
        push(0)
    return found


@given(st.text(alphabet="ab \t\r\n{}é𝄞\ufeff", max_size=400).map(lambda t: t.encode()) | st.binary(max_size=300))
def test_equals_the_rolling_window(data: bytes) -> None:
    assert line_hashes(data, range(1, 500)) == by_rolling_window(data)


def test_repeats_are_numbered_and_absent_lines_absent() -> None:
    data = b"x\n" * 150
    hashes = line_hashes(data, [1, 2, 50, 999])
    assert [hashes[n].split(":")[1] for n in (1, 2, 50)] == ["1", "2", "50"]
    assert hashes[1].split(":")[0] == hashes[2].split(":")[0]
    assert 999 not in hashes


def test_a_file_longer_than_the_chunks_it_is_read_in() -> None:
    data = "".join(f'{{"name": "tool {n}", "x": "{"y" * (n % 150)}"}}\n' for n in range(1_500)).encode()
    assert len(data) > 2 * 65_536
    assert line_hashes(data, range(1, 1_502)) == by_rolling_window(data)
