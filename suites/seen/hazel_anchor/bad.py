"""Autoregressive sampling from a small flax language model."""
import time

import flax.linen as nn
import jax
import jax.numpy as jnp
import numpy as np


class Attention(nn.Module):
    heads: int

    @nn.compact
    def __call__(self, x):
        b, t, d = x.shape
        qkv = nn.Dense(3 * d, use_bias=False, name="qkv")(x)
        q, k, v = (u.reshape(b, t, self.heads, -1) for u in jnp.split(qkv, 3, -1))
        mask = jnp.tril(jnp.ones((t, t), bool))[None, None]
        w = jnp.einsum("bqhd,bkhd->bhqk", q, k) / jnp.sqrt(q.shape[-1])
        w = nn.softmax(jnp.where(mask, w, -1e9))
        out = jnp.einsum("bhqk,bkhd->bqhd", w, v).reshape(b, t, d)
        return nn.Dense(d, use_bias=False, name="out")(out)


class Decoder(nn.Module):
    vocab: int
    dim: int
    heads: int
    depth: int
    max_len: int

    @nn.compact
    def __call__(self, tokens):
        x = nn.Embed(self.vocab, self.dim, name="tok")(tokens)
        table = self.param("pos", nn.initializers.normal(0.02), (self.max_len, self.dim))
        x = x + table[: tokens.shape[1]]
        for i in range(self.depth):
            x = x + Attention(self.heads, name=f"attn{i}")(nn.LayerNorm()(x))
            h = nn.Dense(4 * self.dim, name=f"up{i}")(nn.LayerNorm()(x))
            x = x + nn.Dense(self.dim, name=f"down{i}")(nn.gelu(h))
        return nn.Dense(self.vocab, name="head")(nn.LayerNorm()(x))


MAX_LEN = 40
model = Decoder(vocab=2000, dim=384, heads=6, depth=3, max_len=MAX_LEN)


def pick(logits, pos):
    penal = logits - 0.5 * jax.nn.one_hot(pos % 50, logits.shape[-1])
    return jnp.argmax(penal, -1)


@jax.jit
def next_token(params, tokens, pos):
    logits = model.apply(params, tokens)
    token = pick(logits[:, pos], pos)
    return tokens.at[:, pos + 1].set(token), jax.nn.logsumexp(logits[:, pos])


def generate(params, first, length):
    tokens = jnp.zeros((first.shape[0], MAX_LEN), jnp.int32).at[:, 0].set(first)
    scores = []
    for pos in range(length):
        tokens, score = next_token(params, tokens, pos)
        scores.append(score)
    return tokens, jnp.stack(scores)


def main():
    batch = 2
    params = model.init(jax.random.PRNGKey(0), jnp.zeros((batch, MAX_LEN), jnp.int32))
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
