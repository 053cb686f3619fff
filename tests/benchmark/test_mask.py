"""No key reaches a file or a message, base64 included."""

from __future__ import annotations

import base64
import json
from typing import TYPE_CHECKING, Any

import pytest
from dowbench_benchmark import mask
from dowbench_benchmark.model import ProviderError, Request, Response, ToolCall
from dowbench_benchmark.replay import replay
from plans import Wrapped, failing, make_plan, run_plan

if TYPE_CHECKING:
    from pathlib import Path

KEYS = (
    "sk-ant-api03-" + "a1B2c3D4" * 6,
    "sk-proj-" + "Zz09" * 10,
    "sk-" + "x9Y8" * 10,
    "AIza" + "Sy0_-" * 7,
    "AKIA" + "ABCD1234" * 2,
    "ghp_" + "aB3d" * 9,
    "hf_" + "aB3d" * 9,
    "gsk_" + "aB3d" * 12,
    "xai-" + "aB3d" * 12,
)


@pytest.mark.parametrize("key", KEYS)
@pytest.mark.parametrize("before", [b"", b"z", b"zz", b'{"key":"'])
@pytest.mark.parametrize("after", [b"", b"q", b'"}'])
@pytest.mark.parametrize("encode", [base64.b64encode, base64.urlsafe_b64encode])
def test_keys_in_base64(key: str, before: bytes, after: bytes, encode: Any) -> None:
    encoded = encode(before + key.encode() + after).decode()
    assert mask.text(f'a "{encoded}" b') == 'a "[masked-key]" b'


@pytest.mark.parametrize("key", KEYS)
def test_keys_in_plain_text(key: str) -> None:
    assert mask.text(f"Bearer {key}, {key}") == "Bearer [masked-key], [masked-key]"


@pytest.mark.parametrize(
    "text",
    [
        "risk-assessment-of-the-company-in-question and task-force-with-a-long-name",
        "0123456789abcdef" * 8,
        "api_key and token are only names; sk-short is no key",
        base64.b64encode(b"An ordinary text, long enough to be encoded and looked at.").decode(),
    ],
)
def test_what_is_no_key_stays(text: str) -> None:
    assert mask.text(text) == text


def test_a_registered_key_of_any_shape(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(mask, "_secrets", [])
    mask.protect("tiny")
    assert mask.text("a tiny secret") == "a tiny secret"
    mask.protect("correct-horse-battery")
    assert mask.text("a correct-horse-battery") == "a [masked-key]"
    for shift in range(3):
        encoded = base64.b64encode(b"x" * shift + b"correct-horse-battery!").decode()
        assert mask.text(encoded) == "[masked-key]"


class Leaky(Wrapped):
    """Repeats keys wherever a provider may put text."""

    def complete(self, request: Request) -> Response:
        response = super().complete(request)
        wrapped = base64.b64encode(f"token={KEYS[1]}".encode()).decode()
        calls = tuple(
            ToolCall(call.id, call.name, {**call.arguments, "api_key": KEYS[0]}) for call in response.tool_calls
        )
        return Response(
            response.text + KEYS[3],
            calls,
            response.stop_reason,
            response.usage,
            {**response.raw_usage, "note": ""},
            f"model-{KEYS[2]}",
            response.latency_s,
            {"header": f"Bearer {KEYS[0]}", "signature": wrapped},
        )


def _all_bytes(directory: Path) -> bytes:
    return b"".join(path.read_bytes() for path in directory.rglob("*") if path.is_file())


def test_no_key_reaches_a_file_and_the_run_still_replays(tmp_path: Path) -> None:
    made = make_plan(system_prompt=f"Your key is {KEYS[0]}.")
    run_plan(made, tmp_path / "run", Leaky())
    found = replay(tmp_path / "run", tmp_path / "again")
    assert found.summary is not None
    assert found.summary.sha256 == found.recorded_sha256
    written = _all_bytes(tmp_path)
    for key in KEYS[:4]:
        assert key.encode() not in written
    assert base64.b64encode(KEYS[1].encode())[4:-4] not in written
    assert b"Bearer [masked-key]" in written
    # An argument is masked by its value, and never dropped for its name.
    assert b'"api_key":"[masked-key]"' in written


def test_no_key_reaches_a_message(tmp_path: Path) -> None:
    def refused() -> Exception:
        return ProviderError(f"401 for key {KEYS[0]}", billed=False)

    def crashed() -> Exception:
        return RuntimeError(f"headers: {KEYS[3]}")

    result = run_plan(make_plan(), tmp_path, Wrapped(failing(refused, 1, 2, 3, 4, 5)))
    assert result.message == "3 episodes in a row failed: provider: 401 for key [masked-key]"
    run_plan(make_plan(), tmp_path, Wrapped(failing(crashed, 1)))
    written = _all_bytes(tmp_path)
    assert KEYS[0].encode() not in written
    assert KEYS[3].encode() not in written
    rows = [json.loads(line) for line in (tmp_path / "episodes.jsonl").read_bytes().splitlines()]
    assert "provider: raised RuntimeError: headers: [masked-key]" in [row["reason"] for row in rows]
