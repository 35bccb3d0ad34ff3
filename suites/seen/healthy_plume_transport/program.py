"""Drift of dust plumes between two satellite passes: an optax fit through the Sinkhorn distance of ott."""

import time
from functools import partial

import jax
import jax.numpy as jnp
import optax
from ott.geometry import pointcloud
from ott.problems.linear import linear_problem
from ott.solvers.linear import sinkhorn

PLUMES = 4
GRAINS = 160
BLOCKS = 24
BLOCK_STEPS = 10


def make_passes(key):
    """Grains of each plume at the first and at the second pass."""
    keys = jax.random.split(key, 4)
    centre = jax.random.normal(keys[0], (PLUMES, 1, 2))
    first = centre + 0.4 * jax.random.normal(keys[1], (PLUMES, GRAINS, 2))
    wind = 0.5 * jax.random.normal(keys[2], (PLUMES, 1, 2))
    turned = jnp.stack([first[..., 0] + 0.3 * first[..., 1], 0.8 * first[..., 1]], axis=-1)
    return first, turned + wind + 0.05 * jax.random.normal(keys[3], first.shape)


def drift(params, grains):
    """An affine motion of one plume."""
    return grains @ params["matrix"] + params["shift"]


def transport_cost(moved, seen, potentials):
    """The cost, and the potentials from which the next update starts."""
    geometry = pointcloud.PointCloud(moved, seen, epsilon=0.05)
    solver = sinkhorn.Sinkhorn(threshold=1e-4, max_iterations=500)
    found = solver(linear_problem.LinearProblem(geometry), init=potentials)
    return found.reg_ot_cost, jax.lax.stop_gradient((found.f, found.g))


def mean_cost(params, first, seen, potentials):
    moved = jax.vmap(drift)(params, first)
    costs, potentials = jax.vmap(transport_cost)(moved, seen, potentials)
    return jnp.mean(costs), potentials


OPTIMIZER = optax.adam(0.05)


@partial(jax.jit, donate_argnums=0)
def fit_block(carry, first, seen):
    """A block of updates in one compiled loop."""

    def update(carry, _):
        params, state, potentials = carry
        value = jax.value_and_grad(mean_cost, has_aux=True)
        (cost, potentials), gradient = value(params, first, seen, potentials)
        updates, state = OPTIMIZER.update(gradient, state, params)
        return (optax.apply_updates(params, updates), state, potentials), cost

    return jax.lax.scan(update, carry, length=BLOCK_STEPS)


def begin():
    params = {
        "matrix": jnp.tile(jnp.eye(2), (PLUMES, 1, 1)),
        "shift": jnp.zeros((PLUMES, 2)),
    }
    potentials = (jnp.zeros((PLUMES, GRAINS)), jnp.zeros((PLUMES, GRAINS)))
    return params, OPTIMIZER.init(params), potentials


def main():
    first, seen = make_passes(jax.random.key(21))
    jax.block_until_ready(fit_block(begin(), first, seen))
    carry = begin()

    start = time.perf_counter()
    costs = []
    for _ in range(BLOCKS):
        carry, block = fit_block(carry, first, seen)
        costs.append(block)
    costs = jax.block_until_ready(jnp.concatenate(costs))
    print(f"{BLOCKS * BLOCK_STEPS} steps in {time.perf_counter() - start:.3f} s")
    shift = carry[0]["shift"]
    print(f"checksum {costs[0]:.3f} {costs.mean():.3f} {jnp.abs(shift).mean():.3f}")


if __name__ == "__main__":
    main()
