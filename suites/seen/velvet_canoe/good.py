"""Ensemble of swarm optimisers for a calibration problem; each re-fits its surrogate from time to time."""
import time
from functools import partial
from typing import NamedTuple

import jax
import jax.numpy as jnp

SWARMS, PARTICLES, DIM, REFIT_EVERY = 24, 64, 6, 25


class Swarm(NamedTuple):
    pos: jax.Array       # (particles, dim)
    vel: jax.Array
    best_pos: jax.Array
    best_val: jax.Array
    archive_x: jax.Array
    archive_y: jax.Array
    weights: jax.Array   # RBF surrogate
    since_fit: jax.Array  # one counter, shared by all swarms


AXES = Swarm(0, 0, 0, 0, 0, 0, 0, since_fit=None)


def objective(x, shift):
    z = x - shift
    return jnp.sum(z ** 2, -1) + 2.0 * jnp.sum(1 - jnp.cos(3.0 * z), -1)


def rbf(x, y, scale=1.5):
    d2 = jnp.sum(x ** 2, -1)[:, None] + jnp.sum(y ** 2, -1)[None, :] - 2 * x @ y.T
    return jnp.exp(-jnp.maximum(d2, 0.0) / (2 * scale ** 2))


def fit_surrogate(xs, ys):
    gram = rbf(xs, xs) + 1e-2 * jnp.eye(xs.shape[0])
    chol = jax.scipy.linalg.cho_factor(gram, lower=True)
    return jax.scipy.linalg.cho_solve(chol, ys)


def init_swarm(key, shift):
    k1, k2, k3 = jax.random.split(key, 3)
    pos = jax.random.uniform(k1, (PARTICLES, DIM), minval=-4, maxval=4)
    arch = jax.random.uniform(k3, (2 * PARTICLES, DIM), minval=-4, maxval=4)
    arch_y = objective(arch, shift)
    return Swarm(pos, 0.1 * jax.random.normal(k2, pos.shape), pos, objective(pos, shift),
                 arch, arch_y, fit_surrogate(arch, arch_y), jnp.zeros((), jnp.int32))


def swarm_step(swarm, key, shift):
    k1, k2 = jax.random.split(key)
    leader = swarm.best_pos[jnp.argmin(swarm.best_val)]
    r1 = jax.random.uniform(k1, swarm.pos.shape)
    r2 = jax.random.uniform(k2, swarm.pos.shape)

    def refit(s):
        xs = jnp.concatenate([s.best_pos, s.archive_x[:PARTICLES]])
        ys = jnp.concatenate([s.best_val, s.archive_y[:PARTICLES]])
        return s._replace(archive_x=xs, archive_y=ys, weights=fit_surrogate(xs, ys),
                          since_fit=jnp.zeros_like(s.since_fit))

    def keep(s):
        return s._replace(since_fit=s.since_fit + 1)

    swarm = jax.lax.cond(swarm.since_fit >= REFIT_EVERY - 1, refit, keep, swarm)
    pull = jax.grad(lambda p: jnp.sum(rbf(p, swarm.archive_x) @ swarm.weights))(swarm.pos)
    vel = (0.7 * swarm.vel + 1.2 * r1 * (swarm.best_pos - swarm.pos)
           + 1.2 * r2 * (leader - swarm.pos) - 0.01 * jnp.clip(pull, -1, 1))
    pos = swarm.pos + vel
    val = objective(pos, shift)
    better = val < swarm.best_val
    return swarm._replace(
        pos=pos, vel=vel,
        best_pos=jnp.where(better[:, None], pos, swarm.best_pos),
        best_val=jnp.where(better, val, swarm.best_val),
    )


@partial(jax.jit, static_argnums=3)
def run(swarms, key, shifts, steps):
    def body(swarms, key):
        keys = jax.random.split(key, SWARMS)
        swarms = jax.vmap(swarm_step, in_axes=(AXES, 0, 0), out_axes=AXES)(swarms, keys, shifts)
        return swarms, swarms.best_val.min()

    return jax.lax.scan(body, swarms, jax.random.split(key, steps))


def main(steps=1400, chunk=140):
    k1, k2, k3 = jax.random.split(jax.random.key(3), 3)
    shifts = jax.random.uniform(k1, (SWARMS, DIM), minval=-2, maxval=2)
    swarms = jax.jit(jax.vmap(init_swarm, out_axes=AXES))(jax.random.split(k2, SWARMS), shifts)
    final, _ = jax.block_until_ready(run(swarms, k3, shifts, chunk))
    t0 = time.perf_counter()
    for key in jax.random.split(k3, steps // chunk):
        final, curve = run(final, key, shifts, chunk)
    jax.block_until_ready(final)
    print(f"{steps} steps in {time.perf_counter() - t0:.2f} s")
    print(f"checksum {float(jnp.mean(jnp.abs(final.best_pos))):.4f} {float(jnp.mean(jnp.abs(shifts))):.4f} {float(SWARMS * final.since_fit):.1f}")


if __name__ == "__main__":
    main()
