"""Compiles the programs of real captures of GPUs once more, and counts the fusions that come out as they were captured.

A capture will do if it has HLO from before and after optimization and XLA's description of its GPU: archives of nsys-jax have,
and folders of `--xla_dump_to`. XLA's own captures (`*.xplane.pb`) hold only what came out, of which nothing can be compiled.
Two fusions are equal if they compute the same by the same instructions on the same shapes; names, layouts and source lines do
not count, and neither does the order of instructions that do not depend on each other.

    RIDGELINE_COMPILER=PYTHON python scripts/recompiled.py [--only WORD] [--most-seconds S] [--json FILE] [CAPTURE ...]

Without a capture it takes what a folder of captures beside the project has (`../shared/corpus`), which may be absent.
The compiler is what `ridgeline compile --install` made, unless `RIDGELINE_COMPILER` names another interpreter.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import lzma
import os
import re
import subprocess
import sys
import tempfile
import time
import zipfile
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
CORPUS = ROOT / "../shared/corpus"

BEFORE = ".before_optimizations.hlo.pb"
AFTER = re.compile(r"^(.*?)\.(?:sm_[\w.]+_)?gpu_after_optimizations\.hlo\.pb$")

#: The largest file that is read out of an archive, bytes.
MOST_BYTES = 256 << 20

#: Opcodes that move no work: compilers put them in and take them out freely.
WEIGHTLESS = {"parameter", "constant", "bitcast", "tuple", "get-tuple-element", "broadcast", "iota", "copy", "reshape", "transpose"}

#: Opcodes that run the computations that they call, one operation after the other; of others a computation is a part: a fusion's body,
#: the sum of a reduction.
RUNNING = {"while", "conditional", "call", "async-start"}

#: Fields of `HloInstructionProto` that say what is computed: literal, tuple index, dimensions, window, numbers of a convolution, slices,
#: padding, dynamic slice sizes, target of a call, numbers of a product, of a gather and of a scatter, direction and type of a comparison.
MEANING = (8, 13, 14, 15, 16, 17, 20, 21, 22, 28, 30, 33, 34, 48, 63, 72)


@dataclass
class Pair:
    """One module of a capture: HLO before and after, and the GPU's description."""

    name: str
    before: bytes
    after: bytes
    target: str
    devices: int = 1


@dataclass
class Found:
    """What came of one module."""

    name: str
    captured: int = 0
    #: Those that only move data, which other versions leave as copies and transposes without a fusion around them.
    copies: int = 0
    compiled: int = 0
    equal: int = 0
    #: Operations that compute, in fusions as captured, and in those of them that came out equal.
    operations: int = 0
    operations_equal: int = 0
    #: Captured fusions that hold the same operations as one that came out, equal ones among them.
    alike: int = 0
    seconds: float = 0.0
    failed: str | None = None
    #: Opcodes outside of fusions that compute, as far as their counts differ.
    differs: dict[str, tuple[int, int]] = field(default_factory=dict)


def main() -> int:
    """Prints the table; 0 if a capture was compiled again, 1 if a module could not be, 2 if there is nothing to do it with."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", default="", help="only modules whose name has this in it")
    parser.add_argument("--most-seconds", type=float, default=900.0, help="for one module")
    parser.add_argument("--json", type=Path, help="a file for the results")
    parser.add_argument("--worker", nargs="*", type=Path, help=argparse.SUPPRESS)
    parser.add_argument("captures", nargs="*", type=Path)
    asked = parser.parse_args()
    if asked.worker:
        return _work(asked.worker)
    captures = asked.captures or sorted(CORPUS.glob("nsys-jax/*.zip"))
    if not captures:
        print(f"skipped: no captures beside the project ({CORPUS}); name an archive of nsys-jax, or a folder of --xla_dump_to")
        return 2
    compiler = _compiler()
    if compiler is None:
        print("skipped: no compiler for GPUs; `ridgeline compile --install` installs it")
        return 2
    pairs = {capture.name: [pair for pair in _cut(list(_pairs(capture))) if asked.only in pair.name] for capture in captures}
    with tempfile.TemporaryDirectory(prefix="recompiled-") as scratch:
        jobs = _jobs(Path(scratch), [pair for found in pairs.values() for pair in found])
        _compile(compiler, list(jobs.values()), asked.most_seconds)
        results = {name: [_compared(pair, jobs[_key(pair)]) for pair in found] for name, found in pairs.items()}
    for name, found in results.items():
        if not found:
            print(f"skipped: {name}: no module with HLO before and after, and the GPU's description")
    _print(results)
    if asked.json:
        asked.json.write_text(json.dumps({name: [vars(one) for one in found] for name, found in results.items()}, indent=1))
    every = [one for found in results.values() for one in found]
    return 2 if not every else int(any(one.failed for one in every))


def _compiler() -> str | None:
    base = Path(os.environ.get("XDG_DATA_HOME") or Path.home() / ".local/share")
    found = os.environ.get("RIDGELINE_COMPILER") or str(base / "ridgeline/compiler/bin/python")
    return found if Path(found).exists() else None


# Captures.


def _pairs(capture: Path) -> Iterator[Pair]:
    """The modules of a capture that have all that is needed, in order."""
    files = dict(_files(capture))
    for name in sorted(files):
        if not name.endswith(BEFORE):
            continue
        stem = name.removesuffix(BEFORE)
        after = next((other for other in files if (match := AFTER.match(other)) and match.group(1) == stem), None)
        target = files.get(f"{stem}.gpu_target_config.pbtxt")
        if after is not None and target is not None:
            yield Pair(stem, files[name](), files[after](), target().decode())


def _files(capture: Path) -> Iterator[tuple[str, Any]]:
    """Names of a dump's files without what packs them, and what reads each."""
    if capture.is_dir():
        for path in capture.iterdir():
            yield path.name.removesuffix(".xz"), lambda path=path: _unpacked(path.name, path.read_bytes())
        return
    archive = zipfile.ZipFile(capture)
    for entry in archive.infolist():
        name = entry.filename.rsplit("/", 1)[-1]
        if entry.filename.startswith("dump/") and name and entry.file_size <= MOST_BYTES:
            yield name.removesuffix(".xz"), lambda entry=entry, name=name: _unpacked(name, archive.read(entry))


