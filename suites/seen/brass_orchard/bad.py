"""Residual network for tabular regression with Flax and Optax.

Forty numeric features describe an orchard (soil, weather, age of the trees); a
deep residual MLP with layer norm predicts the yield.  AdamW with gradient
clipping and a cosine schedule.
"""
import time

import flax.linen as nn
import jax
import jax.numpy as jnp
import numpy as np
import optax

N_ROWS = 8192
N_FEATURES = 40
WIDTH = 64
BLOCKS = 6
BATCH = 128
STEPS = 60


def make_data(seed=0):
    """Features and a yield with interactions between some of them."""
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(N_ROWS, N_FEATURES)).astype(np.float32)
    y = x[:, 0] * x[:, 1] + np.sin(2 * x[:, 2]) + 0.5 * x[:, 3:8].sum(1)
    y += 0.1 * rng.normal(size=N_ROWS)
    return x, ((y - y.mean()) / y.std()).astype(np.float32)


class Block(nn.Module):
    width: int

    @nn.compact
    def __call__(self, x):
        h = nn.LayerNorm()(x)
        h = nn.gelu(nn.Dense(self.width)(h))
        return x + nn.Dense(self.width, kernel_init=nn.initializers.zeros)(h)


class YieldNet(nn.Module):
    width: int = WIDTH
    blocks: int = BLOCKS

    @nn.compact
    def __call__(self, x):
        x = nn.Dense(self.width)(x)
        for _ in range(self.blocks):
            x = Block(self.width)(x)
        return nn.Dense(1)(nn.LayerNorm()(x))[:, 0]


model = YieldNet()
schedule = optax.cosine_decay_schedule(2e-3, STEPS)
optimizer = optax.chain(
    optax.clip_by_global_norm(1.0),
    optax.adamw(schedule, weight_decay=1e-4),
)


def loss_fn(params, x, y):
    return jnp.mean(optax.huber_loss(model.apply(params, x), y))


grad_fn = jax.jit(jax.value_and_grad(loss_fn))


def train_step(params, opt_state, x, y):
    """One AdamW step on a batch."""
    loss, grads = grad_fn(params, x, y)
    updates, opt_state = optimizer.update(grads, opt_state, params)
    params = optax.apply_updates(params, updates)
    return params, opt_state, loss


@jax.jit
def r_squared(params, x, y):
    """Share of the variance that the model explains."""
    residual = y - model.apply(params, x)
    return 1.0 - residual.var() / y.var()


def batch_indices(rng, steps):
    """Random rows for each of the steps."""
    return rng.integers(0, N_ROWS, (steps, BATCH))


def main():
    x, y = make_data()
    params = jax.jit(model.init)(jax.random.PRNGKey(1), x[:1])
    opt_state = optimizer.init(params)
    rng = np.random.default_rng(2)

    # warm-up; the result is dropped
    jax.block_until_ready(train_step(params, opt_state, x[:BATCH], y[:BATCH]))

    start = time.perf_counter()
    losses = []
    for rows in batch_indices(rng, STEPS):
        params, opt_state, loss = train_step(params, opt_state, x[rows], y[rows])
        losses.append(loss)
    jax.block_until_ready((params, losses))
    elapsed = time.perf_counter() - start

    score = float(r_squared(params, x[:2048], y[:2048]))
    print(f"r squared {score:.3f}")
    print(f"{STEPS} steps in {elapsed:.2f} s")
    print(f"checksums {float(losses[0]):.4f} {float(losses[-1]):.4f} {score:.4f}")


if __name__ == "__main__":
    main()
