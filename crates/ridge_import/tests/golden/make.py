"""Independent numbers for the corpus tests: what protobuf itself decodes from every capture.

Reads ../shared/corpus/xplane (beside the project's root) and writes one small JSON file per capture here.
It needs `pip install protobuf` and knows nothing of Ridgeline: durations are rounded to the nearest nanosecond and
starts are floored, as the trace documents; everything else is a plain sum.

    python crates/ridge_import/tests/golden/make.py
"""

import json
import pathlib
import sys

HERE = pathlib.Path(__file__).resolve().parent
CORPUS = HERE.parents[4] / "shared" / "corpus" / "xplane"
DERIVED_NAMES = ("Steps", "XLA Modules", "Async XLA Ops", "Framework Ops", "Framework Name Scope", "TensorFlow Ops",
                 "TensorFlow Name Scope", "Source code", "Launch Stats", "XLA TraceMe")


def is_derived(plane, line):
    """Lines that viewers derive have ids from 0xDEADBEEF on, written as negative 32-bit numbers, or known names."""
    low = line.id & 0xFFFFFFFF
    by_id = 0xDEADBEEF <= low < 0xDEADBFEF and abs(line.id) < 2**32
    return by_id or (plane.name.startswith("/device:") and line.name.startswith(DERIVED_NAMES))


def stat_names(plane, stats):
    return {plane.stat_metadata[stat.metadata_id].name for stat in stats if stat.metadata_id in plane.stat_metadata}


def add(table, key, event, start_ns):
    dur_ns = (event.duration_ps + 500) // 1000
    row = table.setdefault(key, {"events": 0, "dur_ns": 0, "first_ns": start_ns, "last_ns": start_ns})
    row["events"] += 1
    row["dur_ns"] += dur_ns
    row["first_ns"] = min(row["first_ns"], start_ns)
    row["last_ns"] = max(row["last_ns"], start_ns + dur_ns)


def measure(space):
    lines, kernels, threads, derived, allocator_events = {}, {}, {}, 0, 0
    for plane in space.planes:
        on_device = plane.name.startswith("/device:")
        for line in plane.lines:
            if is_derived(plane, line):
                derived += len(line.events)
                continue
            for event in line.events:
                start_ns = line.timestamp_ns + event.offset_ps // 1000
                name = plane.event_metadata[event.metadata_id].name
                if on_device:
                    add(lines, f"{plane.name}|{line.id}|{line.name}", event, start_ns)
                    add(kernels, name, event, 0)
                elif name == "ThreadpoolListener::StopRegion":
                    continue  # It only says when its region ended.
                elif "allocator_name" in stat_names(plane, event.stats):
                    allocator_events += 1
                else:
                    row = threads.setdefault(f"{line.id}|{line.name or line.display_name}", {"events": 0})
                    row["events"] += 1
    for row in kernels.values():
        del row["first_ns"], row["last_ns"]
    return {"device_lines": lines, "device_events": kernels, "host_threads": threads,
            "derived_events": derived, "allocator_events": allocator_events}


def main():
    sys.path.insert(0, str(CORPUS / "tools"))
    import xplane_dyn

    for path in sorted(CORPUS.glob("*.xplane.pb")):
        golden = measure(xplane_dyn.load(str(path)))
        target = HERE / path.name.replace(".xplane.pb", ".json")
        target.write_text(json.dumps(golden, indent=1, sort_keys=True) + "\n")
        print(target.name, target.stat().st_size)


if __name__ == "__main__":
    main()
