"""Behaves as the `rocprofv3` command of ROCm 7 does, as far as a caller sees it, and traces nothing.

Options are checked by name and value as in its own parser (`rocprofv3.py` of rocprofiler-sdk), which wants `--` before the program.
The real one becomes the program and has its library in every process of it, each of which writes a file as it ends: here the first
process, a shell, gets an empty capture, and one that it would start STAND_IN_CAPTURE. STAND_IN_ROCPROF makes it fail: `old` knows no
--rccl-trace, `no-file` writes none. Options are kept in STAND_IN_ASKED.
"""

import os
import re
import subprocess
import sys

FLAGS = {
    "--hip-trace", "--hip-runtime-trace", "--kernel-trace", "--memory-copy-trace", "--memory-allocation-trace",
    "--marker-trace", "--rccl-trace", "--sys-trace", "--runtime-trace",
}  # fmt: skip
ONE = {"--output-file", "--output-directory"}
SEVERAL = {"--output-format": {"csv", "json", "pftrace", "otf2", "rocpd"}, "--pmc": None, "--kernel-include-regex": None}
FAILS = os.environ.get("STAND_IN_ROCPROF", "")


def options(words):
    """What is asked for, and the program."""
    if "--" not in words:
        sys.exit("usage: rocprofv3 [options] -- <application> [application options]")
    at = words.index("--")
    mine, program, found = words[:at], words[at + 1 :], {}
    while mine:
        name = mine.pop(0)
        if FAILS == "old" and name == "--rccl-trace":
            sys.stderr.write("rocprofv3: error: unrecognized arguments: --rccl-trace\n")
            sys.exit(2)
        if name in FLAGS:
            found[name] = []
        elif name in ONE:
            found[name] = [mine.pop(0)]
        elif name in SEVERAL:
            found[name] = []
            while mine and not mine[0].startswith("-"):
                found[name].append(mine.pop(0))
            if SEVERAL[name] and not (found[name] and set(found[name]) <= SEVERAL[name]):
                sys.exit(f"rocprofv3: error: argument -f/{name}: invalid choice")
        else:
            sys.stderr.write(f"rocprofv3: error: unrecognized arguments: {name}\n")
            sys.exit(2)
    return found, program


def main(words):
    asked, program = options(words)
    with open(os.environ.get("STAND_IN_ASKED", os.devnull), "w") as file:
        file.write(" ".join(f"{name} {' '.join(values)}".strip() for name, values in asked.items() if name not in ONE))
    child = subprocess.Popen(program)
    status = child.wait()
    if FAILS == "no-file" or "json" not in asked.get("--output-format", []):
        return status
    with open(os.environ["STAND_IN_CAPTURE"]) as file:
        capture = file.read()
    empty = '{"rocprofiler-sdk-tool": [{"metadata": {"pid": 1}, "buffer_records": {}}]}'
    for pid, text in [(child.pid, empty), (child.pid + 100_000, capture)]:
        name = asked["--output-file"][0].replace("%pid%", str(pid))
        assert not re.search("%[a-z]", name), name
        with open(os.path.join(asked["--output-directory"][0], f"{name}_results.json"), "w") as file:
            file.write(text)
    return status if status >= 0 else 128 - status


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
