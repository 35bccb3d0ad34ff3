"""Where a JAX capture lies in a folder: as TensorBoard and XProf look for it, so that both open what was recorded."""

from __future__ import annotations

from pathlib import Path

#: The folder of the runs that TensorBoard's profile plugin and XProf list, from the log directory.
RUNS = Path("plugins") / "profile"

#: The run that a recording's capture is; a further window, part or process adds to it.
RUN = "trace"


def xplane_path(out: Path, run: str, process: int) -> Path:
    """The file of process number `process` in the run `run` of the log directory `out`."""
    return Path(out) / RUNS / run / f"host{process}.xplane.pb"
