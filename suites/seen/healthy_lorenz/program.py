"""Error growth in ensembles of Lorenz-96 models, integrated with diffrax."""

import time

import diffrax
import jax
import jax.numpy as jnp

SITES, MEMBERS, FORCING = 40, 512, 8.0


def lorenz96(t, y, args):
    return (jnp.roll(y, -1) - jnp.roll(y, 2)) * jnp.roll(y, 1) - y + FORCING


def forecast(y0):
    solution = diffrax.diffeqsolve(
        diffrax.ODETerm(lorenz96),
        diffrax.Tsit5(),
        t0=0.0,
        t1=2.0,
        dt0=0.02,
        y0=y0,
        saveat=diffrax.SaveAt(ts=jnp.linspace(0.0, 2.0, 9)),
        stepsize_controller=diffrax.ConstantStepSize(),
        adjoint=diffrax.DirectAdjoint(),
        max_steps=128,
    )
    return solution.ys


@jax.jit
def ensemble_spread(center, key):
    members = center + 1e-3 * jax.random.normal(key, (MEMBERS, SITES))
    tracks = jax.vmap(forecast)(members)
    return tracks[0, -1], tracks.std(0).mean(-1)


def main():
    center = FORCING + jnp.sin(jnp.arange(SITES))
    keys = jax.random.split(jax.random.key(0), 21)
    center, spread = ensemble_spread(center, keys[0])
    spread.block_until_ready()
    spreads = []
    start = time.perf_counter()
    for key in keys[1:]:
        center, spread = ensemble_spread(center, key)
        spreads.append(spread)
    jax.block_until_ready(spreads)
    print(f"{len(spreads)} steps in {time.perf_counter() - start:.4f} s")
    growth = jnp.stack(spreads).mean(0)
    print("checksum", float(jnp.log(growth[-1] / growth[0])))


if __name__ == "__main__":
    main()
