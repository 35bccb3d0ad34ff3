"""Shallow water on a cubed sphere, in double precision: a solver as people write them in JAX.

Waves and flow of a thin layer of fluid on a rotating planet, by finite volumes on six panels of N x N cells.
Velocity is kept as a vector of space, so that panels need no transformation of components where they meet:
a step fills the ghost cells of 24 panel edges by 24 small scatters, three times.
The flow is the steady zonal one, case 2 of Williamson et al., "A standard test set for numerical approximations to the
shallow water equations in spherical geometry", J. Comput. Phys. 102 (1992): what changes is the solver's error.

    python shallow_water.py --n 96 --steps 50 --loop python       a launch of the program for every step
    python shallow_water.py --n 96 --steps 50 --loop fori_loop    one program for all steps
"""

from __future__ import annotations

import argparse
import time
from functools import partial
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

jax.config.update("jax_enable_x64", True)

RADIUS = 6.37122e6  # m
GRAVITY = 9.80616  # m/s2
OMEGA = 7.292e-5  # rotations of the planet, rad/s
DEPTH = 2.94e4 / GRAVITY  # m, case 2
SPEED = 2 * np.pi * RADIUS / (12 * 86400)  # m/s at the equator, case 2
#: Part of the largest stable step.
COURANT = 0.4
#: Part of the upwind flux's damping that is kept.
DAMPING = 0.2
SIDES = ("west", "east", "south", "north")


class Grid(NamedTuple):
    """Cells and edges of the sphere of radius 1; `ghosts` says which cell each ghost cell of an edge repeats."""

    center: np.ndarray  # [6, n, n, 3]
    area: np.ndarray  # [6, n, n]
    normal_x: np.ndarray  # [6, n + 1, n, 3], of the edges between rows
    length_x: np.ndarray  # [6, n + 1, n]
    normal_y: np.ndarray  # [6, n, n + 1, 3], of the edges between columns
    length_y: np.ndarray  # [6, n, n + 1]
    ghosts: tuple[tuple[np.ndarray, np.ndarray], ...]  # per edge: indices to [6, n + 2, n + 2], indices from [6, n, n]


def unit(vectors: np.ndarray) -> np.ndarray:
    """`vectors` at length 1."""
    return vectors / np.linalg.norm(vectors, axis=-1, keepdims=True)


def corners(n: int) -> np.ndarray:
    """Corners of the cells of all panels, [6, n + 1, n + 1, 3]; lines of a panel are equal angles apart."""
    line = np.tan(np.linspace(-np.pi / 4, np.pi / 4, n + 1))
    x, y = np.meshgrid(line, line, indexing="ij")
    one = np.ones_like(x)
    faces = [(one, x, y), (-x, one, y), (-one, -x, y), (x, -one, y), (-y, x, one), (y, x, -one)]
    return unit(np.stack([np.stack(face, axis=-1) for face in faces]))


def triangle(a: np.ndarray, b: np.ndarray, c: np.ndarray) -> np.ndarray:
    """Area of spherical triangles (Van Oosterom and Strackee, IEEE Trans. Biomed. Eng. 30, 1983)."""
    volume = np.abs(np.sum(a * np.cross(b, c), axis=-1))
    return 2 * np.arctan2(volume, 1 + np.sum(a * b, -1) + np.sum(b * c, -1) + np.sum(c * a, -1))


