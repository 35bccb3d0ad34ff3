"""Compiles real programs for GPUs that are not there, and holds what comes out against what XLA says.

Needs Rust and Python 3.11. The compiler (JAX's CUDA plugin and ptxas, 1.4 GB) and what the programs import are installed by
name below `.venv-deviceless`; `RIDGELINE_COMPILER` and `RIDGELINE_PROGRAMS` name interpreters that have them already.
Without either, `--no-install` says that it was skipped.

    python scripts/test_deviceless.py [--no-install] [--sizes 32,64] [--gpus h100,a100] [program ...]
"""

from __future__ import annotations

import argparse
import json
import os
import re
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

#: Runs every row of the MBIRJAX suite once.
MBIRJAX = """
import sys
from pathlib import Path
sys.path.insert(0, {python!r})
from ridgeline.suite import Inputs, load_suite
suite = load_suite(Path({suite!r}))
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
    }
    for size in sizes:
        text = MBIRJAX.format(python=str(ROOT / "python"), suite=str(ROOT / "suites/mbirjax.py"), size=size)
        found[f"mbirjax_{size}"] = (text, [])
    return found


def main() -> int:
    """Compiles every program that is asked for; 0 where all that came out is as it must be."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--no-install", action="store_true")
    parser.add_argument("--sizes", default="32,64,128,256")
    parser.add_argument("--gpus", default="h100,a100")
    parser.add_argument("names", nargs="*")
    asked = parser.parse_args()
    ridgeline = os.environ.get("RIDGELINE_BINARY") or _built()
    compiler, interpreter = os.environ.get("RIDGELINE_COMPILER"), os.environ.get("RIDGELINE_PROGRAMS")
    if asked.no_install and not (compiler and interpreter):
        print("skipped: deviceless: no compiler for GPUs; `make test-deviceless` installs it")
        return 0
    environment = dict(os.environ, JAX_PLATFORMS="cpu")
    if not compiler:
        environment["XDG_DATA_HOME"] = str(PLACE)
        if not (PLACE / "ridgeline/compiler/bin/python").exists():
            subprocess.run([ridgeline, "compile", "--install", "--python", sys.executable], env=environment, check=True)
    if not interpreter:
        interpreter = _programs_python()
    sizes = [int(size) for size in asked.sizes.split(",")]
    chosen = {name: one for name, one in programs(sizes).items() if not asked.names or name in asked.names}
    failed = 0
    for name, (text, arguments) in chosen.items():
        wrong = _compiled(ridgeline, interpreter, environment, asked.gpus, name, text, arguments)
        failed += bool(wrong)
        print(f"{'failed' if wrong else 'passed'}: {name}" + "".join(f"\n  {line}" for line in wrong), flush=True)
    print(f"{len(chosen) - failed} passed, {failed} failed")
    return 1 if failed else 0


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
    ridgeline: str, python: str, environment: dict, gpus: str, name: str, text: str, arguments: list[str]
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
        if done.returncode != 0:
            wrong.append(f"status {done.returncode}: {done.stderr.strip().splitlines()[-1:]}")
        for gpu in gpus.split(","):
            wrong += [f"{gpu}: {line}" for line in _wrong_with(ridgeline, out / gpu)]
        counted = f", {rows} rows" if rows else ""
        print(f"  {name}: {took:.1f} s{counted}", flush=True)
        return wrong


def _wrong_with(ridgeline: str, folder: Path) -> list[str]:
    """What is wrong with the run folder of one GPU."""
    if not (folder / "manifest.json").exists():
        return ["no run folder"]
    manifest = json.loads((folder / "manifest.json").read_text())
    wrong = [f"{lost['what']}: {lost['why']}" for lost in manifest["missing"]]
    fusions, beyond = 0, []
    for module in manifest["modules"]:
        text = (folder / module["dir"] / "after.txt").read_text()
        fusions += len(re.findall(r"^\s+(?:ROOT )?%?[\w.-]+ = .*? fusion\(", text, re.MULTILINE))
        beyond.append(module["beyond_compile_s"])
        said = json.loads((folder / module["dir"] / "memory.json").read_text())
        if said != module["memory"]:
            wrong.append(f"{module['dir']}: the manifest's memory is not XLA's")
    if beyond and max(beyond) > MOST_BEYOND_S:
        wrong.append(f"{max(beyond):.2f} s beyond XLA's own time")
    print(f"  {folder.name}: {len(manifest['modules'])} modules, {fusions} fusions, at most {max(beyond, default=0):.2f} s beyond XLA")
    opened = subprocess.run([ridgeline, "stats", str(folder)], capture_output=True, text=True)
    if opened.returncode != 0 or "predicted, not measured" not in opened.stdout:
        wrong.append(f"`stats` does not open it as predicted: {opened.stderr.strip()[:200]}")
    return wrong


if __name__ == "__main__":
    sys.exit(main())
