"""Growth curves of plankton in many lakes, with parameters drawn together by a shared mean."""

import time

import jax
import jax.numpy as jnp
import numpy as np
import optax

LAKES = 50
WEEKS = 40


def sample_lakes(seed):
    rng = np.random.default_rng(seed)
    week = np.arange(WEEKS)
    counts = []
    for _ in range(LAKES):
        rate, capacity, delay = rng.normal(0.4, 0.05), rng.normal(3.0, 0.3), rng.normal(15.0, 2.0)
        curve = capacity / (1.0 + np.exp(-rate * (week - delay)))
        counts.append(jnp.asarray(curve + 0.1 * rng.normal(size=WEEKS), jnp.float32))
    return counts


def initial_params():
    lakes = [
        {"rate": jnp.asarray(0.3), "capacity": jnp.asarray(2.0), "delay": jnp.asarray(12.0)}
        for _ in range(LAKES)
    ]
    shared = {"rate": jnp.asarray(0.3), "capacity": jnp.asarray(2.0), "delay": jnp.asarray(12.0)}
    return {"lakes": lakes, "shared": shared}


def growth(lake):
    week = jnp.arange(WEEKS, dtype=jnp.float32)
    return lake["capacity"] * jax.nn.sigmoid(lake["rate"] * (week - lake["delay"]))


def lake_loss(lake, shared, counts):
    fit = jnp.sum((growth(lake) - counts) ** 2) / 0.02
    prior = sum((lake[name] - shared[name]) ** 2 for name in shared)
    return fit + 4.0 * prior


def total_loss(params, counts):
    terms = [lake_loss(lake, params["shared"], seen) for lake, seen in zip(params["lakes"], counts)]
    return sum(terms) / LAKES


optimizer = optax.adam(0.02)


@jax.jit
def fit_step(params, opt_state, counts):
    loss, grads = jax.value_and_grad(total_loss)(params, counts)
    updates, opt_state = optimizer.update(grads, opt_state, params)
    return optax.apply_updates(params, updates), opt_state, loss


def main():
    counts = sample_lakes(6)
    params = initial_params()
    opt_state = optimizer.init(params)
    jax.block_until_ready(fit_step(params, opt_state, counts))

    start = time.perf_counter()
    steps = 1000
    for _ in range(steps):
        params, opt_state, loss = fit_step(params, opt_state, counts)
    jax.block_until_ready(params)
    print(f"{steps} steps in {time.perf_counter() - start:.3f} s")
    shared = params["shared"]
    print(f"checksum {float(loss):.4f} {float(shared['capacity']):.4f} {float(shared['delay']):.4f}")


if __name__ == "__main__":
    main()
