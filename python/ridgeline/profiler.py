"""Start and stop JAX's profiler, and put what it captured in one file of our own naming.

`jax.profiler.stop_trace` writes a folder named for the time and the host, and beside the capture a gzipped JSON copy that stops at
a million events and takes most of the time; the session's own bytes are taken instead where this JAX lets us.
When to start and stop is decided elsewhere.
"""

from __future__ import annotations

import shutil
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from .tracer import Written
from .xplane import write_xspace

#: What is recorded if nothing else is asked for: host events at the level of XLA's runtime, device events, the HLO of what
#: ran; no Python tracer, which slows the program down and fills the trace with events of no use here.
SENSIBLE_OPTIONS: dict[str, Any] = {
    "python_tracer_level": 0,
    "host_tracer_level": 2,
    "enable_hlo_proto": True,
}

@dataclass(frozen=True)
class RunningProfiler:
    """A profiler that was started here; `scratch` is the folder it was given."""

    scratch: Path


def start_profiler(options: dict[str, Any]) -> RunningProfiler:
    """Start JAX's profiler with `SENSIBLE_OPTIONS` overridden by `options`.

    A key that is a `ProfileOptions` field is set there, converted to that field's type;
    any other goes to `advanced_configuration`.

    Raises ValueError if a value does not convert and RuntimeError if a trace is already running.
    """
    import jax  # noqa: PLC0415 - the program's

    profile_options = _profile_options(jax, options)
    scratch = Path(tempfile.mkdtemp(prefix="ridgeline-trace-"))
    try:
        jax.profiler.start_trace(str(scratch), profiler_options=profile_options)
    except BaseException:
        shutil.rmtree(scratch, ignore_errors=True)
        raise
    return RunningProfiler(scratch)


def stop_profiler(running: RunningProfiler, path: Path, *, keep_hostnames: bool = False) -> Written:
    """Stop the profiler and write its capture to `path`.

    Raises RuntimeError if the profiler was stopped by somebody else and OSError if `path` cannot be written.
    """
    try:
        state = getattr(sys.modules.get("jax._src.profiler"), "_profile_state", None)
        if hasattr(getattr(state, "profile_session", None), "stop"):
            return _stop_for_bytes(state, path, keep_hostnames)
        return _stop_through_folder(running.scratch, path)
    finally:
        shutil.rmtree(running.scratch, ignore_errors=True)


def _stop_for_bytes(state: Any, path: Path, keep_hostnames: bool) -> Written:
    with state.lock:
        session = state.profile_session
        if session is None:
            raise RuntimeError("expected a running profiler, found none")
        try:
            xspace = session.stop()
        finally:
            state.reset()
            profiler = sys.modules["jax._src.profiler"]
            getattr(profiler, "clear_metadata", lambda: None)()
    size = write_xspace(xspace, path, keep_hostnames=keep_hostnames)
    return Written(path, size, not keep_hostnames)


def _stop_through_folder(scratch: Path, path: Path) -> Written:
    import jax  # noqa: PLC0415 - the program's

    jax.profiler.stop_trace()
    captures = sorted(scratch.rglob("*.xplane.pb"))
    if not captures:
        raise RuntimeError("expected an .xplane.pb file from the profiler, found none")
    path.parent.mkdir(parents=True, exist_ok=True)
    shutil.move(str(captures[0]), path)
    return Written(path, path.stat().st_size, False)


def _profile_options(jax: Any, wanted: dict[str, Any]) -> Any:
    """A `ProfileOptions` with `wanted` set; what it has no field for goes to its `advanced_configuration`."""
    options = jax.profiler.ProfileOptions()
    for key, value in SENSIBLE_OPTIONS.items():
        if hasattr(options, key):
            setattr(options, key, value)
    advanced: dict[str, Any] = {}
    for key, value in wanted.items():
        if not key.startswith("_") and hasattr(options, key) and key != "advanced_configuration":
            setattr(options, key, _converted(key, value, type(getattr(options, key))))
        else:
            advanced[key] = _parsed(value)
    if advanced:
        options.advanced_configuration = advanced
    return options


def _converted(key: str, value: Any, wanted: type) -> Any:
    parsed = value if wanted is str else _parsed(value)
    if wanted is bool and parsed in (0, 1):
        return bool(parsed)
    if wanted is int and isinstance(parsed, (bool, int)):
        return int(parsed)
    if isinstance(parsed, wanted):
        return parsed
    raise ValueError(f"expected {wanted.__name__} for {key}, found {value!r}")


def _parsed(value: Any) -> Any:
    """`value` as bool or int if its text is one, else as it is."""
    if not isinstance(value, str):
        return value
    if value.lower() in ("true", "false"):
        return value.lower() == "true"
    try:
        return int(value, 0)
    except ValueError:
        return value
