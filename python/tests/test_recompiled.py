"""When two fusions are the same, whatever their instructions are called."""

from __future__ import annotations

import importlib.util
import subprocess
import sys
from pathlib import Path

import pytest

SCRIPT = Path(__file__).resolve().parents[2] / "scripts/recompiled.py"


def load() -> object:
    spec = importlib.util.spec_from_file_location("recompiled", SCRIPT)
    module = importlib.util.module_from_spec(spec)
    sys.modules["recompiled"] = module
    spec.loader.exec_module(module)
    return module


recompiled = load()


def varint(number: int) -> bytes:
    found = b""
    while number >= 0x80:
        found += bytes([number & 0x7F | 0x80])
        number >>= 7
    return found + bytes([number])


def part(number: int, content: bytes | str | int) -> bytes:
    if isinstance(content, int):
        return varint(number << 3) + varint(content)
    content = content.encode() if isinstance(content, str) else content
    return varint(number << 3 | 2) + varint(len(content)) + content


def instruction(name: str, opcode: str, own: int, operands: tuple[int, ...] = (), called: int | None = None, size: int = 8) -> bytes:
    shape = part(2, 11) + part(3, varint(size))
    content = part(1, name) + part(2, opcode) + part(3, shape) + part(35, own) + part(36, b"".join(map(varint, operands)))
    return part(2, content + (part(38, varint(called)) if called is not None else b""))


def module(prefix: str, first: int, inner: str, *, size: int = 8, is_turned: bool = False) -> bytes:
    """An entry that calls a fusion of `inner(x) * y`; names begin with `prefix`, numbers with `first`."""
    x, y, inside, root = first, first + 1, first + 2, first + 3
    body = [
        instruction(f"{prefix}.x", "parameter", x, size=size),
        instruction(f"{prefix}.y", "parameter", y, size=size),
        instruction(f"{prefix}.{inner}", inner, inside, (x,), size=size),
    ]
    fused = b"".join(reversed(body) if is_turned else body) + instruction(f"{prefix}.m", "multiply", root, (inside, y), size=size)
    entry = instruction("a", "parameter", 90) + instruction("b", "parameter", 91) + instruction("f", "fusion", 92, (90, 91), called=2)
    computations = part(3, part(1, "fused") + fused + part(5, 2) + part(6, root)) + part(3, part(1, "main") + entry + part(5, 1) + part(6, 92))
    return part(1, part(1, "jit_f") + computations)


def compared(before: bytes, after: bytes) -> tuple[int, int, int]:
    found = recompiled.Found("f")
    recompiled._compare(found, recompiled._fusions(before), recompiled._fusions(after))
    return found.captured, found.equal, found.alike


def test_names_numbers_and_order_do_not_count() -> None:
    assert compared(module("p", 10, "sine"), module("q", 40, "sine", is_turned=True)) == (1, 1, 1)


def test_another_operation_or_shape_does() -> None:
    before = module("p", 10, "sine")
    assert compared(before, module("p", 10, "cosine")) == (1, 0, 0)
    assert compared(before, module("p", 10, "sine", size=9)) == (1, 0, 1), "the same operations on another shape"


def test_a_fusion_that_only_copies_is_counted_apart() -> None:
    copy = instruction("x", "parameter", 1) + instruction("c", "copy", 2, (1,))
    entry = instruction("a", "parameter", 90) + instruction("f", "fusion", 92, (90,), called=2)
    content = part(3, copy + part(5, 2) + part(6, 2)) + part(3, entry + part(5, 1) + part(6, 92))
    found = recompiled.Found("f")
    recompiled._compare(found, recompiled._fusions(part(1, content)), recompiled._fusions(module("p", 10, "sine")))
    assert (found.captured, found.copies, found.equal) == (0, 1, 0)


def test_the_sum_of_a_reduction_is_a_part_of_it_and_the_body_of_a_loop_runs() -> None:
    def computation(own: int, *instructions: bytes) -> bytes:
        return part(3, b"".join(instructions) + part(5, own) + part(6, 1))

    content = (
        computation(3, instruction("s", "add", 1)),
        computation(2, instruction("t", "tanh", 1), instruction("r", "reduce", 2, (1,), called=3)),
        computation(1, instruction("w", "while", 1, called=2)),
    )
    found = recompiled._fusions(part(1, b"".join(content)))["others"]
    assert found == {"tanh": 1, "reduce": 1, "while": 1}


@pytest.mark.parametrize("content", [b"\x0a\xff", b"\x0a\x05\x1a", b"\x0b", b"\xff" * 12])
def test_damaged_files_are_refused(content: bytes) -> None:
    with pytest.raises(ValueError, match="cut off|no HLO has|unpack"):
        recompiled._fusions(content)


def test_without_a_capture_it_says_what_it_lacks(tmp_path: Path) -> None:
    done = subprocess.run([sys.executable, str(SCRIPT), str(tmp_path)], capture_output=True, text=True, env={"HOME": str(tmp_path)})
    assert (done.returncode, done.stdout) == (2, "skipped: no compiler for GPUs; `ridgeline compile --install` installs it\n")
