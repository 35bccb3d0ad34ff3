"""Behaves as the `ncu` command of Nsight Compute 2024 does, as far as a caller sees it, and counts nothing.

Options are checked by name and value as in the manual. The program is taken to launch the kernels of STAND_IN_KERNELS; where one of
them is asked for, the report is STAND_IN_REPORT. STAND_IN_NCU makes it fail: `denied` is a driver that keeps its counters.
"""

import os
import re
import shutil
import subprocess
import sys

WITH_VALUE = {
    "--target-processes": {"all", "application-only"},
    "--graph-profiling": {"node", "graph"},
    "--set": {"full", "basic", "detailed", "roofline"},
    "--kernel-name-base": {"function", "demangled", "mangled"},
    "--kernel-id": None,
    "--kernel-name": None,
    "--launch-skip": None,
    "--launch-count": None,
    "--log-file": None,
    "--export": None,
    "--page": {"raw", "details"},
    "--import": None,
}
ALONE = {"--nvtx", "--force-overwrite", "--csv"}


def main(words):
    asked = {}
    while words and words[0].startswith("-"):
        name = words.pop(0)
        if name in ALONE:
            asked[name] = True
        elif name in WITH_VALUE and words and (WITH_VALUE[name] is None or words[0] in WITH_VALUE[name]):
            asked[name] = words.pop(0)
        else:
            sys.exit(f"==ERROR== unrecognised option '{name}'. Use --help for further information.")
    if "--import" in asked:
        with open(os.environ["STAND_IN_PAGE"]) as file:
            print(file.read(), end="")
        return 0
    log = open(asked["--log-file"], "w")
    if "--kernel-name" in asked:
        operator, _, name = asked["--kernel-name"].partition(":")
        context = stream = ""
        launches = "1"
        int(asked["--launch-skip"]), int(asked["--launch-count"])
    else:
        context, stream, operator, name, launches = asked["--kernel-id"].split(":")
    if context or stream or operator != "regex" or not re.fullmatch(launches, "1") or re.fullmatch(launches, "3"):
        log.write(f"==ERROR== Invalid kernel id {asked['--kernel-id']}\n")
        return 1
    log.write("==PROF== Connected to process 4711\n")
    if os.environ.get("STAND_IN_NCU") == "denied":
        log.write("==ERROR== ERR_NVGPUCTRPERM - The user does not have permission to access NVIDIA GPU Performance Counters\n")
        log.write("==PROF== Trying to shutdown target application\n==WARNING== No kernels were profiled.\n")
        return 9
    status = subprocess.call(words)
    log.write("==PROF== Disconnected from process 4711\n")
    if status:
        log.write(f"==ERROR== The application returned an error code ({status}).\n")
    launched = os.environ["STAND_IN_KERNELS"].split()
    if not any(re.search(name, kernel) for kernel in launched):
        log.write("==WARNING== No kernels were profiled.\nAvailable Kernels:\n")
        return 0
    shutil.copyfile(os.environ["STAND_IN_REPORT"], asked["--export"].replace("%%", "%") + ".ncu-rep")
    # Versions differ in what they make of the program's status.
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
