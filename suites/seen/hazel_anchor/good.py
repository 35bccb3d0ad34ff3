"""Autoregressive sampling from a small flax language model."""
import time

import flax.linen as nn
import jax
import jax.numpy as jnp
import numpy as np


class Attention(nn.Module):
    heads: int

    @nn.compact
    def __call__(self, x, cache, pos):
        b, t, d = x.shape
        qkv = nn.Dense(3 * d, use_bias=False, name="qkv")(x)
        q, k, v = (u.reshape(b, t, self.heads, -1) for u in jnp.split(qkv, 3, -1))
        k = jax.lax.dynamic_update_slice(cache[0], k, (0, pos, 0, 0))
        v = jax.lax.dynamic_update_slice(cache[1], v, (0, pos, 0, 0))
        mask = (jnp.arange(k.shape[1]) <= pos)[None, None, None, :]
        w = jnp.einsum("bqhd,bkhd->bhqk", q, k) / jnp.sqrt(q.shape[-1])
        w = nn.softmax(jnp.where(mask, w, -1e9))
        out = jnp.einsum("bhqk,bkhd->bqhd", w, v).reshape(b, t, d)
        return nn.Dense(d, use_bias=False, name="out")(out), (k, v)


class Decoder(nn.Module):
    vocab: int
    dim: int
    heads: int
    depth: int
    max_len: int

    @nn.compact
    def __call__(self, tokens, caches, pos):
        x = nn.Embed(self.vocab, self.dim, name="tok")(tokens)
        table = self.param("pos", nn.initializers.normal(0.02), (self.max_len, self.dim))
        x = x + jax.lax.dynamic_slice_in_dim(table, pos, tokens.shape[1], 0)
        new = []
        for i in range(self.depth):
            h, kv = Attention(self.heads, name=f"attn{i}")(nn.LayerNorm()(x), caches[i], pos)
            x = x + h
            new.append(kv)
            h = nn.Dense(4 * self.dim, name=f"up{i}")(nn.LayerNorm()(x))
            x = x + nn.Dense(self.dim, name=f"down{i}")(nn.gelu(h))
        return nn.Dense(self.vocab, name="head")(nn.LayerNorm()(x)), new


MAX_LEN = 40
model = Decoder(vocab=2000, dim=384, heads=6, depth=3, max_len=MAX_LEN)


def pick(logits, pos):
    penal = logits - 0.5 * jax.nn.one_hot(pos % 50, logits.shape[-1])
    return jnp.argmax(penal, -1)


@jax.jit
def next_token(params, tokens, caches, pos):
    current = jax.lax.dynamic_slice_in_dim(tokens, pos, 1, 1)
    logits, caches = model.apply(params, current, caches, pos)
    token = pick(logits[:, 0], pos)
    return tokens.at[:, pos + 1].set(token), caches, jax.nn.logsumexp(logits[:, 0])


def empty_caches(batch):
    shape = (batch, MAX_LEN, model.heads, model.dim // model.heads)
    return [(jnp.zeros(shape), jnp.zeros(shape)) for _ in range(model.depth)]


def generate(params, first, length):
    tokens = jnp.zeros((first.shape[0], MAX_LEN), jnp.int32).at[:, 0].set(first)
    caches = empty_caches(first.shape[0])
    scores = []
    for pos in range(length):
        tokens, caches, score = next_token(params, tokens, caches, pos)
        scores.append(score)
    return tokens, jnp.stack(scores)


def main():
    batch = 2
    params = model.init(jax.random.PRNGKey(0), jnp.zeros((batch, 1), jnp.int32), empty_caches(batch), 0)
    jax.block_until_ready(generate(params, jnp.arange(batch), 3))
    n_prompts, length = 6, MAX_LEN - 1
    total, last = 0.0, 0
    t0 = time.perf_counter()
    for p in range(n_prompts):
        tokens, scores = generate(params, jnp.arange(batch) + 17 * p, length)
        total += float(scores.sum())
        last += int(tokens.sum())
    t = time.perf_counter() - t0
    print(f"{n_prompts * length} steps in {t:.3f} s")
    print(f"checksum {total:.3f} {last}")


if __name__ == "__main__":
    main()
