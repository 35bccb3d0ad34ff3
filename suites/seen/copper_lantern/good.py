"""Train a small tabular MLP with Flax on engineered sensor features."""
import time

import flax.linen as nn
import jax
import jax.numpy as jnp
import numpy as np
import optax
from flax.training import train_state

# timestamps are 64-bit
jax.config.update("jax_enable_x64", True)

N_ROWS = 8192
BATCH = 512
EPOCHS = 4
WIDTH = 384


def load_table(seed=0):
    """Rows of (timestamp, raw sensor values) and a target."""
    rng = np.random.default_rng(seed)
    stamp = 1_700_000_000_000 + np.cumsum(rng.integers(10, 5000, N_ROWS))
    raw = rng.normal(size=(N_ROWS, 40))
    target = np.sin(raw[:, 0]) + 0.5 * raw[:, 1] * raw[:, 2] + 0.1 * rng.normal(size=N_ROWS)
    return stamp, raw, target


def time_features(stamp):
    stamp = jnp.asarray(stamp)
    day = 86_400_000
    phase = 2 * jnp.pi * (stamp % day) / day
    week = 2 * jnp.pi * (stamp % (7 * day)) / (7 * day)
    return jnp.stack([jnp.sin(phase), jnp.cos(phase), jnp.sin(week), jnp.cos(week)], axis=1)


def build_features(stamp, raw):
    raw = (raw - raw.mean(axis=0)) / raw.std(axis=0)
    return jnp.concatenate([time_features(stamp), jnp.asarray(raw)], axis=1)


class Regressor(nn.Module):
    width: int

    @nn.compact
    def __call__(self, x):
        x = nn.relu(nn.Dense(self.width)(x))
        for _ in range(3):
            y = nn.LayerNorm()(x)
            x = x + nn.Dense(self.width)(nn.gelu(nn.Dense(self.width)(y)))
        return nn.Dense(1)(x)[:, 0]


def create_state(key, model, sample):
    params = model.init(key, sample)["params"]
    tx = optax.adamw(1e-3, weight_decay=1e-4)
    return train_state.TrainState.create(apply_fn=model.apply, params=params, tx=tx)


@jax.jit
def train_step(state, x, y):
    def loss_fn(params):
        pred = state.apply_fn({"params": params}, x)
        return jnp.mean((pred - y) ** 2)

    loss, grads = jax.value_and_grad(loss_fn)(state.params)
    return state.apply_gradients(grads=grads), loss


def train_epoch(state, x, y, rng):
    order = rng.permutation(N_ROWS)
    losses = []
    for i in range(0, N_ROWS, BATCH):
        rows = order[i:i + BATCH]
        state, loss = train_step(state, x[rows], y[rows])
        losses.append(loss)
    return state, jnp.stack(losses)


def main():
    stamp, raw, target = load_table()
    x = np.asarray(build_features(stamp, raw), np.float32)
    y = target.astype(np.float32)
    model = Regressor(WIDTH)
    state = create_state(jax.random.PRNGKey(0), model, x[:2])
    jax.block_until_ready(train_step(state, x[:BATCH], y[:BATCH]))

    rng = np.random.default_rng(1)
    start = time.perf_counter()
    for _ in range(EPOCHS):
        state, losses = train_epoch(state, x, y, rng)
    jax.block_until_ready(losses)
    elapsed = time.perf_counter() - start

    print(f"{EPOCHS * (N_ROWS // BATCH)} steps in {elapsed:.2f} s")
    print(f"checksum loss={float(losses.mean()):.3f}")


if __name__ == "__main__":
    main()
