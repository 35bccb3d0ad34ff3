"""Compiles real programs for GPUs that are not there, and holds what comes out against what XLA says.

Each check is itself checked: what the first program leaves is damaged in every way that one of them is there for, and the
check must notice.
Needs Rust and Python 3.11. The compiler (JAX's CUDA plugin and ptxas, 1.4 GB) and what the programs import are installed by
name below `.venv-deviceless`; `RIDGELINE_COMPILER` and `RIDGELINE_PROGRAMS` name interpreters that have them already.
Without either, `--no-install` says that it was skipped.
Each program is a part of its own that passes, fails or is skipped; a run that was cut off goes on with the names of the
parts that are left, which `--list` prints.

    python scripts/test_deviceless.py [--no-install] [--list] [--sizes 32,64] [--gpus h100,a100] [program ...]
"""

from __future__ import annotations

import argparse
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PLACE = ROOT / ".venv-deviceless"

#: What a module may take beside XLA's own time, seconds.
MOST_BEYOND_S = 1.0

FLAX = """
import flax.linen as nn, jax, jax.numpy as jnp
class Block(nn.Module):
    @nn.compact
    def __call__(self, x):
        y = nn.LayerNorm()(x)
        x = x + nn.MultiHeadDotProductAttention(num_heads=4)(y, y)
        return x + nn.Dense(x.shape[-1])(nn.gelu(nn.Dense(4 * x.shape[-1])(nn.LayerNorm()(x))))
class Model(nn.Module):
    @nn.compact
    def __call__(self, tokens):
        x = nn.Embed(512, 128)(tokens)
        for _ in range(2):
            x = Block()(x)
        return nn.Dense(512)(x)
model, tokens = Model(), jnp.zeros((4, 64), jnp.int32)
weights = jax.jit(model.init)(jax.random.key(0), tokens)
@jax.jit
def step(weights, tokens):
    def loss(weights):
        logits = model.apply(weights, tokens)
        return -jnp.take_along_axis(jax.nn.log_softmax(logits), tokens[..., None], -1).mean()
    value, slope = jax.value_and_grad(loss)(weights)
    return value, jax.tree.map(lambda w, g: w - 0.1 * g, weights, slope)
value, weights = step(weights, tokens)
print(float(value))
"""

DIFFRAX_ODE = """
import diffrax, jax, jax.numpy as jnp
@jax.jit
def solve(y0):
    term = diffrax.ODETerm(lambda t, y, args: jnp.stack([y[1], 5.0 * (1 - y[0] ** 2) * y[1] - y[0]]))
    return diffrax.diffeqsolve(term, diffrax.Tsit5(), 0.0, 5.0, 0.01, y0, stepsize_controller=diffrax.PIDController(1e-5, 1e-5)).ys
print(jax.vmap(solve)(jnp.ones((64, 2))).shape)
"""

DIFFRAX_IMPLICIT = """
import diffrax, jax, jax.numpy as jnp
@jax.jit
def solve(y0):
    rates = lambda t, y, args: jnp.stack([-0.04 * y[0] + 1e4 * y[1] * y[2], 0.04 * y[0] - 1e4 * y[1] * y[2] - 3e7 * y[1] ** 2, 3e7 * y[1] ** 2])
    return diffrax.diffeqsolve(diffrax.ODETerm(rates), diffrax.Kvaerno3(), 0.0, 10.0, 1e-4, y0,
        stepsize_controller=diffrax.PIDController(1e-4, 1e-6)).ys
print(solve(jnp.array([1.0, 0.0, 0.0])))
"""

#: A part that runs nothing: the regions of one function, compiled at two sizes, have the same names.
NAMES, NAMES_SIZES = "names_at_two_sizes", (32, 64)
FILTERS = """
import jax
import jax.numpy as jnp
def median(volume):
    padded = jnp.pad(volume, 1, mode="edge")
    extents = volume.shape
    windows = [
        padded[i : i + extents[0], j : j + extents[1], k : k + extents[2]]
        for i in range(3) for j in range(3) for k in range(3)
    ]
    return jnp.sort(jnp.stack(windows), axis=0)[13]
def denoise(volume):
    def gradient(image):
        return sum(jnp.roll(image, 1, axis) + jnp.roll(image, -1, axis) - 2 * image for axis in range(3))

    def body(state):
        step, image = state
        changed = image + 0.1 * gradient(image)
        return step + 1, jnp.where(jnp.abs(changed - image).max() > 1e-3, changed, image)

    _, image = jax.lax.while_loop(lambda state: state[0] < 20, body, (0, median(volume)))
    spectrum = jnp.fft.rfftn(image)
    return image / jnp.linalg.norm(image), jnp.abs(spectrum).sum(axis=(0, 1)) @ jnp.ones((spectrum.shape[2], 4))
"""