def _unpacked(name: str, content: bytes) -> bytes:
    if not name.endswith(".xz"):
        return content
    unpacked = lzma.LZMADecompressor().decompress(content, max_length=MOST_BYTES)
    if len(unpacked) >= MOST_BYTES:
        raise ValueError(f"{name} is larger than {MOST_BYTES >> 20} MiB")
    return unpacked


# Compiling.


def _key(pair: Pair) -> str:
    """What decides how it is compiled: processes of one program have the same."""
    return hashlib.sha256(pair.before + pair.target.encode() + str(pair.devices).encode()).hexdigest()


def _jobs(scratch: Path, pairs: list[Pair]) -> dict[str, Path]:
    """A folder for each compilation, those of the same key once."""
    jobs: dict[str, Path] = {}
    for pair in pairs:
        key = _key(pair)
        if key in jobs:
            continue
        jobs[key] = scratch / str(len(jobs))
        jobs[key].mkdir()
        (jobs[key] / "before.hlo.pb").write_bytes(pair.before)
        (jobs[key] / "target.pbtxt").write_text(pair.target)
        (jobs[key] / "devices").write_text(str(pair.devices))
    return jobs


def _compile(compiler: str, jobs: list[Path], most_seconds: float) -> None:
    """Compiles every job; a module that ends the compiler, or takes too long, costs itself alone."""
    left = jobs
    while left:
        command = [compiler, __file__, "--worker", *map(str, left)]
        with (left[0] / "log").open("w+") as log, subprocess.Popen(command, stdout=log, stderr=log) as worker:
            begun, under_way = time.monotonic(), None
            while worker.poll() is None:
                time.sleep(0.5)
                started = next((job for job in left if (job / "started").exists() and not _is_done(job)), None)
                if started != under_way:
                    begun, under_way = time.monotonic(), started
                if time.monotonic() - begun > most_seconds:
                    worker.kill()
            log.seek(0)
            said = [line for line in log.read().splitlines() if line.strip()]
        under_way = next((job for job in left if (job / "started").exists() and not _is_done(job)), None)
        if under_way is None and not all(map(_is_done, left)):
            under_way = left[0]
        if under_way is not None:
            why = f"status {worker.returncode}" if worker.returncode != -9 else f"not compiled within {most_seconds:.0f} s"
            (under_way / "failed").write_text(said[-1][:200] if said and worker.returncode > 0 else why)
        left = [job for job in left if not _is_done(job)]


def _is_done(job: Path) -> bool:
    return (job / "seconds").exists() or (job / "failed").exists()


