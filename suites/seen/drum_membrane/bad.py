"""Waves on a membrane with linear triangular elements and an explicit integrator.

The mesh is a jittered grid cut into triangles; stiffness is applied element by
element, mass is lumped, and the edge is clamped.
"""

import time

import jax
import jax.numpy as jnp
import numpy as np

SIDE = 160
DT = 1.2e-3


def build_mesh(side, seed=0):
    rng = np.random.default_rng(seed)
    axis = np.linspace(0.0, 1.0, side)
    points = np.stack(np.meshgrid(axis, axis), -1).reshape(-1, 2)
    inner = ((points > 0) & (points < 1)).all(1)
    points[inner] += rng.uniform(-0.2, 0.2, (inner.sum(), 2)) / side
    corner = (np.arange(side - 1)[:, None] * side + np.arange(side - 1)).ravel()
    lower = np.stack([corner, corner + 1, corner + side], 1)
    upper = np.stack([corner + side + 1, corner + side, corner + 1], 1)
    triangles = np.concatenate([lower, upper])
    return points, rng.permutation(triangles), inner


def cross(a, b):
    return a[:, 0] * b[:, 1] - a[:, 1] * b[:, 0]


def element_matrices(points, triangles):
    """Local stiffness (3 by 3) and area of every triangle."""
    p = points[triangles]
    edge = np.roll(p, -1, 1) - np.roll(p, -2, 1)
    area = 0.5 * np.abs(cross(p[:, 1] - p[:, 0], p[:, 2] - p[:, 0]))
    return np.einsum("eid,ejd->eij", edge, edge) / (4 * area[:, None, None]), area


def lump(values, index, size):
    total = np.zeros(size)
    np.add.at(total, index, values)
    return total


def make_stiffness(local, triangles, size):
    local, triangles = jnp.asarray(local, jnp.float32), jnp.asarray(triangles, jnp.int32)

    def apply(u):
        force = jnp.einsum("eij,ej->ei", local, u[triangles])
        return jnp.zeros(size).at[triangles].add(force)

    return apply


def main():
    points, triangles, inner = build_mesh(SIDE)
    size = len(points)
    local, area = element_matrices(points, triangles)
    inverse_mass = jnp.asarray(inner / lump(np.repeat(area / 3, 3), triangles.ravel(), size), jnp.float32)
    stiffness = make_stiffness(local, triangles, size)

    @jax.jit
    def advance(u, v):
        def body(_, uv):
            u, v = uv
            v = v - DT * inverse_mass * stiffness(u)
            return u + DT * v, v

        return jax.lax.fori_loop(0, 20, body, (u, v))

    u = jnp.asarray(np.exp(-80 * ((points - 0.4) ** 2).sum(1)) * inner, jnp.float32)
    v = jnp.zeros_like(u)
    u, v = advance(u, v)
    u.block_until_ready()
    steps = 25
    start = time.perf_counter()
    for i in range(steps):
        with jax.profiler.StepTraceAnnotation("wave", step_num=i):
            u, v = advance(u, v)
            u.block_until_ready()
    print(f"{steps} steps in {time.perf_counter() - start:.4f} s")
    print("checksum", float(jnp.abs(u).mean()), float((v**2).mean()))


if __name__ == "__main__":
    main()
