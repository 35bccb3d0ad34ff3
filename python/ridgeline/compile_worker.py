"""Compile modules for GPUs that are not there, and tell the parent what happens as it happens.

The parent names a job, a JSON file: `targets` by name with their text, and `modules` with `source`, a file of StableHLO,
and `folder`, where what is made of it goes, by target.
XLA ends the process where it meets what it takes to be impossible: each module is announced before it is compiled,
so the parent knows which one it was and goes on with the others.
How events travel, and how the parent ends the process, is said in `worker`.
"""

from __future__ import annotations

import json
import os
import sys
import tempfile
import traceback
from pathlib import Path
from typing import Any

from .worker import INTERRUPTED_STATUS, Events, interrupt_at_end_of_stdin, private_stdout

BROKEN_STATUS = 3

#: Nothing can be tried on a GPU that is not there.
_FLAGS = "--xla_gpu_autotune_level=0"


def main(arguments: list[str] | None = None) -> int:
    """Compile and return the exit status: 0, `INTERRUPTED_STATUS` or `BROKEN_STATUS`."""
    (job,) = sys.argv[1:] if arguments is None else arguments
    events = Events(private_stdout())
    interrupt_at_end_of_stdin()
    # The parent removes the job's folder however this process ends.
    tempfile.tempdir = str(Path(job).parent)
    # The processor is JAX's own platform here; the plugin is found by name.
    os.environ["JAX_PLATFORMS"] = "cpu"
    os.environ["XLA_FLAGS"] = f"{os.environ.get('XLA_FLAGS', '')} {_FLAGS}".strip()
    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")
    try:
        _run(json.loads(Path(job).read_text(encoding="utf-8")), events)
    except KeyboardInterrupt:
        events.emit("interrupted")
        return INTERRUPTED_STATUS
    except Exception as error:  # noqa: BLE001 - reported to the parent, which reports it to the user
        traceback.print_exc()
        events.emit("broken", reason=_reason(error))
        return BROKEN_STATUS
    return 0


def _run(job: dict[str, Any], events: Events) -> None:
    import jaxlib  # noqa: PLC0415 - where it is not installed the parent is told

    from .compile_assembler import ptxas  # noqa: PLC0415
    from .compile_device import Target  # noqa: PLC0415

    events.emit("environment", jaxlib=jaxlib.__version__, ptxas=ptxas())
    for name, text in job["targets"].items():
        target = Target(text)
        for module in job["modules"]:
            if name not in module["folders"]:
                continue
            folder = Path(module["folders"][name])
            events.emit("start", target=name, folder=str(folder))
            try:
                folder.mkdir(parents=True, exist_ok=True)
                events.emit("compiled", target=name, folder=str(folder), **target.compile(Path(module["source"]), folder))
            except Exception as error:  # noqa: BLE001 - one module must not cost the others
                traceback.print_exc()
                events.emit("failed", target=name, folder=str(folder), why=_reason(error))


def _reason(error: BaseException) -> str:
    """What went wrong, in one line."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    first = next((line for line in lines if not line.startswith(("---", "For simplicity"))), type(error).__name__)
    return f"{type(error).__name__}: {first}"[:400]


if __name__ == "__main__":
    sys.exit(main())
