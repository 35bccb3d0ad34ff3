"""Shallow-water waves over a sea mount on a staggered grid, with a tide gauge record."""
import time
from functools import partial
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

NY, NX = 192, 256
DX, DT, GRAVITY, DRAG = 1.0, 0.04, 9.81, 2e-3
GAUGES = ((48, 60), (96, 200), (150, 128))
EVERY = 10


class Sea(NamedTuple):
    eta: jax.Array   # surface, cell centres      (NY, NX)
    u: jax.Array     # x velocity, inner x faces  (NY, NX - 1)
    v: jax.Array     # y velocity, inner y faces  (NY - 1, NX)


def bathymetry():
    y, x = np.mgrid[:NY, :NX]
    mount = 12 * np.exp(-((x - 150) ** 2 + (y - 90) ** 2) / 500.0)
    return jnp.asarray(20.0 - mount, dtype=jnp.float32)


def hump():
    y, x = np.mgrid[:NY, :NX]
    eta = 0.8 * np.exp(-((x - 60) ** 2 + (y - 70) ** 2) / 60.0)
    return Sea(jnp.asarray(eta, dtype=jnp.float32), jnp.zeros((NY, NX - 1)), jnp.zeros((NY - 1, NX)))


def step(depth_x, depth_y, sea):
    eta, u, v = sea
    u = (u - GRAVITY * DT / DX * (eta[:, 1:] - eta[:, :-1])) * (1 - DRAG * DT)
    v = (v - GRAVITY * DT / DX * (eta[1:] - eta[:-1])) * (1 - DRAG * DT)
    flux_x = jnp.pad(depth_x * u, ((0, 0), (1, 1)))   # closed basin
    flux_y = jnp.pad(depth_y * v, ((1, 1), (0, 0)))
    div = (flux_x[:, 1:] - flux_x[:, :-1] + flux_y[1:] - flux_y[:-1]) / DX
    return Sea(eta - DT * div, u, v)


@partial(jax.jit, static_argnums=2)
def integrate(sea, depth, records):
    depth_x = 0.5 * (depth[:, 1:] + depth[:, :-1])
    depth_y = 0.5 * (depth[1:] + depth[:-1])
    rows, cols = (jnp.array(axis) for axis in zip(*GAUGES))

    def record(sea, _):
        sea = jax.lax.fori_loop(0, EVERY, lambda _, s: step(depth_x, depth_y, s), sea)
        return sea, sea.eta[rows, cols]

    return jax.lax.scan(record, sea, length=records)


def energy(sea, depth):
    potential = 0.5 * GRAVITY * jnp.sum(sea.eta ** 2)
    kinetic = 0.5 * (jnp.sum(0.5 * (depth[:, 1:] + depth[:, :-1]) * sea.u ** 2)
                     + jnp.sum(0.5 * (depth[1:] + depth[:-1]) * sea.v ** 2))
    return float(potential + kinetic)


def main(chunks=40, records=120):
    depth = bathymetry()
    sea = hump()
    jax.block_until_ready(integrate(sea, depth, records))
    gauges = []
    t0 = time.perf_counter()
    for _ in range(chunks):
        sea, record = integrate(sea, depth, records)
        gauges.append(record)
    gauges = np.concatenate([np.asarray(g) for g in gauges])
    print(f"{chunks * records * EVERY} steps in {time.perf_counter() - t0:.2f} s")
    print(f"checksum {energy(sea, depth):.3f} {np.abs(gauges).mean():.5f} {float(sea.eta.sum()):.3f}")


if __name__ == "__main__":
    main()