#: What a part imports, beside JAX.
IMPORTS = {"flax_transformer": "flax", "diffrax_ode": "diffrax", "diffrax_implicit": "diffrax", "mbirjax": "mbirjax"}

#: The largest size at which the suite's operations are computed; above it only what they compile counts (`uncomputed`), because on
#: two cores a reconstruction at 256 alone takes half an hour.
MOST_COMPUTED = 64

#: Runs every row of the MBIRJAX suite once.
MBIRJAX = """
import os, sys
from pathlib import Path
sys.path[:0] = [{python!r}, {scripts!r}]
import uncomputed
# As on a machine with one GPU: MBIRJAX would share the work between two devices of a CPU, in nearly three times as many modules.
os.environ["MBIRJAX_NUM_CPU_DEVICES"] = "1"
from ridgeline.suite import Inputs, load_suite
suite = load_suite(Path({suite!r}))
if {size} > {most_computed}:
    uncomputed.begin()
inputs = Inputs(suite, {size})
for name, declared in suite.operations.items():
    try:
        declared.function(**inputs.arguments(declared))
        print("row", name, flush=True)
    except Exception as error:
        print("row", name, "failed:", repr(error)[:200], flush=True)
"""


def programs(sizes: list[int]) -> dict[str, tuple[str, list[str]]]:
    """By name: text of a program, or the file of one, and its arguments."""
    found = {
        "shallow_water": (str(ROOT / "suites/programs/shallow_water.py"), ["--n", "24", "--steps", "2", "--loop", "fori_loop"]),
        "flax_transformer": (FLAX, []),
        "diffrax_ode": (DIFFRAX_ODE, []),
        "diffrax_implicit": (DIFFRAX_IMPLICIT, []),
        NAMES: (FILTERS, []),
    }
    for size in sizes:
        places = {"python": str(ROOT / "python"), "scripts": str(ROOT / "scripts"), "suite": str(ROOT / "suites/mbirjax.py")}
        text = MBIRJAX.format(**places, size=size, most_computed=MOST_COMPUTED)
        found[f"mbirjax_{size}"] = (text, [])
    return found


