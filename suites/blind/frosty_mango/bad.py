"""Small recommender: sessions of item clicks scored by a stack of mixing blocks (Flax NNX)."""
import time

import jax
import jax.numpy as jnp
import numpy as np
import optax
from flax import nnx

ITEMS = 300
DIM = 16
SESSION = 8
BLOCKS = 16
BATCH = 8
N_STEPS = 250


class MixBlock(nnx.Module):
    def __init__(self, dim, length, rngs):
        self.norm_t = nnx.LayerNorm(dim, rngs=rngs)
        self.token = nnx.Linear(length, length, rngs=rngs)
        self.norm_c = nnx.LayerNorm(dim, rngs=rngs)
        self.up = nnx.Linear(dim, 2 * dim, rngs=rngs)
        self.down = nnx.Linear(2 * dim, dim, rngs=rngs)

    def __call__(self, x):
        mixed = self.token(jnp.swapaxes(self.norm_t(x), 1, 2))
        x = x + jnp.swapaxes(mixed, 1, 2)
        return x + self.down(nnx.gelu(self.up(self.norm_c(x))))


class SessionModel(nnx.Module):
    def __init__(self, rngs):
        self.items = nnx.Embed(ITEMS, DIM, rngs=rngs)
        self.blocks = nnx.List([MixBlock(DIM, SESSION, rngs) for _ in range(BLOCKS)])
        self.norm = nnx.LayerNorm(DIM, rngs=rngs)

    def __call__(self, clicks):
        x = self.items(clicks)
        for block in self.blocks:
            x = block(x)
        return self.items.attend(self.norm(x[:, -1]))


def loss_fn(model, clicks, target):
    logits = model(clicks)
    return jnp.mean(optax.softmax_cross_entropy_with_integer_labels(logits, target))


@nnx.jit
def train_step(model, optimizer, clicks, target):
    loss, grads = nnx.value_and_grad(loss_fn)(model, clicks, target)
    optimizer.update(model, grads)
    return loss


def synth_sessions(rng, n):
    taste = rng.integers(0, 20, n)
    steps = rng.integers(-2, 3, (n, SESSION + 1))
    clicks = (taste[:, None] * 15 + np.cumsum(steps, axis=1)) % ITEMS
    return clicks[:, :-1].astype(np.int32), clicks[:, -1].astype(np.int32)


def train(model, optimizer, clicks, target):
    losses = []
    for i in range(0, len(clicks), BATCH):
        losses.append(train_step(model, optimizer, clicks[i : i + BATCH], target[i : i + BATCH]))
    return jnp.stack(losses)


def build():
    model = SessionModel(nnx.Rngs(0))
    return model, nnx.Optimizer(model, optax.adam(2e-3), wrt=nnx.Param)


def main():
    rng = np.random.default_rng(12)
    clicks, target = synth_sessions(rng, BATCH * N_STEPS)
    model, optimizer = build()
    jax.block_until_ready(train(model, optimizer, clicks[: 2 * BATCH], target[: 2 * BATCH]))

    start = time.perf_counter()
    losses = jax.block_until_ready(train(model, optimizer, clicks, target))
    elapsed = time.perf_counter() - start

    print(f"{N_STEPS} steps in {elapsed:.3f} s")
    print(f"checksum {float(jnp.sum(losses)):.4f} {float(losses[-1]):.4f}")


if __name__ == "__main__":
    main()
