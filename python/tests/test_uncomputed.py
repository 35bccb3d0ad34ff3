"""What a program sees whose large computations are left out."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

PROGRAM = """
import sys
sys.path.insert(0, {scripts!r})
import jax, jax.numpy as jnp, numpy as np
import uncomputed

counts = uncomputed.begin(1000)

@jax.jit
def small(x):
    return x.sum()

def step(x, n):
    y = jax.lax.fori_loop(0, 3, lambda _, y: y @ y, x)
    return y, n + 1, x > 0, jnp.fft.fft(x), y.mean()

large = jax.jit(step, donate_argnums=0)
print(float(small(jnp.arange(4.0))))
mesh = jax.sharding.Mesh(jax.devices(), ("d",))
place = jax.sharding.NamedSharding(mesh, jax.sharding.PartitionSpec("d"))
y, n, mask, spectrum, mean = large(jax.device_put(np.full((64, 64), 7, np.float32), place), 3)
print(y.shape, float(y.min()), float(y.max()), int(n), bool(mask.any()), spectrum.dtype, spectrum[0, 0], float(mean))
print(bool(jax.jit(lambda x: jnp.isfinite(x).all())(np.zeros((64, 64), np.float32))))
finite = jnp.isfinite(jnp.full((64, 64), 7.0))
print(bool(finite.all()), bool((jnp.full((64, 64), 7.0) < 0).any()))
print("step" in "".join(counts.filled), counts.computed > 0)
lowered = jax.jit(step).lower(jax.ShapeDtypeStruct((64, 64), jnp.float32), 3).as_text()
print("stablehlo.while" in lowered)
"""


def test_large_modules_are_filled_and_small_ones_computed(tmp_path: Path) -> None:
    pytest.importorskip("jax")
    scripts = Path(__file__).resolve().parents[2] / "scripts"
    program = tmp_path / "program.py"
    program.write_text(PROGRAM.format(scripts=str(scripts)))
    environment = {"JAX_PLATFORMS": "cpu", "XLA_FLAGS": "--xla_force_host_platform_device_count=2", "PATH": ""}
    done = subprocess.run([sys.executable, str(program)], capture_output=True, text=True, env=environment)
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines() == [
        "6.0",
        # The loop of products would give numbers far above this.
        "(64, 64) 1.0 1.4921875 0 False complex64 (1+0j) 1.0",
        # What a program decides by is computed.
        "True",
        # In two steps as well: which elements, then whether all.
        "True False",
        "True True",
        "True",
    ]