def _work(jobs: list[Path]) -> int:
    """In the compiler's environment: compiles each job, and leaves how long it took or why it failed."""
    sys.path.insert(0, str(ROOT / "python"))
    os.environ.update({"JAX_PLATFORMS": "cpu", "XLA_FLAGS": "--xla_gpu_autotune_level=0"})
    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")
    import jax  # noqa: F401, PLC0415 - the compiler's
    from jax._src.lib import _jax  # noqa: PLC0415
    from ridgeline.compile_device import Target  # noqa: PLC0415

    targets: dict[tuple[str, int], Target] = {}
    for job in jobs:
        (job / "started").touch()
        begun = time.monotonic()
        try:
            (module,) = (content for number, content in _fields((job / "before.hlo.pb").read_bytes()) if number == 1)
            (job / "stablehlo.mlirbc").write_bytes(_jax.mlir.hlo_to_stablehlo(bytes(module)))
            text, devices = (job / "target.pbtxt").read_text(), int((job / "devices").read_text())
            if (text, devices) not in targets:
                targets[text, devices] = Target(text, devices=devices)
            (job / "out").mkdir()
            targets[text, devices].compile(job / "stablehlo.mlirbc", job / "out")
            (job / "seconds").write_text(str(time.monotonic() - begun))
        except Exception as error:  # noqa: BLE001 - one module must not cost the others
            (job / "failed").write_text(f"{type(error).__name__}: {str(error).splitlines()[0][:200] if str(error) else ''}")
    return 0


def _compared(pair: Pair, job: Path) -> Found:
    found = Found(pair.name)
    if (job / "failed").exists():
        found.failed = (job / "failed").read_text()
        return found
    found.seconds = float((job / "seconds").read_text())
    _compare(found, _fusions(pair.after), _fusions((job / "out/after.hlo.pb").read_bytes()))
    print(f"  {pair.name}: {found.equal} of {found.captured} fusions, {found.seconds:.1f} s", flush=True)
    return found


def _cut(pairs: list[Pair]) -> list[Pair]:
    """The modules with the devices that they were cut for: those of the largest group that a collective of the capture names, for
    each module that has collectives or asks which part it is."""
    cut, most = [], 0
    for pair in pairs:
        is_cut = False
        for computation in _module(pair.after)["computations"].values():
            for instruction in computation["instructions"].values():
                is_cut |= instruction["opcode"] == "partition-id"
                for number, group in instruction["raw"]:
                    if number == 49:
                        is_cut = True
                        most = max([most, *(device for _, ids in _fields(group) for device in _numbers(ids))])
        if is_cut:
            cut.append(pair)
    for pair in cut:
        pair.devices = most + 1
    return pairs


# Comparing.


def _compare(found: Found, before: dict[str, Any], after: dict[str, Any]) -> None:
    ours = Counter(one[0] for one in after["fusions"])
    alike = Counter(one[1] for one in after["fusions"])
    found.captured = sum(weight > 0 for *_, weight in before["fusions"])
    found.compiled = sum(weight > 0 for *_, weight in after["fusions"])
    for exact, held, weight in before["fusions"]:
        if weight == 0:
            found.copies += 1
            continue
        found.operations += weight
        if ours[exact] > 0:
            ours[exact] -= 1
            found.equal += 1
            found.operations_equal += weight
        if alike[held] > 0:
            alike[held] -= 1
            found.alike += 1
    names = sorted({*before["others"], *after["others"]})
    counts = {name: (before["others"][name], after["others"][name]) for name in names}
    found.differs = {name: pair for name, pair in counts.items() if pair[0] != pair[1]}


def _fusions(proto: bytes) -> dict[str, Any]:
    """Of each fusion: what it computes, the operations that it holds, and how many; and other opcodes that weigh, outside of fusions."""
    module = _module(proto)
    computations = module["computations"]
    memo: dict[int, str] = {}
    parts, fusions, others = set(), [], Counter()
    for computation in computations.values():
        for one in computation["instructions"].values():
            if one["opcode"] not in RUNNING:
                parts.update(one["called"])
    for number, computation in computations.items():
        if number in parts:
            continue
        for one in computation["instructions"].values():
            if one["opcode"] == "fusion" and one["called"]:
                held = _held(computations, one["called"][0])
                fusions.append((_computes(computations, one["called"][0], memo), str(sorted(held.items())), sum(held.values())))
            elif one["opcode"] not in WEIGHTLESS:
                others[one["opcode"]] += 1
    return {"fusions": fusions, "others": others}


def _held(computations: dict[int, Any], number: int) -> Counter:
    held = Counter(one["opcode"] for one in computations[number]["instructions"].values())
    return Counter({opcode: count for opcode, count in held.items() if opcode not in WEIGHTLESS})


def _computes(computations: dict[int, Any], number: int, memo: dict[int, str]) -> str:
    """A name for what a computation computes: instructions numbered from the root, parameters where they are met first."""
    if number in memo:
        return memo[number]
    computation = computations[number]
    instructions, places, lines = computation["instructions"], {}, []
    left = [(computation["root"], False)]
    while left:
        at, is_ready = left.pop()
        if at in places:
            continue
        one = instructions[at]
        if not is_ready:
            left.append((at, True))
            left += [(operand, False) for operand in reversed(one["operands"]) if operand not in places]
            continue
        places[at] = len(places)
        meaning = [(key, value) for key, value in one["raw"] if key in MEANING]
        called = [_computes(computations, inner, memo) for inner in one["called"]]
        operands = [places[operand] for operand in one["operands"]]
        lines.append(repr((one["opcode"], one["shape"], operands, sorted(meaning), called)))
    memo[number] = hashlib.sha256("\n".join(lines).encode()).hexdigest()
    return memo[number]


