"""Writes a made-up Chrome trace with many tracks, names and modules, to measure the page: `python3 benches/wide_capture.py OUT`.

Every event is a kernel of a stream, as JAX's viewer format has it: with an operation and a module. Names repeat in turn, so
tables have as many rows as there are names.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path

# Streams of one device.
STREAMS = 30


def main() -> None:
    """Writes the trace."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("out", type=Path)
    parser.add_argument("--tracks", type=int, default=300)
    parser.add_argument("--events", type=int, default=600_000)
    parser.add_argument("--names", type=int, default=50_000, help="operations, each with a kernel of its own")
    parser.add_argument("--modules", type=int, default=100_000)
    options = parser.parse_args()
    with options.out.open("w") as file:
        file.write('{"displayTimeUnit":"ns","traceEvents":[\n')
        for track in range(options.tracks):
            device, stream = divmod(track, STREAMS)
            name = {"ph": "M", "pid": device + 1, "name": "process_name", "args": {"name": f"/device:GPU:{device}"}}
            file.write(json.dumps(name) + ",\n")
            name = {"ph": "M", "pid": device + 1, "tid": stream + 1, "name": "thread_name", "args": {"name": f"Stream #{stream}(Compute)"}}
            file.write(json.dumps(name) + ",\n")
        for event in range(options.events):
            device, stream = divmod(event % options.tracks, STREAMS)
            begun = event // options.tracks * 20 + event % 7
            operation, module = event % options.names, event % options.modules
            args = f'{{"hlo_op":"fusion.{operation}","hlo_module":"jit_f{module}","correlation_id":"{event}"}}'
            end = "\n" if event == options.events - 1 else ",\n"
            file.write(f'{{"ph":"X","pid":{device + 1},"tid":{stream + 1},"ts":{begun},"dur":{5 + event % 11},"name":"kernel_{operation}","args":{args}}}{end}')
        file.write("]}\n")


if __name__ == "__main__":
    main()