def main() -> int:
    """Compiles every program that is asked for; 0 where all that came out is as it must be, 2 for a name that is none."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--no-install", action="store_true")
    parser.add_argument("--list", action="store_true", help="print the names of the parts")
    parser.add_argument("--sizes", default="32", help="edges of MBIRJAX's volumes, of 32,64,128,256 and others; 32 unless said")
    parser.add_argument("--gpus", default="h100,a100")
    parser.add_argument("names", nargs="*")
    asked = parser.parse_args()
    known = programs([int(size) for size in asked.sizes.split(",")])
    if asked.list:
        print(*known, sep="\n")
        return 0
    unknown = [name for name in asked.names if name not in known]
    if unknown:
        print(f"expected parts of {', '.join(known)}, found {', '.join(unknown)}", file=sys.stderr)
        return 2
    chosen = {name: one for name, one in known.items() if not asked.names or name in asked.names}
    compiler, interpreter = os.environ.get("RIDGELINE_COMPILER"), os.environ.get("RIDGELINE_PROGRAMS")
    if asked.no_install and not (compiler and interpreter):
        for name in chosen:
            print(f"skipped: {name}: no compiler for GPUs; `make test-deviceless` installs it")
        print(f"0 passed, 0 failed, {len(chosen)} skipped")
        return 0
    ridgeline = os.environ.get("RIDGELINE_BINARY") or _built()
    environment = dict(os.environ, JAX_PLATFORMS="cpu")
    if not compiler:
        environment["XDG_DATA_HOME"] = str(PLACE)
        if not (PLACE / "ridgeline/compiler/bin/python").exists():
            subprocess.run([ridgeline, "compile", "--install", "--python", sys.executable], env=environment, check=True)
    if not interpreter:
        interpreter = _programs_python()
    outcomes = {"passed": 0, "failed": 0, "skipped": 0}
    is_damaged = False
    for name, (text, arguments) in chosen.items():
        lacking = _lacking(interpreter, name)
        if lacking:
            outcomes["skipped"] += 1
            print(f"skipped: {name}: {interpreter} has no {lacking}", flush=True)
            continue
        if name == NAMES:
            wrong = _unlike_names(ridgeline, interpreter, environment, asked.gpus.split(",")[0], text)
            outcomes["failed" if wrong else "passed"] += 1
            print(f"{'failed' if wrong else 'passed'}: {name}" + "".join(f"\n  {line}" for line in wrong), flush=True)
            continue
        # Hundreds of modules are not copied once for each damage, where a smaller part does as well.
        with_damage = not is_damaged and not name.startswith("mbirjax")
        is_damaged |= with_damage
        wrong = _compiled(ridgeline, interpreter, environment, asked.gpus, name, text, arguments, with_damage=with_damage)
        state = "failed" if wrong else "passed"
        outcomes[state] += 1
        print(f"{state}: {name}" + "".join(f"\n  {line}" for line in wrong), flush=True)
    print(", ".join(f"{count} {state}" for state, count in outcomes.items()))
    return 1 if outcomes["failed"] else 0


def _lacking(interpreter: str, name: str) -> str | None:
    """What the part imports and the interpreter has not."""
    needed = ["jax", *(package for part, package in IMPORTS.items() if name.startswith(part))]
    look = "import importlib.util, sys; print(*[name for name in sys.argv[1:] if importlib.util.find_spec(name) is None])"
    done = subprocess.run([interpreter, "-c", look, *needed], capture_output=True, text=True, check=True)
    return done.stdout.strip() or None


def _built() -> str:
    subprocess.run(["cargo", "build", "-q", "-p", "ridge_cli"], cwd=ROOT, check=True)
    return str(ROOT / "target/debug/ridgeline")


def _programs_python() -> str:
    python = PLACE / "programs/bin/python"
    if not python.exists():
        subprocess.run([sys.executable, "-m", "venv", str(PLACE / "programs")], check=True)
        pip = [str(python), "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
        subprocess.run([*pip, "jax==0.10.1", "jaxlib==0.10.1", "mbirjax==0.7.3", "flax", "diffrax"], check=True)
    return str(python)


def _compiled(
    ridgeline: str, python: str, environment: dict, gpus: str, name: str, text: str, arguments: list[str], *, with_damage: bool
) -> list[str]:
    """What is wrong with a program compiled for `gpus`."""
    with tempfile.TemporaryDirectory(prefix=f"deviceless-{name}-") as scratch:
        script = Path(text)
        if "\n" in text:
            script = Path(scratch) / f"{name}.py"
            script.write_text(text)
        out = Path(scratch) / "out"
        command = [ridgeline, "compile", "--for", gpus, "-f", "json", "-o", str(out), "--", python, str(script), *arguments]
        started = time.monotonic()
        done = subprocess.run(command, env=environment, capture_output=True, text=True)
        took = time.monotonic() - started
        rows = done.stdout.count("\nrow ") + done.stdout.startswith("row ")
        wrong = [f"row failed: {line}" for line in done.stdout.splitlines() if line.startswith("row ") and "failed:" in line]
        if name.startswith("mbirjax") and rows == 0:
            wrong.append("no row of the suite ran")
        if done.returncode != 0:
            wrong.append(f"status {done.returncode}: {done.stderr.strip().splitlines()[-1:]}")
        said = _said(done.stdout)
        for gpu in gpus.split(","):
            wrong += [f"{gpu}: {line}" for line in _wrong_with(ridgeline, out / gpu, said.get(gpu, {}))]
        if with_damage and not wrong:
            gpu = gpus.split(",")[0]
            wrong += _unnoticed(ridgeline, out / gpu, said.get(gpu, {}))
        counted = f", {rows} rows" if rows else ""
        print(f"  {name}: {took:.1f} s{counted}", flush=True)
        return wrong


def _unlike_names(ridgeline: str, python: str, environment: dict, gpu: str, text: str) -> list[str]:
    """What is wrong with the names of a function's regions at two sizes."""
    found: list[set[str]] = []
    with tempfile.TemporaryDirectory(prefix="deviceless-names-") as scratch:
        script = Path(scratch) / "filters.py"
        script.write_text(text)
        for size in NAMES_SIZES:
            out = Path(scratch) / str(size)
            command = [ridgeline, "compile", "--for", gpu, "-o", str(out), "--python", python, f"{script}:denoise"]
            done = subprocess.run([*command, "--args", f"f32[{size},{size},{size}]"], env=environment, capture_output=True, text=True)
            if done.returncode != 0:
                return [f"at {size}: status {done.returncode}: {done.stderr.strip().splitlines()[-1:]}"]
            asked = subprocess.run([ridgeline, "offload", str(out / gpu), "--all", "-f", "json"], capture_output=True, text=True)
            if asked.returncode != 0:
                return [f"at {size}: `offload` fails: {asked.stderr.strip()[:200]}"]
            found.append({region["name"] for region in json.loads(asked.stdout)["regions"]})
    print(f"  {NAMES}: {len(found[0])} regions: {', '.join(sorted(found[0]))}", flush=True)
    wrong = [] if len(found[0]) > 1 else [f"two regions were expected, and found: {sorted(found[0])}"]
    if found[0] != found[1]:
        wrong.append(f"of one size only: {sorted(found[0] ^ found[1])}")
    return wrong


