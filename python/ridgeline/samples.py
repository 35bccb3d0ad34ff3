"""Look now and then at where the program's Python stands, and write down the lines of its own files.

Profilers of devices see calls of a runtime, not lines: this is what gives an idle moment, a wait or a compilation its line.
Another thread of Python takes the stacks, so it needs the lock of the interpreter for some microseconds each time; how often it looks
follows from what a look costs, so that all of them together stay under `_MOST_SHARE` of the time.
A look that finds a thread where the last one found it only lengthens what is written of it.

What is written is lines of JSON: the first says whose they are, each other one what was new since the one before (`docs/samples.md`).
"""

from __future__ import annotations

import ast
import gc
import json
import linecache
import math
import os
import sys
import threading
import time
from collections.abc import Callable, Iterable
from itertools import accumulate, chain, islice, repeat, starmap, takewhile, tee
from pathlib import Path
from types import CodeType, FrameType, ModuleType
from typing import Any, Protocol

from .loops import loop_around
from .own_files import DEEPEST, INSTALLED, OwnFiles, path_of
from .padding import PaddedArguments
from .program_text import SeenFrame
from .recomputed import RecomputedValues
from .steady import SteadyArguments
from .zeros import ZeroMatrices

#: What looking may take of the program's time.
_MOST_SHARE = 0.02

#: A look takes the program more than it takes the sampler: threads change twice, and caches with them.
_COST_MULTIPLE = 1.25

#: Time between two looks, in seconds: at the beginning, and bounds of what follows from the cost.
_FIRST_S, _SHORTEST_S, _LONGEST_S = 0.004, 0.001, 0.05

#: How long a thread that computes in Python may keep the interpreter's lock from the sampler, in seconds; 5 ms is Python's own.
_SWITCH_S = 0.0005

#: Looks after which the time between two is set anew.
_ADAPT_EVERY = 16

#: Seconds between two lines of the file.
_WRITE_EVERY_S = 5.0

#: After so many entries looks become twice as rare; after `_MOST` of them there are none any more.
_RARER_AFTER, _MOST = 1 << 15, 1 << 18

#: Frames of the program that are kept of a stack: the innermost ones.
_MOST_FRAMES = 8

#: Letters of the text of a call.
_LONGEST_CALL = 60

#: One sampler at a time serves a process, whichever library's recording began it.
_one_at_a_time = threading.Lock()


