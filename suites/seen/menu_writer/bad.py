"""Writes menus with a small transformer, twelve at a time, one letter after the other."""

import time

import flax.linen as nn
import jax
import jax.numpy as jnp

VOCABULARY = 48
LENGTH = 128
WIDTH = 96
BATCH = 12
PROMPT = 4


class Block(nn.Module):
    heads: int = 4

    @nn.compact
    def __call__(self, x, mask):
        y = nn.LayerNorm()(x)
        y = nn.MultiHeadDotProductAttention(num_heads=self.heads)(y, y, mask=mask)
        x = x + y
        y = nn.LayerNorm()(x)
        y = nn.Dense(4 * WIDTH)(y)
        return x + nn.Dense(WIDTH)(nn.gelu(y))


class MenuModel(nn.Module):
    layers: int = 2

    @nn.compact
    def __call__(self, tokens):
        positions = jnp.arange(tokens.shape[1])
        x = nn.Embed(VOCABULARY, WIDTH)(tokens) + nn.Embed(LENGTH, WIDTH)(positions)
        mask = nn.make_causal_mask(tokens)
        for _ in range(self.layers):
            x = Block()(x, mask)
        return nn.Dense(VOCABULARY)(nn.LayerNorm()(x))


def build_writer(model, temperature=0.7):
    """A function that appends one letter to all menus."""

    @jax.jit
    def write_letter(params, tokens, position, key):
        logits = model.apply({"params": params}, tokens)
        logits = jax.lax.dynamic_index_in_dim(logits, position, axis=1, keepdims=False)
        logits = logits / temperature
        letter = jax.random.categorical(key, logits)
        tokens = tokens.at[:, position + 1].set(letter)
        score = jnp.take_along_axis(jax.nn.log_softmax(logits), letter[:, None], axis=1)
        return tokens, score.mean()

    return write_letter


def write_menus(writer, params, prompts, key):
    tokens = jnp.zeros((BATCH, LENGTH), jnp.int32).at[:, :PROMPT].set(prompts)
    scores = []
    keys = jax.random.split(key, LENGTH)
    for position in range(PROMPT - 1, LENGTH - 1):
        tokens, score = writer(params, tokens, position, keys[position])
        scores.append(score)
    return tokens, jnp.stack(scores)


def main():
    key_params, key_prompts, key_text = jax.random.split(jax.random.PRNGKey(7), 3)
    model = MenuModel()
    prompts = jax.random.randint(key_prompts, (BATCH, PROMPT), 0, VOCABULARY)
    params = model.init(key_params, jnp.zeros((BATCH, LENGTH), jnp.int32))["params"]
    writer = build_writer(model)
    jax.block_until_ready(writer(params, jnp.zeros((BATCH, LENGTH), jnp.int32), 0, key_text))

    start = time.perf_counter()
    tokens, scores = write_menus(writer, params, prompts, key_text)
    jax.block_until_ready(scores)
    print(f"{len(scores)} steps in {time.perf_counter() - start:.3f} s")
    print(f"checksum {float(scores.mean()):.5f} {float(scores[-40:].mean()):.5f}")


if __name__ == "__main__":
    main()
