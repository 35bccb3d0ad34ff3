"""Stochastic-gradient fit of a large ratings table (matrix factorisation)."""
import time

import jax
import jax.numpy as jnp
import numpy as np
import optax

N_USERS = 1500
N_ITEMS = 800
N_RATINGS = 30_000
RANK = 24
BATCH = 512
N_STEPS = 350


def make_ratings(seed=8):
    rng = np.random.default_rng(seed)
    users = rng.integers(N_USERS, size=N_RATINGS)
    items = rng.integers(N_ITEMS, size=N_RATINGS)
    u = rng.normal(size=(N_USERS, 4)) * 0.5
    v = rng.normal(size=(N_ITEMS, 4)) * 0.5
    stars = 3.5 + (u[users] * v[items]).sum(axis=1) + 0.2 * rng.normal(size=N_RATINGS)
    return {
        "user": jnp.asarray(users),
        "item": jnp.asarray(items),
        "stars": jnp.asarray(stars, jnp.float32),
    }


def init_params(key):
    k1, k2 = jax.random.split(key)
    return {
        "user": 0.1 * jax.random.normal(k1, (N_USERS, RANK)),
        "item": 0.1 * jax.random.normal(k2, (N_ITEMS, RANK)),
        "user_bias": jnp.zeros(N_USERS),
        "item_bias": jnp.zeros(N_ITEMS),
        "base": jnp.array(3.0),
    }


def predict(params, users, items):
    dot = jnp.sum(params["user"][users] * params["item"][items], axis=1)
    return params["base"] + params["user_bias"][users] + params["item_bias"][items] + dot


def loss_fn(params, batch):
    error = predict(params, batch["user"], batch["item"]) - batch["stars"]
    penalty = sum(jnp.sum(params[k] ** 2) for k in ("user", "item"))
    return jnp.mean(error**2) + 1e-4 * penalty / RANK


def draw_batch(key, data):
    rows = jax.random.randint(key, (BATCH,), 0, N_RATINGS)
    return jax.tree.map(lambda column: column[rows], data)


def make_trainer(data):
    optimizer = optax.adam(optax.cosine_decay_schedule(1e-2, N_STEPS))

    @jax.jit
    def step(params, opt_state, key):
        key, sub = jax.random.split(key)
        batch = draw_batch(sub, data)
        loss, grads = jax.value_and_grad(loss_fn)(params, batch)
        updates, opt_state = optimizer.update(grads, opt_state)
        return optax.apply_updates(params, updates), opt_state, key, loss

    return optimizer, step


def main():
    data = make_ratings()
    optimizer, step = make_trainer(data)
    params = init_params(jax.random.PRNGKey(1))
    opt_state = optimizer.init(params)
    key = jax.random.PRNGKey(2)
    jax.block_until_ready(step(params, opt_state, key))

    start = time.perf_counter()
    for _ in range(N_STEPS):
        params, opt_state, key, loss = step(params, opt_state, key)
    jax.block_until_ready(params)
    elapsed = time.perf_counter() - start

    fitted = predict(params, data["user"], data["item"])
    corr = float(jnp.corrcoef(fitted, data["stars"])[0, 1])
    print(f"{N_STEPS} steps in {elapsed:.2f} s")
    print(f"checksum mean={float(fitted.mean()):.3f} corr={corr:.2f}")


if __name__ == "__main__":
    main()
