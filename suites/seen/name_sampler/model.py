"""A causal character transformer in equinox."""

import equinox as eqx
import jax
import jax.numpy as jnp


class Block(eqx.Module):
    norm1: eqx.nn.LayerNorm
    norm2: eqx.nn.LayerNorm
    qkv: eqx.nn.Linear
    out: eqx.nn.Linear
    mlp: eqx.nn.MLP
    heads: int = eqx.field(static=True)

    def __init__(self, width, heads, *, key):
        k1, k2, k3 = jax.random.split(key, 3)
        self.norm1 = eqx.nn.LayerNorm(width)
        self.norm2 = eqx.nn.LayerNorm(width)
        self.qkv = eqx.nn.Linear(width, 3 * width, use_bias=False, key=k1)
        self.out = eqx.nn.Linear(width, width, use_bias=False, key=k2)
        self.mlp = eqx.nn.MLP(width, width, 4 * width, 1, activation=jax.nn.gelu, key=k3)
        self.heads = heads

    def split(self, x):
        return jnp.split(x.reshape(*x.shape[:-1], self.heads, -1), 3, axis=-1)

    def __call__(self, x):
        length = x.shape[0]
        q, k, v = self.split(jax.vmap(self.qkv)(jax.vmap(self.norm1)(x)))
        scores = jnp.einsum("qhd,khd->hqk", q, k) / jnp.sqrt(q.shape[-1])
        causal = jnp.tril(jnp.ones((length, length), bool))
        weights = jax.nn.softmax(jnp.where(causal, scores, -1e9), axis=-1)
        mixed = jnp.einsum("hqk,khd->qhd", weights, v).reshape(length, -1)
        x = x + jax.vmap(self.out)(mixed)
        return x + jax.vmap(self.mlp)(jax.vmap(self.norm2)(x))

    def extend(self, x, cache, position):
        """One new position `x` against the keys and values seen so far."""
        keys, values = cache
        q, k, v = self.split(self.qkv(self.norm1(x)))
        keys, values = keys.at[position].set(k), values.at[position].set(v)
        scores = jnp.einsum("hd,khd->hk", q, keys) / jnp.sqrt(q.shape[-1])
        seen = jnp.arange(keys.shape[0]) <= position
        weights = jax.nn.softmax(jnp.where(seen, scores, -1e9), axis=-1)
        x = x + self.out(jnp.einsum("hk,khd->hd", weights, values).reshape(-1))
        return x + self.mlp(self.norm2(x)), (keys, values)


class CharModel(eqx.Module):
    embed: jax.Array
    place: jax.Array
    blocks: list
    head: eqx.nn.Linear
    heads: int = eqx.field(static=True)

    def __init__(self, vocab, length, width, heads, depth, *, key):
        keys = jax.random.split(key, depth + 3)
        self.embed = 0.5 * jax.random.normal(keys[0], (vocab, width))
        self.place = 0.1 * jax.random.normal(keys[1], (length, width))
        self.blocks = [Block(width, heads, key=k) for k in keys[3:]]
        self.head = eqx.nn.Linear(width, vocab, key=keys[2])
        self.heads = heads

    def __call__(self, tokens):
        x = self.embed[tokens] + self.place[: len(tokens)]
        for block in self.blocks:
            x = block(x)
        return jax.vmap(self.head)(x)

    def empty_cache(self):
        length, width = self.place.shape
        shape = (length, self.heads, width // self.heads)
        return [(jnp.zeros(shape), jnp.zeros(shape)) for _ in self.blocks]

    def next_logits(self, token, position, caches):
        x = self.embed[token] + self.place[position]
        updated = []
        for block, cache in zip(self.blocks, caches):
            x, cache = block.extend(x, cache, position)
            updated.append(cache)
        return self.head(x), updated
