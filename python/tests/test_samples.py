"""The sampler of Python stacks: what it says of lines, calls and packages."""

from __future__ import annotations

import itertools
import json
import os
import subprocess
import sys
import textwrap
import threading
import types
from pathlib import Path
from types import FrameType
from typing import Any

import pytest

from ridgeline import own_files
from ridgeline.samples import Sampler, _stacks_of_all


#: Threads that begin and end, generators and frames that outlive their calls, while the lock goes round as fast as it can.
RESTLESS = """
import contextlib, sys, threading, time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from ridgeline.samples import Sampler

sys.setswitchinterval(1e-6)

@contextlib.contextmanager
def around():
    yield

def deep(level):
    if level == 0:
        return sum(at for at in range(3))
    with around():
        return deep(level - 1) + sum(at for at in iter([1, 2]))

class Garbage:
    def __init__(self):
        self.cycle = self

    def __del__(self):
        deep(1)

def work(_):
    for _ in range(20):
        deep(8)
        Garbage()

def look():
    for _ in range(8000):
        sampler._look(threading.get_ident())
        time.sleep(0)

sampler = Sampler(Path("unused"))
looking = threading.Thread(target=look)
looking.start()
while looking.is_alive():
    with ThreadPoolExecutor(4) as pool:
        list(pool.map(work, range(8)))
print(sampler._entries > 0)
"""


def test_looking_at_threads_that_go_on_does_not_end_the_program(tmp_path: Path) -> None:
    program = tmp_path / "restless.py"
    program.write_text(RESTLESS)
    package = str(Path(_stacks_of_all.__code__.co_filename).parents[1])
    done = subprocess.run(
        [sys.executable, str(program)], capture_output=True, text=True, timeout=300, env={**os.environ, "PYTHONPATH": package}
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "True\n", "")


def own_stack(innermost: FrameType | None) -> list[FrameType]:
    """The stack of this thread from `innermost` outward, as the sampler takes it."""
    frames = dict(_stacks_of_all())[threading.get_ident()]
    return list(itertools.dropwhile(lambda frame: frame is not innermost, frames))


def looked_at(tmp_path: Path, text: str, **names: Any) -> list[tuple[int, str, str | None]]:
    """Line, call and the package's function of the innermost place of each stack, looked at where the program calls `look()`."""
    program = tmp_path / "program.py"
    program.write_text(textwrap.dedent(text))
    sampler = Sampler(tmp_path / "samples" / "jax.jsonl")
    module = types.ModuleType("program")
    module.__dict__.update(names, look=lambda: sampler._keep(threading.get_ident(), 1, own_stack(sys._getframe(1))))
    exec(compile(program.read_text(), str(program), "exec"), module.__dict__)
    sampler._file.parent.mkdir()
    sampler._write()
    chunk = json.loads(sampler._file.read_text())
    frames = [chunk["frames"][stack["frames"][0]] for stack in chunk["stacks"]]
    assert all(frame[0] == str(program) for frame in frames)
    return [(frame[1], frame[3], stack.get("calls")) for frame, stack in zip(frames, chunk["stacks"])]


def test_lines_and_calls_are_those_of_the_program(tmp_path: Path) -> None:
    found = looked_at(
        tmp_path,
        """\
        import json as j
        class Odd:
            def default(self, value):
                look()
                return 1
        def inner():
            look()
        for at in range(2):
            inner()
        """,
    )
    assert [line for line, _, _ in found] == [7]


def test_packages_below_the_program_are_named(tmp_path: Path) -> None:
    found = looked_at(
        tmp_path,
        """\
        import functools
        import json as j
        class Text(str):
            pass
        sorted([2, 1], key=lambda value: look() or value)
        j.loads("[1]", parse_int=lambda text: look())
        """,
    )
    assert [line for line, _, _ in found] == [5, 6]


def test_what_stands_for_a_function_is_that_function_and_other_code_of_the_harness_is_no_ones_time(tmp_path: Path) -> None:
    names: dict[str, Any] = {}
    file = Path(own_files.__file__).with_name("wrapper.py")
    exec(compile("def stands(look): look()\ndef looks(look): look()", str(file), "exec"), names)
    own_files.passes_on(names["stands"])
    found = looked_at(tmp_path, "stands(look)\nlooks(look)\n", stands=names["stands"], looks=names["looks"])
    assert [(line, calls) for line, _, calls in found] == [(1, None)]


def test_whatever_runs_in_an_import_is_the_import(tmp_path: Path) -> None:
    (tmp_path / "site-packages").mkdir()
    (tmp_path / "site-packages" / "imported_late.py").write_text("import builtins\nbuiltins.look_late()\n")
    found = looked_at(
        tmp_path,
        f"""\
        import builtins, sys
        builtins.look_late = look
        sys.path.insert(0, {str(tmp_path / "site-packages")!r})
        import imported_late
        """,
    )
    assert [line for line, _, _ in found] == [4]
    assert found[0][2] is not None and found[0][2].startswith("<frozen importlib._bootstrap>")


@pytest.mark.skipif(sys.version_info < (3, 11), reason="positions in the code are of Python 3.11")
def test_a_call_is_named_with_its_package(tmp_path: Path) -> None:
    found = looked_at(
        tmp_path,
        """\
        import threading as t
        class Watch(t.Thread):
            @property
            def name(self):
                return "x"
        def run():
            look()
        t.settrace(None) or run()
        """,
    )
    assert found == [(7, "look", None)]
    from ridgeline.samples import _with_package

    names = {"t": threading, "np": json, "looked_at": looked_at, "event": threading.Event(), "__name__": "program"}
    assert [_with_package(call, names) for call in ("t.Thread", "np.load", "self.x", "looked_at", "event")] == [
        "threading.Thread",
        "json.load",
        "self.x",
        f"{looked_at.__module__}.looked_at",
        "event",
    ]


def test_looks_are_written_and_end(tmp_path: Path) -> None:
    sampler = Sampler(tmp_path / "samples" / "jax.jsonl")
    sampler.start()
    other = Sampler(tmp_path / "samples" / "torch.jsonl")
    other.start()
    sampler.stop()
    other.stop()
    lines = [json.loads(line) for line in (tmp_path / "samples" / "jax.jsonl").read_text().splitlines()]
    assert lines[0]["schema"] == "ridgeline.samples.v1"
    assert set(lines[1]) >= {"frames", "stacks", "threads", "looks", "cost_s"}
    assert not (tmp_path / "samples" / "torch.jsonl").exists()
    assert not [thread for thread in threading.enumerate() if thread.name == "ridgeline samples"]


@pytest.mark.parametrize(("own", "meanwhile", "after"), [(0.005, 0.0005, 0.005), (0.0001, 0.0001, 0.0001)])
def test_the_interval_of_switches_is_the_programs_own_again(tmp_path: Path, own: float, meanwhile: float, after: float) -> None:
    before = sys.getswitchinterval()
    try:
        sys.setswitchinterval(own)
        sampler = Sampler(tmp_path / "samples.jsonl")
        sampler.start()
        assert sys.getswitchinterval() == pytest.approx(meanwhile)
        sampler.stop()
        assert sys.getswitchinterval() == pytest.approx(after)
    finally:
        sys.setswitchinterval(before)


def test_an_interval_that_the_program_set_meanwhile_stays(tmp_path: Path) -> None:
    before = sys.getswitchinterval()
    try:
        sampler = Sampler(tmp_path / "samples.jsonl")
        sampler.start()
        sys.setswitchinterval(0.002)
        sampler.stop()
        assert sys.getswitchinterval() == pytest.approx(0.002)
    finally:
        sys.setswitchinterval(before)
