"""Sentiment of product reviews with a recurrent network (equinox, optax).

Reviews differ greatly in length; a mask keeps the padding out of the state.
"""

import time

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import optax

VOCAB, WIDTH, LONGEST, BATCH = 500, 64, 256, 32


def collect_reviews(count, seed):
    """Token arrays: most have some thirty words, a few have hundreds."""
    rng = np.random.default_rng(seed)
    lengths = np.clip(rng.lognormal(3.3, 0.6, count).astype(int), 5, LONGEST)
    lengths[:3] = LONGEST
    mood = rng.integers(0, 2, count)
    texts = [rng.integers(0, VOCAB // 2, n) * 2 + m * (rng.random(n) < 0.5) for n, m in zip(lengths, mood)]
    return texts, mood.astype(np.float32)


class Classifier(eqx.Module):
    embed: jax.Array
    cell: eqx.nn.GRUCell
    readout: eqx.nn.Linear

    def __init__(self, key):
        k1, k2, k3 = jax.random.split(key, 3)
        self.embed = 0.1 * jax.random.normal(k1, (VOCAB, WIDTH))
        self.cell = eqx.nn.GRUCell(WIDTH, WIDTH, key=k2)
        self.readout = eqx.nn.Linear(WIDTH, "scalar", key=k3)

    def __call__(self, tokens, mask):
        def body(state, inputs):
            x, keep = inputs
            return jnp.where(keep, self.cell(x, state), state), None

        state, _ = jax.lax.scan(body, jnp.zeros(WIDTH), (self.embed[tokens], mask))
        return self.readout(state)


def pad(texts):
    tokens = np.zeros((len(texts), LONGEST), np.int32)
    mask = np.zeros((len(texts), LONGEST), bool)
    for row, text in enumerate(texts):
        tokens[row, : len(text)] = text
        mask[row, : len(text)] = True
    return tokens, mask


def batches(texts, mood):
    """Batches of reviews of like length, shortest first."""
    order = np.argsort([len(text) for text in texts], kind="stable")
    for first in range(0, len(order) - BATCH + 1, BATCH):
        rows = order[first : first + BATCH]
        yield *pad([texts[i] for i in rows]), mood[rows]


def loss_fn(model, tokens, mask, mood):
    return optax.sigmoid_binary_cross_entropy(jax.vmap(model)(tokens, mask), mood).mean()


tx = optax.adam(2e-3)


@eqx.filter_jit
def train_step(model, opt_state, tokens, mask, mood):
    loss, grads = eqx.filter_value_and_grad(loss_fn)(model, tokens, mask, mood)
    updates, opt_state = tx.update(grads, opt_state)
    return eqx.apply_updates(model, updates), opt_state, loss


def main():
    texts, mood = collect_reviews(512, seed=0)
    model = Classifier(jax.random.key(0))
    opt_state = tx.init(eqx.filter(model, eqx.is_array))
    for batch in batches(texts, mood):
        model, opt_state, loss = train_step(model, opt_state, *batch)
    loss.block_until_ready()
    steps = 0
    start = time.perf_counter()
    for _ in range(2):
        for batch in batches(texts, mood):
            model, opt_state, loss = train_step(model, opt_state, *batch)
            steps += 1
    loss.block_until_ready()
    print(f"{steps} steps in {time.perf_counter() - start:.4f} s")
    print("checksum", float(loss))


if __name__ == "__main__":
    main()