class Sampler:
    """The samples of one process, while a capture runs."""

    def __init__(self, file: Path) -> None:
        """`file` is where they are written; nothing is made before `start`."""
        self._file = file
        self._own = OwnFiles()
        self._frames: dict[tuple[str, int, str, str, str], int] = {}
        self._frame_of: dict[tuple[int, int], int] = {}
        self._stacks: dict[tuple[Any, ...], int] = {}
        self._new_frames: list[list[Any]] = []
        self._new_stacks: list[dict[str, Any]] = []
        self._threads: dict[int, _Thread] = {}
        self._entries = 0
        self._looks = 0
        self._cost_s = 0.0
        self._adapted_cost_s = 0.0
        self._interval_s = _FIRST_S
        self._switch_s = 0.0
        self._wake = threading.Event()
        self._thread: threading.Thread | None = None
        self._began = False
        self._steady, self._zeros, self._padded, self._recomputed = SteadyArguments(), ZeroMatrices(), PaddedArguments(), RecomputedValues()
        #: Who reads the program's variables, in turns: all of them at once would cost more than the look itself.
        self._turns: list[list[_Reader]] = [[self._steady, self._zeros, self._padded], [self._steady, self._recomputed]]
        #: What else is known of the program, told with every line.
        self.told: Callable[[], dict[str, Any]] = dict

    def start(self) -> None:
        """Begin to look, unless somebody does; raises OSError if the file cannot be written."""
        if self._thread is not None or not _one_at_a_time.acquire(blocking=False):
            return
        if not self._began:
            self._file.parent.mkdir(parents=True, exist_ok=True)
            with open(self._file, "w", encoding="utf-8") as file:
                file.write(json.dumps({"schema": "ridgeline.samples.v1", "pid": os.getpid()}) + "\n")
            self._began = True
        # Else a thread that computes in Python keeps the lock for 5 ms, and a look falls on the call after that which gives it away.
        self._switch_s = sys.getswitchinterval()
        if self._switch_s > _SWITCH_S:
            sys.setswitchinterval(_SWITCH_S)
        self._wake = threading.Event()
        self._thread = threading.Thread(target=self._look_until_over, name="ridgeline samples", daemon=True)
        self._thread.start()

    def stop(self) -> None:
        """Look no more and write what is there; raises OSError if that cannot be written."""
        thread, self._thread = self._thread, None
        if thread is None:
            return
        self._wake.set()
        if thread is not threading.current_thread():
            thread.join(timeout=1.0)
        _one_at_a_time.release()
        self._give_back()
        self._write()

    def let_go(self) -> None:
        """This is a forked copy, in which the thread does not run: the file is its parent's."""
        if self._thread is not None:
            self._thread = None
            _one_at_a_time.release()
            self._give_back()

    def _give_back(self) -> None:
        """The program's own interval of switches, unless it has set another one since."""
        if self._switch_s > _SWITCH_S and math.isclose(sys.getswitchinterval(), _SWITCH_S):
            sys.setswitchinterval(self._switch_s)

    @property
    def cost_s(self) -> float:
        """Time of a processor that looking took, in seconds."""
        return self._cost_s

    def _look_until_over(self) -> None:
        wake, own = self._wake, threading.get_ident()
        written = time.monotonic()
        while not wake.wait(self._interval_s):
            began = time.thread_time()
            self._look(own)
            self._looks += 1
            self._cost_s += time.thread_time() - began
            if self._looks % _ADAPT_EVERY == 0:
                self._adapt()
            if self._entries >= _MOST:
                break
            if time.monotonic() - written > _WRITE_EVERY_S:
                try:
                    self._write()
                except OSError:
                    break
                written = time.monotonic()

    def _adapt(self) -> None:
        rarer = 1 << (self._entries // _RARER_AFTER)
        # The last looks: the first ones also read the program's text.
        cost_s = (self._cost_s - self._adapted_cost_s) / _ADAPT_EVERY
        self._adapted_cost_s = self._cost_s
        wanted = cost_s * _COST_MULTIPLE / _MOST_SHARE
        self._interval_s = min(max(wanted, _SHORTEST_S), _LONGEST_S) * rarer

    def _look(self, own: int) -> None:
        stacks = _stacks_of_all()
        # Whoever holds the lock stands where it is found: the time is that of the stacks.
        now = time.time_ns()
        for ident, frames in stacks:
            if ident != own:
                self._keep(ident, now, frames)
                seen = [SeenFrame(frame) for frame in islice(filter(self._own.has, frames), _MOST_FRAMES)]
                self._read(seen)

    def _read(self, seen: list[SeenFrame]) -> None:
        readers = self._turns[self._looks % len(self._turns)]
        for reader in list(readers):
            try:
                reader.look(seen)
            except Exception:
                # Values of the program may be anything: whoever cannot read them reads no more, and the looks go on.
                for others in self._turns:
                    others[:] = [other for other in others if other is not reader]

    def _keep(self, ident: int, now: int, frames: list[FrameType]) -> None:
        stack, thread = self._stack(frames), self._threads.get(ident)
        if thread is None:
            if stack is None:
                return
            thread = self._threads[ident] = _Thread(_native_id(ident), ident == threading.main_thread().ident)
        if stack is None:
            thread.stack = None
        elif thread.add(now, stack):
            self._entries += 1

    def _stack(self, frames: list[FrameType]) -> int | None:
        """The number of the stack of `frames`, innermost first; None where nothing of it is the program's."""
        own: list[tuple[int, int]] = []
        deepest: CodeType | None = None
        entry: CodeType | None = None
        for frame in frames:
            if len(own) == _MOST_FRAMES:
                break
            if self._own.has(frame):
                own.append((id(frame.f_code), frame.f_lasti))
            elif not own and not self._own.is_passing(frame.f_code):
                deepest = deepest or frame.f_code
                # What JAX puts around functions tells nothing, and whatever runs in an import is the import.
                if entry is None or not (frame.f_code.co_filename.endswith(_WRAPPERS) or entry.co_filename == _IMPORTS):
                    entry = frame.f_code
        if not own or (deepest and self._own.is_harness(deepest)):
            return None
        key = (*own, id(entry), id(deepest))
        number = self._stacks.get(key)
        if number is None:
            number = self._stacks[key] = len(self._stacks)
            said: dict[str, Any] = {"frames": [self._number_of(*place) for place in own]}
            if entry is not None and deepest is not None:
                said |= {"calls": _name_of(entry), "in": _name_of(deepest)}
            self._new_stacks.append(said)
        return number

    def _number_of(self, code_id: int, at: int) -> int:
        number = self._frame_of.get((code_id, at))
        if number is None:
            code = self._own.codes[code_id]
            line = _line_of(code, at)
            call = _with_package(_call_at(code, at), self._own.globals.get(code_id, {}))
            loop, around = loop_around(code.co_filename, line)
            frame = (path_of(code), line, code.co_name, call, loop.over, loop.is_apart, around)
            number = self._frames.get(frame)
            if number is None:
                number = self._frames[frame] = len(self._frames)
                self._new_frames.append(list(frame))
            self._frame_of[(code_id, at)] = number
        return number

    def _write(self) -> None:
        frames, self._new_frames = self._new_frames, []
        stacks, self._new_stacks = self._new_stacks, []
        threads = [thread.taken() for thread in list(self._threads.values())]
        chunk = {"frames": frames, "stacks": stacks, "threads": [thread for thread in threads if thread["samples"]]}
        chunk |= {"looks": self._looks, "cost_s": round(self._cost_s, 6), "interval_s": round(self._interval_s, 6)}
        told = self.told()
        if steady := self._steady.told():
            told = told | {"steady": steady}
        if zeros := self._zeros.told():
            told = told | {"zeros": zeros}
        if recomputed := self._recomputed.told():
            told = told | {"recomputed": recomputed}
        if padding := self._padded.told():
            told = {"padding": padding} | told
        if told:
            chunk["watched"] = told
        with open(self._file, "a", encoding="utf-8") as file:
            file.write(json.dumps(chunk, separators=(",", ":")) + "\n")


class _Reader(Protocol):
    """Somebody who reads the program's variables in a look."""

    def look(self, frames: Iterable[SeenFrame]) -> None:
        """One look at the program's own frames, innermost first."""


#: The file of what imports.
_IMPORTS = "<frozen importlib._bootstrap>"

#: Files of what libraries put around the functions that they offer.
_WRAPPERS = ("jax/_src/traceback_util.py", "contextlib.py")

_BACK = ("f_back",) * (DEEPEST - 1)


def _stacks_of_all() -> list[tuple[int, list[FrameType]]]:
    """The identity of each thread with its frames, innermost first.

    A frame of a thread that goes on must not be asked for the one around it: CPython 3.11 then reads freed memory, and ends the
    program with SIGSEGV or gives something else than a frame. Between two instructions of Python this thread may lose the lock, so
    a loop in Python cannot walk safely. The iterators below are all of C: the one call of `list` takes all stacks under one lock.
    """
    of_keys, of_values = tee(starmap(sys._current_frames, ((),)))
    idents = chain.from_iterable(map(dict.keys, of_keys))
    tops = zip(chain.from_iterable(map(dict.values, of_values)))
    outward = map(accumulate, map(chain, tops, repeat(_BACK)), repeat(getattr))
    stacks = zip(idents, map(list, map(takewhile, repeat(bool), outward)))
    # A collection of garbage could run code of the program in between, until 3.12.
    collects = sys.version_info < (3, 12) and gc.isenabled()
    if collects:
        gc.disable()
    try:
        return list(stacks)
    finally:
        if collects:
            gc.enable()


class _Thread:
    """What was seen of one thread since the last time that it was written."""

    def __init__(self, native_id: int | None, is_main: bool) -> None:
        self._native_id = native_id
        self._is_main = is_main
        self._samples: list[list[int]] = []
        self.stack: int | None = None

    def add(self, now: int, stack: int) -> bool:
        """One look; True if it is an entry of its own."""
        samples = self._samples
        if samples and self.stack == stack:
            samples[-1][1] = now - samples[-1][0]
            samples[-1][3] += 1
            return False
        self.stack = stack
        samples.append([now, 0, stack, 1])
        return True

    def taken(self) -> dict[str, Any]:
        samples, self._samples = self._samples, []
        return {"id": self._native_id, "main": self._is_main, "samples": samples}


def _native_id(ident: int) -> int | None:
    """The system's number of a thread, by Python's; None where Python did not start it."""
    return next((thread.native_id for thread in threading.enumerate() if thread.ident == ident), None)


def _name_of(code: CodeType) -> str:
    """`numpy/lib/_function_base_impl.py:percentile`: a function of a package, by its place in that."""
    file = code.co_filename.replace(os.sep, "/")
    for part in INSTALLED:
        file = file.rpartition(f"/{part}/")[2]
    return f"{'/'.join(file.split('/')[-4:])}:{getattr(code, 'co_qualname', code.co_name)}"


def _line_of(code: CodeType, at: int) -> int:
    """The line of the instruction at byte `at`, as `tb_lineno` gives it."""
    line = code.co_firstlineno
    if hasattr(code, "co_lines"):
        return next((found for start, end, found in code.co_lines() if start <= at < end and found), line)
    return line


def _call_at(code: CodeType, at: int) -> str:
    """What the instruction at byte `at` calls (`np.concatenate`), from the text of its line; empty where that does not tell."""
    if not hasattr(code, "co_positions") or at < 0:
        return ""
    positions = list(code.co_positions())
    if at // 2 >= len(positions):
        return ""
    first, last, begin, end = positions[at // 2]
    if first is None or last is None or begin is None or end is None:
        return ""
    lines = [linecache.getline(code.co_filename, number) for number in range(first, min(last, first + 20) + 1)]
    if not all(lines):
        return ""
    text = "".join(lines).encode()
    tail = len(lines[-1].encode())
    try:
        node = ast.parse(b"(" + text[begin : len(text) - tail + end].strip() + b")", mode="eval").body
    except (SyntaxError, ValueError):
        return ""
    if not isinstance(node, ast.Call):
        return ""
    called = ast.unparse(node.func)
    return called if len(called) <= _LONGEST_CALL else ""


def _with_package(call: str, names: dict[str, Any]) -> str:
    """`call` with its package in place of the name that a file gave it: `np.sort` is `numpy.sort`.

    Only modules are looked into: anything else may run code when it is asked.
    """
    first, dot, rest = call.partition(".")
    found = names.get(first)
    if isinstance(found, ModuleType):
        return f"{found.__name__}{dot}{rest}"
    # What has the name that it is called by is a function or a class, and no object of one.
    is_named = not dot and getattr(found, "__name__", None) == call
    package = getattr(found, "__module__", None) if is_named else None
    is_package = isinstance(package, str) and package not in ("__main__", names.get("__name__"))
    return f"{package}.{call}" if is_package and package else call
