"""A transformer encoder that classifies short texts (flax linen, optax).

Texts are tokenized once into arrays on the host; batches are cut by index
while the device works on the batch before.
"""

import time

import flax.linen as nn
import jax
import jax.numpy as jnp
import numpy as np
import optax

VOCAB, LENGTH, WIDTH, CLASSES, BATCH = 1000, 32, 64, 5, 64


class Encoder(nn.Module):
    @nn.compact
    def __call__(self, tokens):
        x = nn.Embed(VOCAB, WIDTH)(tokens)
        x = x + self.param("place", nn.initializers.normal(0.02), (LENGTH, WIDTH))
        for _ in range(2):
            y = nn.LayerNorm()(x)
            x = x + nn.MultiHeadDotProductAttention(num_heads=4)(y, y)
            y = nn.Dense(4 * WIDTH)(nn.LayerNorm()(x))
            x = x + nn.Dense(WIDTH)(nn.gelu(y))
        return nn.Dense(CLASSES)(nn.LayerNorm()(x).mean(1))


def texts(count, seed=0):
    """Texts draw from vocabularies that overlap between the classes."""
    rng = np.random.default_rng(seed)
    label = rng.integers(0, CLASSES, count)
    tokens = rng.integers(0, 400, (count, LENGTH)) + 150 * label[:, None]
    return tokens.astype(np.int32), label.astype(np.int32)


def batches(tokens, label, epochs, seed):
    rng = np.random.default_rng(seed)
    for _ in range(epochs):
        order = rng.permutation(len(label)).reshape(-1, BATCH)
        for rows in order:
            yield tokens[rows], label[rows]


model = Encoder()
schedule = optax.warmup_cosine_decay_schedule(0.0, 2e-3, 10, 64)
tx = optax.chain(optax.clip_by_global_norm(1.0), optax.adamw(schedule))


def loss_fn(params, tokens, label):
    logits = model.apply(params, tokens)
    return optax.softmax_cross_entropy_with_integer_labels(logits, label).mean()


@jax.jit
def train_step(params, opt_state, tokens, label):
    loss, grads = jax.value_and_grad(loss_fn)(params, tokens, label)
    updates, opt_state = tx.update(grads, opt_state, params)
    return optax.apply_updates(params, updates), opt_state, loss


def main():
    tokens, label = texts(1024)
    params = model.init(jax.random.key(0), tokens[:1])
    opt_state = tx.init(params)
    params, opt_state, loss = train_step(params, opt_state, tokens[:BATCH], label[:BATCH])
    loss.block_until_ready()
    losses = []
    start = time.perf_counter()
    for batch in batches(tokens, label, 2, seed=1):
        params, opt_state, loss = train_step(params, opt_state, *batch)
        losses.append(loss)
    jax.block_until_ready(losses)
    print(f"{len(losses)} steps in {time.perf_counter() - start:.4f} s")
    print("checksum", float(losses[-1]))


if __name__ == "__main__":
    main()
