"""Run a program with one small change that its source does not have, and say how long its loops take.

`attach` is called once, by `sitecustomize`, with the change that is asked for, or with none: the program as it is runs under the same
harness, so that what the harness itself costs meets both.
The text of the user's modules is parsed as they are loaded and never written (`experiment_source`); libraries are changed in memory.
What was changed how often, what could not be, and what loops took is left as one file of JSON per process.
"""

from __future__ import annotations

import atexit
import builtins
import importlib
import json
import os
import sys
import threading
import time
from collections import Counter
from pathlib import Path
from types import ModuleType
from typing import Any

from . import regions
from .attach import AfterImport
from .experiment_clock import Clock
from .experiment_hooks import Hooks
from .experiment_source import Rewrite, install
from .provided import provide
from .safely import Parts

#: The name by which rewritten code finds the harness.
NAME = "__ridgeline__"

#: Most sites and reasons that are reported.
_MOST = 50


def attach(config_path: str) -> None:
    """Begin as told by the file at `config_path`; raises OSError or ValueError if it cannot be read."""
    Experiment(json.loads(Path(config_path).read_text(encoding="utf-8"))).begin()


class Experiment:
    """One run of the program, as it is or with one change."""

    def __init__(self, config: dict[str, Any]) -> None:
        """`config` is what the command wrote: see `ridge_record::experiment`."""
        self.out = Path(config["out"])
        self.change: str | None = config["change"]
        self.places = [(place["file"], place["line"]) for place in config["places"]]
        self.began = time.perf_counter()
        self.imported: float | None = None
        self.clock = Clock(self)
        self.applied: Counter[str] = Counter()
        self.failed: dict[str, str] = {}
        self.results: dict[str, int] = {}
        self.parts = Parts(lambda part, why: self.could_not(part, why))
        self._lock = threading.Lock()

    def begin(self) -> None:
        """Install everything; what fails is reported, and the program runs on."""
        provide()
        regions.listener = self
        setattr(builtins, NAME, Hooks(self))
        self.parts.run("source", install, Rewrite(self.change, self.places), self)
        for library in ("jax", "torch"):
            sys.meta_path.insert(0, AfterImport(library, self._imported))
        # Registered before the program's own, so it is called after them.
        atexit.register(self.report)
        if hasattr(os, "register_at_fork"):
            os.register_at_fork(after_in_child=lambda: atexit.unregister(self.report))

    def _imported(self, module: ModuleType) -> None:
        self.parts.run("change", self._change, module)
        self.imported = self.imported or time.perf_counter()

    def _change(self, module: ModuleType) -> None:
        self.clock.hear(module)
        ours = importlib.import_module(f"{__package__}.experiment_{module.__name__}")
        ours.change(module, self)

    def did(self, site: str, count: int = 1) -> None:
        """The change was made at `site`."""
        if len(self.applied) < _MOST or site in self.applied:
            self.applied[site] += count

    def could_not(self, site: str, why: str) -> None:
        """The change cannot be made at `site`."""
        with self._lock:
            if len(self.failed) < _MOST:
                self.failed.setdefault(site, why)

    # What the program says of itself; see `regions.Listener`.

    def called(self, region: regions.Region, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """The region as it is."""
        return region.jitted(inside=False)(*args, **kwargs)

    def traced(self, region: regions.Region, args: tuple[Any, ...], kwargs: dict[str, Any], *, inside: bool) -> Any:
        """The region as it is."""
        return region.function(*args, **kwargs)

    def result(self, name: str, array: Any) -> None:
        """Keep the last array of each name, to be compared."""
        self.parts.run("result", self._keep, name, array)

    def _keep(self, name: str, array: Any) -> None:
        numpy = importlib.import_module("numpy")
        plain = "".join(c if c.isalnum() or c in "-_" else "_" for c in name)[:80] or "result"
        with self.clock.excluded():
            numpy.save(self.out / f"result.{plain}.npy", numpy.asarray(array))
        self.results[plain] = self.results.get(plain, 0) + 1

    def report(self) -> None:
        """Write what became of it; called at the end of the process."""
        ended = time.perf_counter()
        text = json.dumps(
            {
                "schema": "ridgeline.experiment_run.v1",
                "pid": os.getpid(),
                "change": self.change,
                "applied": [{"site": site, "times": times} for site, times in self.applied.most_common()],
                "failed": [{"site": site, "why": why} for site, why in self.failed.items()],
                "loops": self.clock.loops(),
                "program_s": ended - (self.imported or self.began) - self.clock.left_out(),
                "compile_s": self.clock.compile_s,
                "has_library": self.imported is not None,
                "results": sorted(self.results),
            }
        )
        path = self.out / f"run.{os.getpid()}.json"
        try:
            path.with_suffix(".part").write_text(text, encoding="utf-8")
            path.with_suffix(".part").replace(path)
        except OSError:
            # The command says that the run left no report.
            pass