def _said(stdout: str) -> dict[str, dict[str, dict]]:
    """Rows of the table of modules, by GPU and module: the report is the last document that was printed."""
    start = stdout.rfind("\n{\n") + 1
    try:
        tables = json.loads(stdout[start:])["tables"]
    except (ValueError, KeyError):
        return {}
    found: dict[str, dict[str, dict]] = {}
    for row in next((table["rows"] for table in tables if table["name"] == "compiled"), []):
        found.setdefault(row["gpu"], {})[row["module"]] = row
    return found


#: Bytes of an element, by HLO's names of types.
BYTES = {
    "pred": 1, "s8": 1, "u8": 1, "s16": 2, "u16": 2, "f16": 2, "bf16": 2, "s32": 4, "u32": 4, "f32": 4,
    "s64": 8, "u64": 8, "f64": 8, "c64": 8, "c128": 16,
}  # fmt: skip


def _argument_bytes(text: str) -> int | None:
    """Bytes of the parameters of a module, from its text; `None` where a type is not known."""
    layout = re.search(r"entry_computation_layout=\{\((.*?)\)->", text)
    total = 0
    for kind, extents in re.findall(r"([a-z]+[0-9]*)\[([0-9,]*)\]", layout.group(1) if layout else "?[]"):
        if kind not in BYTES:
            return None
        size = BYTES[kind]
        for extent in filter(None, extents.split(",")):
            size *= int(extent)
        total += size
    return total if layout else None


def _wrong_with_module(folder: Path, module: dict, said: dict) -> list[str]:
    """What is wrong with one module: what XLA left, what the assembler said, and what was read from it."""
    text = (folder / "after.txt").read_text()
    fusions = len(re.findall(r"^\s+(?:ROOT )?%?[\w.-]+ = .*? fusion\(", text, re.MULTILINE))
    wrong = []
    if said.get("fusions") != fusions:
        wrong.append(f"{said.get('fusions')} fusions are reported, and its text has {fusions}")
    memory = json.loads((folder / "memory.json").read_text())
    if memory != module["memory"]:
        wrong.append("the manifest's memory is not XLA's")
    arguments = _argument_bytes(text)
    if arguments is not None and memory["argument_size_in_bytes"] != arguments:
        wrong.append(f"XLA plans {memory['argument_size_in_bytes']} bytes of arguments, and they are {arguments}")
    thunks = (folder / "thunks.txt").read_text()
    started = set(re.findall(r"kernel=([\w.-]+)|\] ([\w.-]+) grid:", thunks))
    started = {one or other for one, other in started}
    programs = sorted((folder / "kernels").glob("*.ptx"))
    entries = {name for program in programs for name in re.findall(r"\.entry ([\w.$-]+)", program.read_text())}
    report = (folder / "kernels/ptxas.txt").read_text() if programs else ""
    used = set(re.findall(r"Compiling entry function '([^']+)'", report))
    if entries != used:
        wrong.append(f"the assembler said nothing of {sorted(entries - used)[:3]}, and of {sorted(used - entries)[:3]} without code")
    # Kernels that XLA brings along ready-made have no code here.
    if started and not started & entries:
        wrong.append(f"none of the kernels that are started has code: {sorted(started)[:3]}")
    for program in programs:
        code = program.with_suffix(".cubin")
        if not code.is_file() or code.read_bytes()[:4] != b"\x7fELF":
            wrong.append(f"{code.name} is no machine code")
    if (said.get("launches") or 0) < len(started):
        wrong.append(f"{said.get('launches')} launches are reported, and {len(started)} kernels are started")
    low, high = said.get("low_ns"), said.get("high_ns")
    # Of a loop or a call whose work nobody knows there is no time.
    is_nothing = low == high == 0 and not said.get("launches")
    if (low is None) != (high is None) or (low is not None and not is_nothing and not 0 < low <= high):
        wrong.append(f"its time is predicted as {low} to {high} ns")
    return wrong


