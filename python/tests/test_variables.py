"""Variables of functions that another thread is running are read without harm to the program."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
import weakref
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import Any

import pytest

from ridgeline import program_text
from ridgeline.program_text import variables_of


class _Value:
    """Something whose end can be seen."""


@contextmanager
def _running(function: Callable[[Callable[[], Any]], Any]) -> Iterator[FrameType]:
    """The frame of `function` while another thread runs it and waits where it calls what it is given."""
    waits, goes_on = threading.Event(), threading.Event()

    def wait() -> None:
        waits.set()
        goes_on.wait(10)

    thread = threading.Thread(target=function, args=(wait,))
    thread.start()
    try:
        assert waits.wait(10)
        frame = sys._current_frames()[thread.ident or 0]
        while frame.f_code is not function.__code__:
            assert frame.f_back is not None
            frame = frame.f_back
        yield frame
    finally:
        goes_on.set()
        thread.join(10)


def test_values_are_not_kept_alive() -> None:
    """A look leaves no references behind that the program has not."""
    ended = []

    def function(wait: Callable[[], Any]) -> None:
        value: Any = _Value()
        gone = weakref.ref(value)
        wait()
        value = None
        ended.append(gone() is None)

    with _running(function) as frame:
        found = variables_of(frame)
        assert found is not None
        assert type(found.pop("value")) is _Value
    assert ended == [True]


def test_what_the_program_reads_itself_is_left_alone() -> None:
    """The dictionary of `locals` is the program's own."""
    seen: list[dict[str, Any]] = []

    def function(wait: Callable[[], Any]) -> None:
        number = 3
        names = locals()
        wait()
        seen.append(dict(names, number=number))

    with _running(function) as frame:
        found = variables_of(frame)
    assert found is None if sys.version_info < (3, 13) else found["number"] == 3
    assert seen[0]["number"] == 3


_BUSY = """
import sys, threading
import jax.numpy as jnp
from ridgeline.program_text import variables_of

def inner(x):
    a = x + 1; b = a * 2; c = b - 1
    for _ in range(3):
        a = a + 1; b = b + a; c = c * b
    return c

def work(x):
    for _ in range(4):
        x = inner(x)

def look():
    while not done:
        frame = sys._current_frames().get(main)
        while frame is not None:
            if frame.f_code.co_name in ("work", "inner"):
                READ
            frame = frame.f_back

main, done = threading.get_ident(), False
looker = threading.Thread(target=look)
sys.setswitchinterval(1e-5)
looker.start()
for _ in range(1000):
    work(jnp.ones((200, 200)))
done = True
looker.join()
"""


def _status(read: str) -> int:
    folder = str(Path(program_text.__file__).parents[1])
    environment = os.environ | {"PYTHONPATH": folder, "JAX_PLATFORMS": "cpu"}
    command = [sys.executable, "-c", _BUSY.replace("READ", read)]
    return subprocess.run(command, env=environment, check=False, timeout=300).returncode


def test_functions_that_end_meanwhile_do_no_harm() -> None:
    """Thousands of calls return while their variables are read, and arrays of JAX end; read by `f_locals` alone, it crashes."""
    pytest.importorskip("jax")
    assert _status("variables_of(frame)") == 0
