"""Recipe ratings: a two-layer network on ingredient vectors trained with shuffled minibatches."""
import time

import jax
import jax.numpy as jnp
import numpy as np
import optax

STEPS = 400
RECIPES = 6000
INGREDIENTS = 300
HIDDEN = 512
BATCH = 128


def make_recipes(seed=21):
    rng = np.random.default_rng(seed)
    amounts = rng.gamma(0.5, 1.0, size=(RECIPES, INGREDIENTS))
    amounts *= rng.uniform(size=amounts.shape) < 0.1
    taste = rng.normal(size=(INGREDIENTS, 3))
    latent = amounts @ taste / 3.0
    rating = 3.0 + np.tanh(latent[:, 0]) + 0.5 * np.sin(latent[:, 1]) + 0.3 * latent[:, 2]
    rating += 0.1 * rng.normal(size=RECIPES)
    return jnp.asarray(amounts, jnp.float32), jnp.asarray(rating, jnp.float32)


def init_params(key):
    k1, k2 = jax.random.split(key)
    return {
        "w1": jax.random.normal(k1, (INGREDIENTS, HIDDEN)) / jnp.sqrt(INGREDIENTS),
        "b1": jnp.zeros(HIDDEN),
        "w2": jax.random.normal(k2, (HIDDEN, 1)) / jnp.sqrt(HIDDEN),
        "b2": jnp.zeros(1),
    }


def predict(params, x):
    hidden = jax.nn.relu(x @ params["w1"] + params["b1"])
    return (hidden @ params["w2"] + params["b2"])[:, 0]


def loss_fn(params, x, y):
    return jnp.mean((predict(params, x) - y) ** 2)


optimizer = optax.adamw(1e-3, weight_decay=1e-4)


@jax.jit
def train_step(params, opt_state, x, y):
    loss, grads = jax.value_and_grad(loss_fn)(params, x, y)
    updates, opt_state = optimizer.update(grads, opt_state, params)
    return optax.apply_updates(params, updates), opt_state, loss


def collate(x, y, rows):
    """Minibatch of the given rows."""
    features = jnp.stack([x[row] for row in rows])
    targets = jnp.stack([y[row] for row in rows])
    return features, targets


def shuffled_rows(seed=22):
    """Endless stream of row numbers, a new order at every pass."""
    rng = np.random.default_rng(seed)
    while True:
        order = rng.permutation(RECIPES)
        for first in range(0, RECIPES - BATCH + 1, BATCH):
            yield order[first : first + BATCH]


def main():
    x, y = make_recipes()
    params = init_params(jax.random.key(0))
    opt_state = optimizer.init(params)
    rows = shuffled_rows()

    jax.block_until_ready(train_step(params, opt_state, *collate(x, y, next(rows))))

    start = time.perf_counter()
    losses = []
    for _ in range(STEPS):
        features, targets = collate(x, y, next(rows))
        params, opt_state, loss = train_step(params, opt_state, features, targets)
        losses.append(loss)
    jax.block_until_ready((params, losses))
    elapsed = time.perf_counter() - start

    print(f"{STEPS} steps in {elapsed:.2f} s")
    losses = np.asarray(jax.device_get(losses))
    final = float(loss_fn(params, x, y))
    print(f"checksum {losses[:20].mean():.4f} {losses[-20:].mean():.4f} {final:.4f}")


if __name__ == "__main__":
    main()