# Protobuf, as far as `hlo.proto` is read: field numbers are those of openxla/xla.


def _module(proto: bytes) -> dict[str, Any]:
    (module,) = (content for number, content in _fields(proto) if number == 1)
    computations = {}
    for number, content in _fields(module):
        if number != 3:
            continue
        instructions, own, root = {}, 0, 0
        for key, value in _fields(content):
            if key == 2:
                one = _instruction(value)
                instructions[one["id"]] = one
            elif key == 5:
                own = value
            elif key == 6:
                root = value
        computations[own] = {"instructions": instructions, "root": root}
    return {"computations": computations}


def _instruction(content: bytes) -> dict[str, Any]:
    one: dict[str, Any] = {"opcode": "", "id": 0, "shape": "", "operands": [], "called": [], "raw": []}
    for number, value in _fields(content):
        if number == 2:
            one["opcode"] = bytes(value).decode()
        elif number == 3:
            one["shape"] = _shape(value)
        elif number == 35:
            one["id"] = value
        elif number == 36:
            one["operands"] += _numbers(value)
        elif number == 38:
            one["called"] += _numbers(value)
        else:
            one["raw"].append((number, value if isinstance(value, int) else bytes(value)))
    return one


def _shape(content: bytes) -> str:
    kind, extents, parts = 0, [], []
    for number, value in _fields(content):
        if number == 2:
            kind = value
        elif number == 3:
            extents += _numbers(value)
        elif number == 4:
            parts.append(_shape(value))
    return f"({', '.join(parts)})" if parts else f"{kind}{extents}"


def _numbers(value: Any) -> list[int]:
    """A repeated number, packed or one of it."""
    if isinstance(value, int):
        return [value]
    found, at = [], 0
    while at < len(value):
        number, at = _varint(value, at)
        found.append(number)
    return found


def _fields(content: Any) -> Iterator[tuple[int, Any]]:
    view, at = memoryview(content), 0
    while at < len(view):
        key, at = _varint(view, at)
        kind = key & 7
        if kind == 0:
            value, at = _varint(view, at)
        else:
            if kind == 2:
                size, at = _varint(view, at)
            elif kind in (1, 5):
                size = 8 if kind == 1 else 4
            else:
                raise ValueError(f"field {key >> 3} is of kind {kind}, which no HLO has")
            if at + size > len(view):
                raise ValueError("the file is cut off")
            value, at = view[at : at + size], at + size
        yield key >> 3, value


def _varint(view: Any, at: int) -> tuple[int, int]:
    number = shift = 0
    while True:
        if at >= len(view) or shift > 63:
            raise ValueError("the file is cut off")
        byte = view[at]
        number |= (byte & 0x7F) << shift
        at += 1
        if byte < 0x80:
            return number, at
        shift += 7


# Showing.


def _share(part: int, whole: int) -> str:
    return f"{100 * part / whole:.0f} %" if whole else "–"


def _print(results: dict[str, list[Found]]) -> None:
    head = ("Capture", "Modules", "Failed", "Fusions captured", "Copies beside", "Compiled", "Equal", "Of their operations", "Same operations")
    print("\n| " + " | ".join(head) + " |\n|" + "---|" * len(head))
    for name, every in results.items():
        found = [one for one in every if one.failed is None]
        total = lambda what, found=found: sum(getattr(one, what) for one in found)  # noqa: E731 - one line says it
        captured = total("captured")
        print(
            f"| {name} | {len(every)} | {len(every) - len(found)} | {captured} | {total('copies')} | {total('compiled')} | "
            f"{total('equal')} ({_share(total('equal'), captured)}) | {_share(total('operations_equal'), total('operations'))} | "
            f"{total('alike')} ({_share(total('alike'), captured)}) |"
        )
    said: set[int] = set()
    for name, every in results.items():
        for one in every:
            if id(one) in said:
                continue
            said.add(id(one))
            if one.failed:
                print(f"{name}: {one.name} failed: {one.failed}")
            elif one.differs:
                print(f"{name}: {one.name}, outside of fusions, captured and compiled: " + ", ".join(f"{opcode} {was} and {now}" for opcode, (was, now) in one.differs.items()))


if __name__ == "__main__":
    sys.exit(main())