def edge(a: np.ndarray, b: np.ndarray, toward: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Normal and length of the great circles from `a` to `b`; the normal points to the side where `toward` lies."""
    normal = unit(np.cross(a, b))
    normal *= np.sign(np.sum(normal * toward, axis=-1, keepdims=True))
    return normal, np.arccos(np.clip(np.sum(a * b, axis=-1), -1, 1))


def make_grid(n: int) -> Grid:
    """The cubed sphere of 6 n^2 cells."""
    p = corners(n)
    a, b, c, d = p[:, :-1, :-1], p[:, 1:, :-1], p[:, 1:, 1:], p[:, :-1, 1:]
    along_x, along_y = (np.gradient(p, axis=axis) for axis in (1, 2))
    normal_x, length_x = edge(p[:, :, :-1], p[:, :, 1:], (along_x[:, :, :-1] + along_x[:, :, 1:]) / 2)
    normal_y, length_y = edge(p[:, :-1, :], p[:, 1:, :], (along_y[:, :-1, :] + along_y[:, 1:, :]) / 2)
    return Grid(unit(a + b + c + d), triangle(a, b, c) + triangle(a, c, d), normal_x, length_x, normal_y, length_y,
                ghost_cells(p))


def ghost_cells(p: np.ndarray) -> tuple[tuple[np.ndarray, np.ndarray], ...]:
    """For each of the 24 panel edges: where its ghost cells are, and the cells across it, found by the edges' midpoints."""
    n = p.shape[1] - 1
    cells, last, first = np.arange(n), np.full(n, n - 1), np.zeros(n, int)
    lines = {
        "west": (p[:, 0, :-1] + p[:, 0, 1:], (first, cells)),
        "east": (p[:, -1, :-1] + p[:, -1, 1:], (last, cells)),
        "south": (p[:, :-1, 0] + p[:, 1:, 0], (cells, first)),
        "north": (p[:, :-1, -1] + p[:, 1:, -1], (cells, last)),
    }
    outside = {"west": (first, cells + 1), "east": (last + 2, cells + 1), "south": (cells + 1, first),
               "north": (cells + 1, last + 2)}
    owners: dict[tuple[int, ...], list[tuple[int, int, int, str]]] = {}
    keys = {side: np.round(middle * 1e9).astype(np.int64) for side, (middle, _) in lines.items()}
    for side, (_, (rows, columns)) in lines.items():
        for panel in range(6):
            for number, key in enumerate(keys[side][panel]):
                owners.setdefault(tuple(key), []).append((panel, rows[number], columns[number], side))
    ghosts = []
    for panel in range(6):
        for side in SIDES:
            across = [next(o for o in owners[tuple(key)] if (o[0], o[3]) != (panel, side)) for key in keys[side][panel]]
            rows, columns = outside[side]
            ghosts.append((np.stack([np.full(n, panel), rows, columns]), np.array([o[:3] for o in across]).T))
    return tuple(ghosts)


def steady_flow(grid: Grid) -> jax.Array:
    """Depth and momentum of case 2, [6, n, n, 4], in m and m2/s."""
    center = grid.center
    velocity = SPEED * np.stack([-center[..., 1], center[..., 0], np.zeros_like(center[..., 0])], axis=-1)
    depth = DEPTH - (RADIUS * OMEGA * SPEED + SPEED**2 / 2) / GRAVITY * center[..., 2] ** 2
    return jnp.asarray(np.concatenate([depth[..., None], depth[..., None] * velocity], axis=-1))


def with_ghosts(grid: Grid, state: jax.Array) -> jax.Array:
    """`state` with a ring of cells from the panels around, [6, n + 2, n + 2, 4]."""
    padded = jnp.pad(state, ((0, 0), (1, 1), (1, 1), (0, 0)), mode="edge")
    for to, source in grid.ghosts:
        padded = padded.at[to[0], to[1], to[2]].set(state[source[0], source[1], source[2]])
    return padded


def flux(left: jax.Array, right: jax.Array, normal: np.ndarray) -> jax.Array:
    """What crosses an edge per second and meter: the mean of both sides, damped."""
    def speed(q: jax.Array) -> jax.Array:
        return jnp.sum(q[..., 1:] * normal, axis=-1, keepdims=True) / q[..., :1]

    fastest = jnp.maximum(*(jnp.abs(speed(q)) + jnp.sqrt(GRAVITY * q[..., :1]) for q in (left, right)))
    return (left * speed(left) + right * speed(right) - DAMPING * fastest * (right - left)) / 2


def tendency(grid: Grid, state: jax.Array) -> jax.Array:
    """Change of the state per second."""
    q = with_ghosts(grid, state)
    across_x = flux(q[:, :-1, 1:-1], q[:, 1:, 1:-1], grid.normal_x) * grid.length_x[..., None]
    across_y = flux(q[:, 1:-1, :-1], q[:, 1:-1, 1:], grid.normal_y) * grid.length_y[..., None]
    change = across_x[:, :-1] - across_x[:, 1:] + across_y[:, :, :-1] - across_y[:, :, 1:]
    # The pressure of each edge less that of the cell: at rest nothing moves.
    push_x = GRAVITY / 4 * (q[:, :-1, 1:-1, :1] ** 2 + q[:, 1:, 1:-1, :1] ** 2)
    push_y = GRAVITY / 4 * (q[:, 1:-1, :-1, :1] ** 2 + q[:, 1:-1, 1:, :1] ** 2)
    own = GRAVITY / 2 * state[..., :1] ** 2
    wall_x, wall_y = grid.normal_x * grid.length_x[..., None], grid.normal_y * grid.length_y[..., None]
    pressure = ((push_x[:, :-1] - own) * wall_x[:, :-1] - (push_x[:, 1:] - own) * wall_x[:, 1:]
                + (push_y[:, :, :-1] - own) * wall_y[:, :, :-1] - (push_y[:, :, 1:] - own) * wall_y[:, :, 1:])
    change = change.at[..., 1:].add(pressure) / (RADIUS * grid.area[..., None])
    up = grid.center
    turn = -2 * OMEGA * up[..., 2:] * jnp.cross(up, state[..., 1:])
    force = change[..., 1:] + turn
    force = force - up * jnp.sum(force * up, axis=-1, keepdims=True)
    return jnp.concatenate([change[..., :1], force], axis=-1)


def step(grid: Grid, seconds: float, state: jax.Array) -> jax.Array:
    """One step of the third-order Runge-Kutta method of Shu and Osher (J. Comput. Phys. 77, 1988)."""
    one = state + seconds * tendency(grid, state)
    two = 0.75 * state + 0.25 * (one + seconds * tendency(grid, one))
    return state / 3 + 2 / 3 * (two + seconds * tendency(grid, two))


def stable_step(n: int) -> float:
    """Seconds of a step that is stable at this size."""
    return COURANT * RADIUS * (np.pi / 2 / n) / (SPEED + np.sqrt(GRAVITY * DEPTH)) / 2


def stepper(grid: Grid, n: int, loop: str, steps: int):
    """A function that advances a state by `steps` steps, by a loop of Python or by one of XLA."""
    advance = partial(step, grid, stable_step(n))
    if loop == "fori_loop":
        return jax.jit(lambda state: jax.lax.fori_loop(0, steps, lambda _, state: advance(state), state))
    one_step = jax.jit(advance)

    def run(state: jax.Array) -> jax.Array:
        for _ in range(steps):
            state = one_step(state)
        return state

    return run


def depth_error(grid: Grid, before: jax.Array, after: jax.Array) -> float:
    """How far the depth of a steady flow has moved: root mean square over the mean depth."""
    area = jnp.asarray(grid.area)
    moved = jnp.sum(area * (after[..., 0] - before[..., 0]) ** 2) / jnp.sum(area)
    return float(jnp.sqrt(moved) / (jnp.sum(area * before[..., 0]) / jnp.sum(area)))


def mass(grid: Grid, state: jax.Array) -> float:
    """Volume of the fluid on the sphere of radius 1, m3."""
    return float(jnp.sum(jnp.asarray(grid.area) * state[..., 0]))


def main() -> None:
    """Run the steady flow and say how fast and how wrong it was."""
    parser = argparse.ArgumentParser(description="Shallow water on a cubed sphere")
    parser.add_argument("--n", type=int, default=96, help="cells along a panel's edge")
    parser.add_argument("--steps", type=int, default=20, help="steps in each of the timed rounds")
    parser.add_argument("--rounds", type=int, default=3, help="timed rounds")
    parser.add_argument("--loop", choices=("python", "fori_loop"), default="python")
    options = parser.parse_args()
    grid = make_grid(options.n)
    first = state = steady_flow(grid)
    run = stepper(grid, options.n, options.loop, options.steps)
    state = run(state).block_until_ready()
    for number in range(options.rounds):
        with jax.profiler.StepTraceAnnotation("round", step_num=number):
            begun = time.perf_counter()
            state = run(state).block_until_ready()
            seconds = time.perf_counter() - begun
        print(f"round {number}: {seconds / options.steps * 1e3:.3f} ms per step", flush=True)
    lost = mass(grid, state) / mass(grid, first) - 1
    print(f"n {options.n}, {options.loop}: depth error {depth_error(grid, first, state):.3e}, mass lost {lost:.1e}")


if __name__ == "__main__":
    main()
