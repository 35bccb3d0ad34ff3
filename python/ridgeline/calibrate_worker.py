"""Measure what this process's JAX devices reach, and tell the parent what happens as it happens.

One device of each kind is measured. What a device cannot do is an event with its reason, and the rest goes on.
How events travel, and how the parent ends the process, is said in `worker`.
"""

from __future__ import annotations

import argparse
import sys
import traceback
from typing import Any

from .bench_measure import reason_of
from .calibrate_time import FULL, QUICK
from .worker import INTERRUPTED_STATUS, Events, interrupt_at_end_of_stdin, private_stdout

BROKEN_STATUS = 3


def main(arguments: list[str] | None = None) -> int:
    """Measure and return the exit status: 0, `INTERRUPTED_STATUS` or `BROKEN_STATUS`."""
    options = _options(arguments)
    events = Events(private_stdout())
    interrupt_at_end_of_stdin()
    try:
        _run(options, events)
    except KeyboardInterrupt:
        events.emit("interrupted")
        return INTERRUPTED_STATUS
    except Exception as error:  # noqa: BLE001 - reported to the parent, which reports it to the user
        traceback.print_exc()
        events.emit("broken", reason=reason_of(error))
        return BROKEN_STATUS
    return 0


def _run(options: argparse.Namespace, events: Events) -> None:
    import jax  # noqa: PLC0415 - where it is not installed the parent is told

    # Without it f64 would silently be f32.
    jax.config.update("jax_enable_x64", True)  # noqa: FBT003 - JAX's own way
    from .calibrate_measure import probes  # noqa: PLC0415 - after the choice above
    from .environment import environment  # noqa: PLC0415

    kinds = {str(device.device_kind): device for device in reversed(jax.local_devices())}
    chosen = list(probes())
    events.emit("plan", probes=len(chosen) * len(kinds))
    events.emit("environment", environment=environment())
    for device in kinds.values():
        _measure_device(device, chosen, options, events)


def _measure_device(jax_device: Any, chosen: list[Any], options: argparse.Namespace, events: Events) -> None:
    from .calibrate_measure import Device, NotHere  # noqa: PLC0415
    from .environment import describe_device  # noqa: PLC0415

    described = describe_device(jax_device)
    effort = QUICK if options.quick else FULL
    array_bytes = options.array_bytes if jax_device.platform == "cpu" and options.array_bytes else effort.array_bytes
    if limit := described.get("memory_bytes"):
        array_bytes = min(array_bytes, limit // 8)
    events.emit("device", device=described)
    device = Device(device=jax_device, effort=effort, array_bytes=array_bytes)
    for probe in chosen:
        named = {"what": probe.what, "type": probe.type}
        events.emit("start", **named)
        try:
            events.emit("measured", **named, **probe.measure(device))
        except NotHere as reason:
            events.emit("missing", **named, why=str(reason))
        except Exception as error:  # noqa: BLE001 - one thing a device cannot do must not cost the others
            traceback.print_exc()
            events.emit("missing", **named, why=reason_of(error))


def _options(arguments: list[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m ridgeline.calibrate_worker", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="measure for a fraction of a second each")
    parser.add_argument("--array-bytes", type=int, help="size of an array that the processor's caches do not hold")
    return parser.parse_args(arguments)


if __name__ == "__main__":
    sys.exit(main())
