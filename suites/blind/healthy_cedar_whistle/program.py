"""Character model of synthetic chess-like notation: a small causal transformer in Flax."""
import functools
import time

import flax.linen as nn
import jax
import jax.numpy as jnp
import numpy as np
import optax
from flax.training import train_state

VOCAB = 40
LENGTH = 96
BATCH = 16
DIM = 96
N_STEPS = 40
LOG_EVERY = 25


class Block(nn.Module):
    dim: int
    heads: int

    @nn.compact
    def __call__(self, x, mask):
        h = nn.LayerNorm()(x)
        x = x + nn.MultiHeadDotProductAttention(num_heads=self.heads)(h, mask=mask)
        h = nn.LayerNorm()(x)
        return x + nn.Dense(self.dim)(nn.gelu(nn.Dense(4 * self.dim)(h)))


class NotationModel(nn.Module):
    dim: int = DIM
    depth: int = 3

    @nn.compact
    def __call__(self, tokens):
        x = nn.Embed(VOCAB, self.dim)(tokens)
        x = x + self.param("position", nn.initializers.normal(0.02), (LENGTH, self.dim))
        mask = nn.make_causal_mask(tokens)
        for _ in range(self.depth):
            x = Block(self.dim, 4)(x, mask)
        return nn.Dense(VOCAB)(nn.LayerNorm()(x))


def synth_games(rng, n):
    moves = rng.integers(0, VOCAB // 2, (n, LENGTH + 1))
    replies = (moves[:, :-1] * 3 + 1) % (VOCAB // 2) + VOCAB // 2
    games = moves.copy()
    games[:, 1::2] = replies[:, 0::2][:, : games[:, 1::2].shape[1]]
    return games.astype(np.int32)


@functools.partial(jax.jit, donate_argnums=0)
def train_step(state, games):
    inputs, targets = games[:, :-1], games[:, 1:]

    def loss_fn(params):
        logits = state.apply_fn({"params": params}, inputs)
        return jnp.mean(optax.softmax_cross_entropy_with_integer_labels(logits, targets))

    loss, grads = jax.value_and_grad(loss_fn)(state.params)
    return state.apply_gradients(grads=grads), loss


def main():
    games = synth_games(np.random.default_rng(5), BATCH * N_STEPS)
    model = NotationModel()
    params = model.init(jax.random.PRNGKey(0), games[:1, :-1])["params"]
    optimizer = optax.chain(optax.clip_by_global_norm(1.0), optax.adamw(1e-3))
    state = train_state.TrainState.create(apply_fn=model.apply, params=params, tx=optimizer)
    state, loss = train_step(state, games[:BATCH])
    jax.block_until_ready(loss)

    start = time.perf_counter()
    losses = []
    for i in range(N_STEPS):
        state, loss = train_step(state, games[i * BATCH : (i + 1) * BATCH])
        losses.append(loss)
        if (i + 1) % LOG_EVERY == 0:
            print(f"step {i + 1} loss {float(loss):.4f}")
    jax.block_until_ready((state.params, losses))
    elapsed = time.perf_counter() - start

    print(f"{N_STEPS} steps in {elapsed:.3f} s")
    print(f"checksum {float(sum(losses)):.4f} {float(losses[-1]):.4f}")


if __name__ == "__main__":
    main()
