"""A clamped membrane under a press that moves, with implicit steps in time."""

import time

import jax
import jax.numpy as jnp
from jax.scipy.linalg import cho_factor, cho_solve

SIDE, STEPS = 26, 40
TIME_STEP, TENSION, DAMPING = 0.02, 1.0, 0.3


def stiffness():
    """Five-point stencil of the tension, with a clamped rim."""
    line = 2.0 * jnp.eye(SIDE) - jnp.eye(SIDE, k=1) - jnp.eye(SIDE, k=-1)
    one = jnp.eye(SIDE)
    return TENSION * (SIDE + 1) ** 2 * (jnp.kron(line, one) + jnp.kron(one, line))


def load(t):
    """A round press that circles over the membrane."""
    side = jnp.arange(1, SIDE + 1) / (SIDE + 1)
    x, y = jnp.meshgrid(side, side, indexing="ij")
    center = 0.5 + 0.25 * jnp.array([jnp.cos(2.0 * t), jnp.sin(2.0 * t)])
    return -40.0 * jnp.exp(-(jnp.square(x - center[0]) + jnp.square(y - center[1])) / 0.01).reshape(-1)


def effective(matrix):
    """What multiplies the new acceleration in Newmark's rule."""
    mass = jnp.eye(matrix.shape[0])
    return (1.0 + 0.5 * TIME_STEP * DAMPING) * mass + 0.25 * TIME_STEP**2 * matrix


@jax.jit
def newmark(state, t, matrix, factor):
    place, speed, force = state
    guess = place + TIME_STEP * speed + 0.25 * TIME_STEP**2 * force
    fast = speed + 0.5 * TIME_STEP * force
    right = load(t) - matrix @ guess - DAMPING * fast
    force = cho_solve((factor, True), right)
    return guess + 0.25 * TIME_STEP**2 * force, fast + 0.5 * TIME_STEP * force, force


def main():
    matrix = stiffness()
    factor, _ = cho_factor(effective(matrix), lower=True)
    rest = jnp.zeros(SIDE * SIDE)
    state = (rest, rest, rest)
    jax.block_until_ready(newmark(state, 0.0, matrix, factor))
    start = time.perf_counter()
    deepest = []
    for step in range(STEPS):
        state = newmark(state, step * TIME_STEP, matrix, factor)
        deepest.append(state[0].min())
    jax.block_until_ready(deepest)
    print(f"{STEPS} steps in {time.perf_counter() - start:.4f} s")
    print("checksum", float(jnp.stack(deepest).mean()), float(jnp.linalg.norm(state[1])))


if __name__ == "__main__":
    main()