def _wrong_with(ridgeline: str, folder: Path, said: dict[str, dict]) -> list[str]:
    """What is wrong with the run folder of one GPU, of whose modules the report said `said`."""
    if not (folder / "manifest.json").exists():
        return ["no run folder"]
    manifest = json.loads((folder / "manifest.json").read_text())
    wrong = [f"{lost['what']}: {lost['why']}" for lost in manifest["missing"]]
    if not manifest["modules"]:
        wrong.append("no module was compiled")
    fusions, beyond = 0, []
    for module in manifest["modules"]:
        place = folder / module["dir"]
        row = said.get(place.name, {})
        fusions += row.get("fusions") or 0
        beyond.append(module["beyond_compile_s"])
        try:
            wrong += [f"{place.name}: {line}" for line in _wrong_with_module(place, module, row)]
        except (OSError, ValueError, KeyError) as error:
            wrong.append(f"{place.name}: {error!r}")
    if beyond and max(beyond) > MOST_BEYOND_S:
        wrong.append(f"{max(beyond):.2f} s beyond XLA's own time")
    print(f"  {folder.name}: {len(manifest['modules'])} modules, {fusions} fusions, at most {max(beyond, default=0):.2f} s beyond XLA")
    opened = subprocess.run([ridgeline, "stats", str(folder)], capture_output=True, text=True)
    if opened.returncode != 0 or "predicted, not measured" not in opened.stdout:
        wrong.append(f"`stats` does not open it as predicted: {opened.stderr.strip()[:200]}")
    if said and all(row.get("low_ns") is None for row in said.values()):
        wrong.append("no module has a predicted time")
    largest = max(manifest["modules"], key=lambda module: said.get(Path(module["dir"]).name, {}).get("fusions") or 0, default=None)
    if largest is not None:
        command = [ridgeline, "hlo", str(folder), "-m", str(largest["program_id"])]
        before = subprocess.run([*command, "--before"], capture_output=True, text=True)
        if not before.stdout.startswith("HloModule"):
            wrong.append(f"`hlo --before` does not find the module: {before.stderr.strip()[:200]}")
        fused = subprocess.run([*command, "--fused", "-f", "json"], capture_output=True, text=True)
        if fused.returncode != 0 or not json.loads(fused.stdout)["tables"][0]["rows"]:
            wrong.append(f"`hlo --fused` names no operation: {fused.stderr.strip()[:200]}")
    return wrong


def _unnoticed(ridgeline: str, folder: Path, said: dict[str, dict]) -> list[str]:
    """Damages of a run folder that no check notices."""

    def module(copy: Path) -> Path:
        places = [path.parent.parent for path in copy.glob("hlo/*/kernels/0.ptx")]
        # The one that has most to damage.
        return max(places, key=lambda place: (place / "after.txt").stat().st_size)

    def edited(name: str, old: str, new: str) -> object:
        def edit(copy: Path) -> None:
            path = module(copy) / name
            text = path.read_text()
            assert re.search(old, text), f"{name} has no {old}"
            path.write_text(re.sub(old, new, text, count=1))

        return edit

    damages = {
        "a fusion less": edited("after.txt", r" fusion\(", " fission("),
        "another memory plan": edited("memory.json", r'"temp_size_in_bytes": ', '"temp_size_in_bytes": 1'),
        "an argument of another size": edited("after.txt", r"(entry_computation_layout=\{\(\w+\[)", r"\g<1>3,"),
        "a kernel of another name": edited("kernels/0.ptx", r"\.entry \w", ".entry X_"),
        "an assembler without a report": edited("kernels/ptxas.txt", r"Compiling entry function", "Compiling"),
        "machine code that is none": lambda copy: (module(copy) / "kernels/0.cubin").write_bytes(b"none"),
        "no machine code": lambda copy: (module(copy) / "kernels/0.cubin").unlink(),
        "no thunks": lambda copy: (module(copy) / "thunks.txt").unlink(),
        "no HLO before": lambda copy: [path.unlink() for path in copy.glob("hlo/*/before.txt")],
        "no timeline": lambda copy: (copy / "trace/predicted.trace.json").write_text("{}"),
    }
    unnoticed = []
    for what, damage in damages.items():
        with tempfile.TemporaryDirectory(prefix="deviceless-damaged-") as scratch:
            copy = Path(scratch) / folder.name
            shutil.copytree(folder, copy)
            damage(copy)
            if not _wrong_with(ridgeline, copy, said):
                unnoticed.append(f"no check notices {what}")
    print(f"  {len(damages) - len(unnoticed)} of {len(damages)} damages are noticed")
    return unnoticed


if __name__ == "__main__":
    sys.exit(main())
