"""Behaves as the `nsys` command of Nsight Systems 2024 does, as far as a caller sees it, and traces nothing.

Options are checked by name and value as in the user guide; a report is a file of its own making, and an export copies the database
named by STAND_IN_DATABASE. STAND_IN_NSYS makes it fail: `old` knows no --cuda-graph-trace, `no-report` writes none, `no-export` fails.
A range is one that the program names in the file STAND_IN_RANGE; without one there is no report. Options are kept in STAND_IN_ASKED.
"""

import os
import shutil
import signal
import subprocess
import sys

PROFILE = {
    "--trace": {"cuda,nvtx,osrt"},
    "--cuda-graph-trace": {"node", "graph"},
    "--cuda-memory-usage": {"true", "false"},
    "--sample": {"none", "process-tree", "system-wide"},
    "--cpuctxsw": {"none", "process-tree", "system-wide"},
    "--force-overwrite": {"true", "false"},
    "--capture-range": {"none", "cudaProfilerApi", "nvtx", "hotkey"},
    "--capture-range-end": {"none", "stop", "stop-shutdown"},
    "--gpu-metrics-devices": {"all", "none", "0"},
    "--output": None,
}
EXPORT = {"--type": {"sqlite", "hdf", "text", "json", "info", "arrow"}, "--force-overwrite": {"true", "false"}, "--output": None}
FAILS = os.environ.get("STAND_IN_NSYS", "")


def options(words, known):
    """The options in front, and what follows them."""
    found = {}
    while words and words[0].startswith("-"):
        name, equals, value = words.pop(0).partition("=")
        if name not in known or not equals:
            sys.exit(f"unrecognised option '{name}'\n\nusage: nsys [--version] [--help] <command> [<args>]")
        if known[name] is not None and value not in known[name]:
            sys.exit(f"Illegal --{name} argument '{value}'.")
        found[name] = value.replace("%%", "%")
    return found, words


def profile(words):
    known = dict(PROFILE)
    if FAILS == "old":
        del known["--cuda-graph-trace"]
    asked, program = options(words, known)
    if not program:
        sys.exit("No application was specified")
    report = asked["--output"] + ".nsys-rep"
    if os.path.exists(report) and asked.get("--force-overwrite") != "true":
        sys.exit(f"Failed to create '{report}': File exists.")
    child, early = None, []

    def pass_on(number, _frame):
        if child is None:
            early.append(number)
        else:
            try:
                os.killpg(child.pid, number)
            except ProcessLookupError:
                pass  # The program has ended already, and its report is still to be written.

    for one in (signal.SIGINT, signal.SIGTERM):
        signal.signal(one, pass_on)
    child = subprocess.Popen(program, process_group=0)
    for number in early:
        os.killpg(child.pid, number)
    status = child.wait()
    with open(os.environ.get("STAND_IN_ASKED", os.devnull), "w") as file:
        file.write(" ".join(f"{name}={value}" for name, value in asked.items() if name != "--output"))
    waits = asked.get("--capture-range") == "cudaProfilerApi" and not os.path.exists(os.environ.get("STAND_IN_RANGE", ""))
    if waits:
        print("No reports were generated")
    elif FAILS != "no-report":
        print("Generating '/tmp/nsys-report-4a2b.qdstrm'")
        with open(report, "w") as file:
            file.write("a report of Nsight Systems")
        print(f"[1/1] [========================100%] {os.path.basename(report)}\nGenerated:\n\t{report}")
    if status:
        print(f"The target application returned non-zero exit code {status}")
    # Versions differ in what they make of it.
    sys.exit(1 if status else 0)


def export(words):
    asked, files = options(words, EXPORT)
    if len(files) != 1 or not os.path.isfile(files[0]):
        sys.exit("The report file does not exist.")
    if FAILS == "no-export":
        sys.exit("Importer error status: Importation failed.")
    if os.path.exists(asked["--output"]) and asked.get("--force-overwrite") != "true":
        sys.exit("Failed to create the output file: File exists.")
    shutil.copyfile(os.environ["STAND_IN_DATABASE"], asked["--output"])


if __name__ == "__main__":
    command = {"profile": profile, "export": export}.get(sys.argv[1] if len(sys.argv) > 1 else "")
    if command is None:
        sys.exit("usage: nsys [--version] [--help] <command> [<args>]")
    command(sys.argv[2:])
