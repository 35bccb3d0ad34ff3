"""Follows a fleet of delivery robots that plan anew every so often."""

import time

import jax
import jax.numpy as jnp

ROBOTS, LENGTH, EVERY, POINTS = 64, 80, 20, 40


def plan(position, goal):
    """A path to the goal around the obstacle at the origin, by descent on its length."""

    def cost(inner):
        path = jnp.concatenate([position[None], inner, goal[None]])
        stretch = jnp.square(jnp.diff(path, axis=0)).sum()
        return stretch * POINTS + 0.2 * jnp.exp(-4.0 * jnp.square(path).sum(axis=1)).sum()

    start = position + jnp.linspace(0.0, 1.0, POINTS + 2)[1:-1, None] * (goal - position)
    return jax.lax.fori_loop(0, 30, lambda _, inner: inner - 4e-3 * jax.grad(cost)(inner), start)


def move(position, path, at, gust):
    target = path[jnp.minimum(at, POINTS - 1)]
    return position + 0.5 * (target - position) + 0.02 * gust


@jax.jit
def drive(fleet, key):
    def step(fleet, key):
        position, goal, path, clock = fleet
        path = jax.lax.cond(clock % EVERY == 0, lambda: jax.vmap(plan)(position, goal), lambda: path)
        gusts = jax.random.normal(key, (ROBOTS, 2))
        position = jax.vmap(move, in_axes=(0, 0, None, 0))(position, path, clock % EVERY, gusts)
        return (position, goal, path, clock + 1), jnp.linalg.norm(position - goal, axis=1).mean()

    return jax.lax.scan(step, fleet, jax.random.split(key, LENGTH))


def main():
    place_key, goal_key, run_key = jax.random.split(jax.random.key(6), 3)
    position = 2.0 * jax.random.normal(place_key, (ROBOTS, 2))
    goal = 2.0 * jax.random.normal(goal_key, (ROBOTS, 2))
    fleet = (position, goal, jnp.zeros((ROBOTS, POINTS, 2)), jnp.zeros((), jnp.int32))
    keys = list(jax.random.split(run_key, 7))
    jax.block_until_ready(drive(fleet, keys[0]))
    start = time.perf_counter()
    for key in keys[1:]:
        fleet, distances = drive(fleet, key)
    distances.block_until_ready()
    print(f"{len(keys) - 1} steps in {time.perf_counter() - start:.4f} s")
    print("checksum", float(distances.mean()))


if __name__ == "__main__":
    main()
