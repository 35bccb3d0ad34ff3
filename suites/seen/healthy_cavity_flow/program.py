"""Air in a box whose lid slides, by the lattice Boltzmann method."""

import functools
import time

import jax
import jax.numpy as jnp
import numpy as np

SIDE, CHUNK, CHUNKS = 192, 60, 6
LID, RELAXATION = 0.08, 0.7
MOVES = np.array([(0, 0), (1, 0), (0, 1), (-1, 0), (0, -1), (1, 1), (-1, 1), (-1, -1), (1, -1)])
WEIGHTS = np.array([4 / 9] + [1 / 9] * 4 + [1 / 36] * 4, np.float32)
OPPOSITE = np.array([0, 3, 4, 1, 2, 7, 8, 5, 6])


def moments(cells):
    """Density and both components of the velocity."""
    density = sum(cells)
    u = (cells[1] + cells[5] + cells[8] - cells[3] - cells[6] - cells[7]) / density
    v = (cells[2] + cells[5] + cells[6] - cells[4] - cells[7] - cells[8]) / density
    return density, u, v


def equilibrium(density, u, v):
    square = 1.5 * (u * u + v * v)
    result = []
    for weight, (x, y) in zip(WEIGHTS, MOVES):
        along = 3.0 * (float(x) * u + float(y) * v)
        result.append(weight * density * (1.0 + along + 0.5 * along * along - square))
    return result


def stream(cells, walls):
    """Particles move on, or come back from a wall; the lid drags them along."""
    moved = []
    for i, (x, y) in enumerate(MOVES):
        arrived = jnp.roll(cells[i], (x, y), axis=(0, 1))
        bounced = cells[OPPOSITE[i]] + 6.0 * WEIGHTS[i] * float(x) * LID * walls["lid"][i]
        moved.append(jnp.where(walls["from_wall"][i], bounced, arrived))
    return moved


def make_walls():
    """Which cells receive each move from outside of the box."""
    from_wall = np.zeros((9, SIDE, SIDE), bool)
    lid = np.zeros((9, SIDE, SIDE), np.float32)
    for i, (x, y) in enumerate(MOVES):
        for axis, move in ((0, x), (1, y)):
            if move:
                edge = [slice(None), slice(None)]
                edge[axis] = 0 if move > 0 else -1
                from_wall[(i, *edge)] = True
        if y < 0:
            lid[i, :, -1] = 1.0
    return {"from_wall": jnp.asarray(from_wall), "lid": jnp.asarray(lid)}


@functools.partial(jax.jit, donate_argnums=0)
def advance(cells, walls):
    def step(_, cells):
        density, u, v = moments(cells)
        rest = equilibrium(density, u, v)
        cells = [cell + (calm - cell) / RELAXATION for cell, calm in zip(cells, rest)]
        return stream(cells, walls)

    return jax.lax.fori_loop(0, CHUNK, step, cells)


def main():
    walls = make_walls()
    still = jnp.zeros((SIDE, SIDE))
    cells = advance(equilibrium(still + 1.0, still, still), walls)
    jax.block_until_ready(cells)
    start = time.perf_counter()
    for _ in range(CHUNKS):
        cells = advance(cells, walls)
    jax.block_until_ready(cells)
    print(f"{CHUNKS} steps in {time.perf_counter() - start:.4f} s")
    density, u, v = moments(cells)
    print("checksum", float(density.mean()), float(jnp.hypot(u, v).mean()))


if __name__ == "__main__":
    main()
