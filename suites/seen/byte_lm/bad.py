"""A byte-level language model with causal convolutions (flax linen, optax)."""

import time

import flax.linen as nn
import jax
import jax.numpy as jnp
import optax
from corpus import VOCAB, Loader, documents

LENGTH, BATCH, WIDTH = 512, 32, 32


class ByteModel(nn.Module):
    @nn.compact
    def __call__(self, tokens):
        x = nn.Embed(VOCAB, WIDTH)(tokens)
        for dilation in (1, 4):
            y = nn.Conv(WIDTH, (3,), kernel_dilation=(dilation,), padding="CAUSAL")(x)
            x = x + nn.relu(y)
        return nn.Dense(VOCAB)(x[:, ::8])


model = ByteModel()
tx = optax.adam(2e-3)


def loss_fn(params, tokens):
    logits = model.apply(params, tokens[:, :-1])
    return optax.softmax_cross_entropy_with_integer_labels(logits, tokens[:, 1::8]).mean()


@jax.jit
def train_step(params, opt_state, tokens):
    loss, grads = jax.value_and_grad(loss_fn)(params, tokens)
    updates, opt_state = tx.update(grads, opt_state)
    return optax.apply_updates(params, updates), opt_state, loss


def main():
    loader = Loader(documents(100, seed=0), LENGTH, BATCH, seed=1)
    params = model.init(jax.random.key(0), jnp.zeros((1, LENGTH), jnp.int32))
    opt_state = tx.init(params)
    for _ in range(2):
        params, opt_state, loss = train_step(params, opt_state, jnp.asarray(loader.next_batch()))
    loss.block_until_ready()
    steps = 40
    start = time.perf_counter()
    for _ in range(steps):
        tokens = jnp.asarray(loader.next_batch())
        params, opt_state, loss = train_step(params, opt_state, tokens)
    loss.block_until_ready()
    print(f"{steps} steps in {time.perf_counter() - start:.4f} s")
    print("checksum", float(loss))


if __name__ == "__main__":
    main()
