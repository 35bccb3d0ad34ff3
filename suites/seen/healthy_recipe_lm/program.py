"""A causal transformer over recipe tokens, in Flax linen."""

import time
from functools import partial

import flax.linen as nn
import jax
import jax.numpy as jnp
import numpy as np
import optax

VOCABULARY = 512
LENGTH = 128
WIDTH = 128
BATCH = 16


def make_recipes(seed, count):
    """Token chains in which each word prefers a few successors."""
    rng = np.random.default_rng(seed)
    successors = rng.integers(0, VOCABULARY, size=(VOCABULARY, 4))
    tokens = np.empty((count, LENGTH + 1), np.int32)
    tokens[:, 0] = rng.integers(0, VOCABULARY, count)
    choice = rng.integers(0, 4, size=(count, LENGTH))
    for position in range(LENGTH):
        tokens[:, position + 1] = successors[tokens[:, position], choice[:, position]]
    return tokens


class Block(nn.Module):
    heads: int = 4

    @nn.compact
    def __call__(self, x):
        h = nn.LayerNorm()(x)
        q, k, v = jnp.split(nn.Dense(3 * WIDTH, use_bias=False)(h), 3, axis=-1)
        shape = (*x.shape[:2], self.heads, WIDTH // self.heads)
        mixed = jax.nn.dot_product_attention(q.reshape(shape), k.reshape(shape), v.reshape(shape), is_causal=True)
        x = x + nn.Dense(WIDTH, use_bias=False)(mixed.reshape(x.shape))
        h = nn.LayerNorm()(x)
        return x + nn.Dense(WIDTH)(nn.gelu(nn.Dense(3 * WIDTH)(h)))


class RecipeModel(nn.Module):
    @nn.compact
    def __call__(self, tokens):
        embed = nn.Embed(VOCABULARY, WIDTH)
        place = self.param("place", nn.initializers.normal(0.02), (LENGTH, WIDTH))
        x = embed(tokens) + place
        for _ in range(2):
            x = Block()(x)
        return embed.attend(nn.LayerNorm()(x))


model = RecipeModel()
optimizer = optax.adamw(1e-3)


@partial(jax.jit, donate_argnums=(0, 1))
def train_step(params, opt_state, tokens):
    def loss_fn(params):
        logits = model.apply(params, tokens[:, :-1])
        return optax.softmax_cross_entropy_with_integer_labels(logits, tokens[:, 1:]).mean()

    loss, grads = jax.value_and_grad(loss_fn)(params)
    updates, opt_state = optimizer.update(grads, opt_state, params)
    return optax.apply_updates(params, updates), opt_state, loss


def main():
    tokens = make_recipes(0, 26 * BATCH).reshape(26, BATCH, LENGTH + 1)
    params = model.init(jax.random.key(0), tokens[0, :, :-1])
    opt_state = optimizer.init(params)
    params, opt_state, loss = train_step(params, opt_state, tokens[0])
    loss.block_until_ready()

    start = time.perf_counter()
    losses = []
    for batch in tokens[1:]:
        params, opt_state, loss = train_step(params, opt_state, batch)
        losses.append(loss)
    losses = jnp.stack(losses).block_until_ready()
    print(f"{len(losses)} steps in {time.perf_counter() - start:.3f} s")
    print(f"checksum {float(losses.mean()):.4f} {float(losses[-1]):.4f}")


if __name__ == "__main__":
    main()
