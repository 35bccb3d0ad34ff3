"""How soon `ridgeline view` can draw a capture: from the command to the tiles of the first screen, then tiles at random.

    python3 benches/view.py CAPTURE [--ridgeline PATH] [--rounds N] [--ask ADDRESS …] [--xprof PYTHON]

The server is a fresh process on a file that is in the page cache. Drawing in the browser is not in these times:
`node ui/test/browser/first.mjs CAPTURE` measures the first picture, `node ui/test/browser/measure.mjs ADDRESS` those that
follow. Each --ask is another address, as docs/web-api.md lists them, which is timed with the memory that the server took
at most until then. With a Python that has XProf (`pip install xprof`), what its trace
viewer answers first and after zooming in is timed beside it, in a fresh process and an empty folder.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import random
import re
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from urllib.request import Request, urlopen

ROOT = Path(__file__).resolve().parents[1]
# Tracks that one screen holds, columns of a tile, tiles asked for at random.
SCREEN, COLUMNS, AT_RANDOM = 60, 1024, 400
# Asks XProf what its page asks: the events of the first screen, then those of a thousandth of the time, at the resolution of
# its page. Prints the seconds of both.
XPROF = """
import json, sys, time
from xprof.convert.raw_to_tool_data import xspace_to_tool_data
path, answers, window = sys.argv[1], [], {}
for _ in range(2):
    options = {"resolution": "8000", "full_dma": "false"} | window
    begun = time.monotonic()
    text, _ = xspace_to_tool_data([path], "trace_viewer@", {"hosts": ["host0"], "host": "host0", "trace_viewer_options": options})
    answers.append(time.monotonic() - begun)
    times = [event["ts"] / 1e3 for event in json.loads(text)["traceEvents"] if "ts" in event]
    middle, width = (min(times) + max(times)) / 2, (max(times) - min(times)) / 1000
    window = {"start_time_ms": str(middle), "end_time_ms": str(middle + width)}
print(*answers)
"""


def main() -> None:
    """Prints a line for each round."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("capture", type=Path)
    parser.add_argument("--ridgeline", type=Path, default=ROOT / "target" / "release" / "ridgeline")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--ask", metavar="ADDRESS", action="append", default=[], help="such as table/stats/op or hlo/modules")
    parser.add_argument("--xprof", metavar="PYTHON", help="an interpreter that has xprof")
    arguments = parser.parse_args()
    for _ in range(arguments.rounds):
        measure(arguments.ridgeline, arguments.capture, arguments.ask)
        if arguments.xprof:
            measure_xprof(arguments.xprof, arguments.capture)


def measure(ridgeline: Path, capture: Path, more: list[str]) -> None:
    """Serves `capture`, asks as the page does, and prints the times."""
    begun = time.monotonic()
    command = [str(ridgeline), "view", str(capture), "--no-open"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True) as server:
        said = (re.search(r"(http://\S+?)/#token=(\S+)", line) for line in server.stdout or ())
        found = next((match for match in said if match), None)
        if found is None:
            raise SystemExit(f"expected an address from {' '.join(command)}, found none")
        address, token = found.groups()
        served = time.monotonic() - begun

        def get(path: str) -> bytes:
            asked = Request(f"{address}/api/v1/{path}", headers={"Authorization": f"Bearer {token}"})
            with urlopen(asked) as answer:
                return answer.read()

        # As the page does: what every view needs, and the timeline beside it.
        with ThreadPoolExecutor(2) as asking:
            _, timeline = asking.map(get, ("capture", "timeline"))
        timeline = json.loads(timeline)
        tracks = [track for group in timeline["groups"] for track in group["tracks"]]
        widest = max(0, math.ceil(math.log2(max(1, timeline["span_ns"]) / COLUMNS)))
        get("tiles?want=" + ",".join(f"{track['id']}/{widest}/0" for track in tracks[:SCREEN]))
        drawable = time.monotonic() - begun
        times = []
        for _ in range(AT_RANDOM):
            track = random.choice(tracks)
            level = random.randint(min(track["levels"][0], widest), widest)
            index = random.randrange((timeline["span_ns"] >> level) // COLUMNS + 1)
            asked = time.monotonic()
            get(f"tile/{track['id']}/{level}/{index}")
            times.append((time.monotonic() - asked) * 1e3)
        peak = peak_of(server.pid)
        asked = [answered(path, get, server.pid) for path in more]
        server.send_signal(signal.SIGINT)
    times.sort()
    print(
        f"address {served:.2f} s, tiles of the first screen {drawable:.2f} s; "
        f"tiles at random: median {times[len(times) // 2]:.1f} ms, p95 {times[len(times) * 95 // 100]:.1f} ms; "
        f"peak memory {peak:.0f} MB"
    )
    print("".join(f"  {said}\n" for said in asked), end="")


def answered(path: str, get: Callable[[str], bytes], pid: int) -> str:
    """What the answer to an address took."""
    begun = time.monotonic()
    size = len(get(path))
    return f"{path}: {(time.monotonic() - begun) * 1e3:.0f} ms, {size / 1e3:.0f} kB; peak memory {peak_of(pid):.0f} MB"


def peak_of(pid: int) -> float:
    """The most memory that a process took so far, megabytes."""
    found = re.search(r"VmHWM:\s+(\d+) kB", Path(f"/proc/{pid}/status").read_text())
    return int(found[1]) / 1000 if found else 0


def measure_xprof(python: str, capture: Path) -> None:
    """Has XProf answer as its page asks, and prints the times."""
    with tempfile.TemporaryDirectory() as folder:
        link = Path(folder) / "host0.xplane.pb"
        link.symlink_to(capture.resolve())
        process = subprocess.Popen([python, "-c", XPROF, str(link)], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        said = process.stdout.read() if process.stdout else ""
        _, status, usage = os.wait4(process.pid, 0)
    if status:
        print(f"XProf failed with status {os.waitstatus_to_exitcode(status)}", file=sys.stderr)
        return
    first, zoomed = (float(word) for word in said.split())
    print(f"XProf: first screen {first:.1f} s, zoomed in {zoomed:.2f} s; peak memory {usage.ru_maxrss / 1000:.0f} MB")


if __name__ == "__main__":
    main()
