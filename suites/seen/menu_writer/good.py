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
    def __call__(self, x):
        y = nn.LayerNorm()(x)
        y = nn.MultiHeadDotProductAttention(num_heads=self.heads, decode=True)(y, y)
        x = x + y
        y = nn.LayerNorm()(x)
        y = nn.Dense(4 * WIDTH)(y)
        return x + nn.Dense(WIDTH)(nn.gelu(y))


class MenuModel(nn.Module):
    layers: int = 2

    @nn.compact
    def __call__(self, tokens, positions):
        x = nn.Embed(VOCABULARY, WIDTH)(tokens) + nn.Embed(LENGTH, WIDTH)(positions)
        for _ in range(self.layers):
            x = Block()(x)
        return nn.Dense(VOCABULARY)(nn.LayerNorm()(x))


def build_writer(model, temperature=0.7):
    """A function that appends one letter to all menus."""

    @jax.jit
    def write_letter(params, cache, tokens, position, key):
        last = jax.lax.dynamic_slice_in_dim(tokens, position, 1, axis=1)
        variables = {"params": params, "cache": cache}
        logits, changed = model.apply(variables, last, position[None], mutable=["cache"])
        logits = logits[:, 0] / temperature
        letter = jax.random.categorical(key, logits)
        letter = jnp.where(position + 1 < PROMPT, tokens[:, position + 1], letter)
        tokens = tokens.at[:, position + 1].set(letter)
        score = jnp.take_along_axis(jax.nn.log_softmax(logits), letter[:, None], axis=1)
        return changed["cache"], tokens, score.mean()

    return write_letter


def write_menus(writer, params, cache, prompts, key):
    tokens = jnp.zeros((BATCH, LENGTH), jnp.int32).at[:, :PROMPT].set(prompts)
    scores = []
    keys = jax.random.split(key, LENGTH)
    for position in range(LENGTH - 1):
        at = jnp.asarray(position)
        cache, tokens, score = writer(params, cache, tokens, at, keys[position])
        scores.append(score)
    return tokens, jnp.stack(scores[PROMPT - 1 :])


def main():
    key_params, key_prompts, key_text = jax.random.split(jax.random.PRNGKey(7), 3)
    model = MenuModel()
    prompts = jax.random.randint(key_prompts, (BATCH, PROMPT), 0, VOCABULARY)
    empty = jnp.zeros((BATCH, LENGTH), jnp.int32)
    variables = model.init(key_params, empty, jnp.arange(LENGTH))
    params, cache = variables["params"], variables["cache"]
    writer = build_writer(model)
    jax.block_until_ready(writer(params, cache, empty, jnp.asarray(0), key_text))

    start = time.perf_counter()
    tokens, scores = write_menus(writer, params, cache, prompts, key_text)
    jax.block_until_ready(scores)
    print(f"{len(scores)} steps in {time.perf_counter() - start:.3f} s")
    print(f"checksum {float(scores.mean()):.5f} {float(scores[-40:].mean()):.5f}")


if __name__ == "__main__":
    main()
