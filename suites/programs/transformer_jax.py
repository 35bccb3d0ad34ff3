"""Training steps of a small transformer in plain JAX: attention, layer norms, Adam, bf16 arithmetic on f32 weights.

It learns to repeat: the second half of each row of tokens is its first half again, so the loss falls where training works.

    python transformer_jax.py --steps 10
"""

from __future__ import annotations

import argparse
import time
from functools import partial

import jax
import jax.numpy as jnp

WORDS = 1024
HEAD = 64


def weights(key: jax.Array, layers: int, width: int, length: int) -> dict:
    """Random weights; those of the layers are stacked, so that one compiled loop runs over them."""
    def normal(number: int, *shape: int) -> jax.Array:
        return 0.02 * jax.random.normal(jax.random.fold_in(key, number), shape)

    return {
        "words": normal(0, WORDS, width),
        "places": normal(1, length, width),
        "layers": {
            "norm_1": jnp.ones((layers, width)),
            "norm_2": jnp.ones((layers, width)),
            "queries": normal(2, layers, width, 3 * width),
            "joined": normal(3, layers, width, width),
            "wider": normal(4, layers, width, 4 * width),
            "narrower": normal(5, layers, 4 * width, width),
        },
        "norm": jnp.ones(width),
    }


def normalized(x: jax.Array, scale: jax.Array) -> jax.Array:
    """Layer norm without a bias, in 32 bits."""
    x = x.astype(jnp.float32)
    deviation = jax.lax.rsqrt(jnp.var(x, axis=-1, keepdims=True) + 1e-5)
    return ((x - x.mean(axis=-1, keepdims=True)) * deviation * scale).astype(jnp.bfloat16)


def attention(x: jax.Array, layer: dict) -> jax.Array:
    """Causal attention of `x`, [batch, length, width]."""
    batch, length, width = x.shape
    with jax.named_scope("attention"):
        parts = (x @ layer["queries"].astype(x.dtype)).reshape(batch, length, 3, width // HEAD, HEAD)
        mixed = jax.nn.dot_product_attention(parts[:, :, 0], parts[:, :, 1], parts[:, :, 2], is_causal=True)
        return mixed.reshape(batch, length, width) @ layer["joined"].astype(x.dtype)


def block(x: jax.Array, layer: dict) -> tuple[jax.Array, None]:
    """One layer."""
    x = x + attention(normalized(x, layer["norm_1"]), layer)
    with jax.named_scope("perceptron"):
        wide = jax.nn.gelu(normalized(x, layer["norm_2"]) @ layer["wider"].astype(x.dtype))
        return x + wide @ layer["narrower"].astype(x.dtype), None


def loss(model: dict, tokens: jax.Array) -> jax.Array:
    """Mean cross entropy of each next token."""
    x = (model["words"][tokens[:, :-1]] + model["places"]).astype(jnp.bfloat16)
    x, _ = jax.lax.scan(block, x, model["layers"])
    with jax.named_scope("loss"):
        scores = (normalized(x, model["norm"]) @ model["words"].T.astype(jnp.bfloat16)).astype(jnp.float32)
        chosen = jnp.take_along_axis(jax.nn.log_softmax(scores), tokens[:, 1:, None], axis=-1)
        return -chosen.mean()


@partial(jax.jit, donate_argnums=(0, 1, 2))
def train_step(model: dict, mean: dict, square: dict, number: jax.Array, tokens: jax.Array):
    """One step of Adam (Kingma and Ba, 2015)."""
    value, gradient = jax.value_and_grad(loss)(model, tokens)
    with jax.named_scope("adam"):
        mean = jax.tree.map(lambda m, g: 0.9 * m + 0.1 * g, mean, gradient)
        square = jax.tree.map(lambda s, g: 0.95 * s + 0.05 * g * g, square, gradient)
        rate = 1e-3 * jnp.sqrt(1 - 0.95**number) / (1 - 0.9**number)
        model = jax.tree.map(lambda w, m, s: w - rate * m / (jnp.sqrt(s) + 1e-8), model, mean, square)
    return model, mean, square, value


def tokens_of(key: jax.Array, batch: int, length: int) -> jax.Array:
    """Rows of `length + 1` tokens whose second half repeats the first."""
    half = jax.random.randint(key, (batch, length // 2 + 1), 0, WORDS)
    return jnp.concatenate([half, half], axis=1)[:, : length + 1]


def main() -> None:
    """Train, and say how fast."""
    parser = argparse.ArgumentParser(description="Training steps of a small transformer in JAX")
    parser.add_argument("--steps", type=int, default=10)
    parser.add_argument("--layers", type=int, default=6)
    parser.add_argument("--width", type=int, default=512, help="a multiple of 64")
    parser.add_argument("--length", type=int, default=512, help="tokens of a row")
    parser.add_argument("--batch", type=int, default=16, help="rows of a step")
    options = parser.parse_args()
    key = jax.random.key(0)
    model = weights(key, options.layers, options.width, options.length)
    mean, square = (jax.tree.map(jnp.zeros_like, model) for _ in range(2))
    for number in range(options.steps):
        tokens = tokens_of(jax.random.fold_in(key, number), options.batch, options.length)
        with jax.profiler.StepTraceAnnotation("train", step_num=number):
            begun = time.perf_counter()
            model, mean, square, value = train_step(model, mean, square, jnp.float32(number + 1), tokens)
            value = float(value)
            seconds = time.perf_counter() - begun
        print(f"step {number}: {seconds * 1e3:.3f} ms, loss {value:.4f}", flush=True)


if __name__ == "__main__":
    main()
