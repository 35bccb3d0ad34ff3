"""Heart cells with varied conductances: a stiff model solved for many cells at once."""

import time

import diffrax as dfx
import jax
import jax.numpy as jnp

CELLS = 64
BEATS = 60.0
SAMPLES = 60


def cell(t, state, args):
    """FitzHugh-Nagumo with a slow recovery and a third, faster gate."""
    voltage, recovery, gate = state
    stimulus, conductance = args
    open_gate = 1.0 / (1.0 + jnp.exp(-8.0 * (voltage - 0.2)))
    d_voltage = 8.0 * (voltage - voltage**3 / 3.0 - recovery + stimulus + conductance * gate)
    d_recovery = 0.08 * (voltage + 0.7 - 0.8 * recovery)
    d_gate = 200.0 * (open_gate - gate)
    return jnp.stack([d_voltage, d_recovery, d_gate])


def solve_cell(stimulus, conductance):
    solution = dfx.diffeqsolve(
        dfx.ODETerm(cell),
        dfx.Kvaerno5(),
        0.0,
        BEATS,
        0.01,
        jnp.array([-1.0, -0.5, 0.0]),
        args=(stimulus, conductance),
        saveat=dfx.SaveAt(ts=jnp.linspace(0.0, BEATS, SAMPLES)),
        stepsize_controller=dfx.PIDController(rtol=1e-4, atol=1e-6),
        max_steps=65536,
    )
    return solution.ys[:, 0]


@jax.jit
def solve_tissue(stimulus, conductance):
    voltage = jax.vmap(solve_cell)(stimulus, conductance)
    return voltage.mean(axis=1), (jnp.diff(jnp.sign(voltage), axis=1) > 0).sum(axis=1)


def tissue(key):
    first, second = jax.random.split(key)
    stimulus = jax.random.uniform(first, (CELLS,), minval=0.3, maxval=0.8)
    conductance = 0.1 * jax.random.uniform(second, (CELLS,))
    return stimulus, conductance


def main():
    jax.block_until_ready(solve_tissue(*tissue(jax.random.key(100))))

    start = time.perf_counter()
    means, beats = [], []
    for sample in range(10):
        mean, beat = solve_tissue(*tissue(jax.random.key(sample)))
        means.append(mean)
        beats.append(beat)
    jax.block_until_ready(means)
    print(f"{len(means)} steps in {time.perf_counter() - start:.3f} s")
    print(f"checksum {float(jnp.stack(means).mean()):.4f} {float(jnp.stack(beats).mean()):.3f}")


if __name__ == "__main__":
    main()
