"""Samples batches of names, letter by letter, from a character transformer."""

import time

import equinox as eqx
import jax
import jax.numpy as jnp
from model import CharModel

VOCAB, LENGTH, BATCH = 64, 96, 16


def sample_one(model, key):
    """Ancestral sampling of one sequence that opens with token zero."""

    def body(position, carry):
        tokens, caches = carry
        logits, caches = model.next_logits(tokens[position], position, caches)
        token = jax.random.categorical(jax.random.fold_in(key, position), logits)
        return tokens.at[position + 1].set(token), caches

    start = (jnp.zeros(LENGTH, jnp.int32), model.empty_cache())
    return jax.lax.fori_loop(0, LENGTH - 1, body, start)[0]


@eqx.filter_jit
def sample_batch(model, key):
    return jax.vmap(sample_one, in_axes=(None, 0))(model, jax.random.split(key, BATCH))


def main():
    model = CharModel(VOCAB, LENGTH, width=64, heads=4, depth=2, key=jax.random.key(0))
    keys = jax.random.split(jax.random.key(1), 5)
    sample_batch(model, keys[0]).block_until_ready()
    steps = len(keys) - 1
    start = time.perf_counter()
    drawn = [sample_batch(model, key) for key in keys[1:]]
    jax.block_until_ready(drawn)
    print(f"{steps} steps in {time.perf_counter() - start:.4f} s")
    print("checksum", float(jnp.stack(drawn).mean()))


if __name__ == "__main__":
    main()
