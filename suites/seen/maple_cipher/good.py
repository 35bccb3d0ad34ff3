"""Tower-defence game, many boards at once: creeps follow a distance map that is renewed now and then.

Walls are built and shot down during play; every REPLAN ticks each board recomputes its distance map.
"""
import time
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

STEPS = 36
TICKS = 40
BOARDS = 24
SIZE = 40
CREEPS = 64
REPLAN = 10
SWEEPS = 160
FAR = 1e4


class Board(NamedTuple):
    tick: jax.Array
    walls: jax.Array
    distance: jax.Array
    creeps: jax.Array
    score: jax.Array


def relax(distance, walls):
    padded = jnp.pad(distance, 1, constant_values=FAR)
    across = jnp.minimum(padded[1:-1, :-2], padded[1:-1, 2:])
    along = jnp.minimum(padded[:-2, 1:-1], padded[2:, 1:-1])
    best = jnp.minimum(distance, 1.0 + jnp.minimum(across, along))
    return jnp.where(walls, FAR, best)


def distance_map(walls):
    """Number of moves to the gate in the last column, cell by cell."""
    start = jnp.full((SIZE, SIZE), FAR).at[SIZE // 2, SIZE - 1].set(0.0)
    return jax.lax.fori_loop(0, SWEEPS, lambda _, d: relax(d, walls), start)


MOVES = jnp.array([[0, 0], [0, 1], [1, 0], [-1, 0], [0, -1]])


def move_creeps(key, creeps, distance):
    options = jnp.clip(creeps[:, None, :] + MOVES, 0, SIZE - 1)
    cost = distance[options[..., 0], options[..., 1]]
    cost = cost + 0.5 * jax.random.uniform(key, cost.shape)
    choice = jnp.argmin(cost, axis=1)
    return jnp.take_along_axis(options, choice[:, None, None], axis=1)[:, 0]


def play_tick(board, key):
    wall_key, move_key, spawn_key = jax.random.split(key, 3)
    rows, cols = jax.random.randint(wall_key, (2, 5), 1, SIZE - 1)
    walls = board.walls.at[rows[1:], cols[1:]].set(False).at[rows[0], cols[0]].set(True)
    distance = jax.lax.cond(
        board.tick % REPLAN == 0, distance_map, lambda walls: board.distance, walls
    )
    creeps = move_creeps(move_key, board.creeps, distance)
    arrived = creeps[:, 1] == SIZE - 1
    spawn = jax.random.randint(spawn_key, (CREEPS,), 0, SIZE)
    spawn = jnp.stack([spawn, jnp.zeros_like(spawn)], axis=1)
    creeps = jnp.where(arrived[:, None], spawn, creeps)
    score = board.score + jnp.sum(arrived)
    return Board(board.tick + 1, walls, distance, creeps, score)


def new_board(key):
    rows = jax.random.randint(key, (CREEPS,), 0, SIZE)
    creeps = jnp.stack([rows, jnp.zeros_like(rows)], axis=1)
    walls = jnp.zeros((SIZE, SIZE), dtype=bool)
    distance = jnp.full((SIZE, SIZE), FAR, dtype=jnp.float32)
    return Board(jnp.int32(0), walls, distance, creeps, jnp.int32(0))


AXES = Board(tick=None, walls=0, distance=0, creeps=0, score=0)


@jax.jit
def play(boards, key):
    def tick(boards, key):
        keys = jax.random.split(key, BOARDS)
        return jax.vmap(play_tick, in_axes=(AXES, 0), out_axes=AXES)(boards, keys), None

    return jax.lax.scan(tick, boards, jax.random.split(key, TICKS))[0]


def main():
    keys = jax.random.split(jax.random.key(5), STEPS + 2)
    boards = jax.vmap(new_board, out_axes=AXES)(jax.random.split(keys[0], BOARDS))

    first_key, *keys = keys[1:]
    jax.block_until_ready(play(boards, first_key))

    start = time.perf_counter()
    for key in keys:
        boards = play(boards, key)
    jax.block_until_ready(boards)
    elapsed = time.perf_counter() - start

    print(f"{STEPS} steps in {elapsed:.2f} s")
    score = np.asarray(boards.score)
    reach = np.asarray(boards.creeps)[..., 1]
    print(f"checksum {score.mean():.3f} {score.max()} {reach.mean():.4f}")


if __name__ == "__main__":
    main()
