"""Online training of a demand model on blocks of sales (haiku, optax).

Sales arrive in blocks; each block is turned into features on the host and used
for one pass of minibatch updates on the device.
"""

import time

import haiku as hk
import jax
import jax.numpy as jnp
import optax
from features import block_of_sales, featurize

ROWS, BATCH = 16_384, 1024

net = hk.without_apply_rng(hk.transform(lambda x: hk.nets.MLP([64, 64, 1])(x)[:, 0]))
tx = optax.adam(1e-3)


def loss_fn(params, x, y):
    return jnp.mean(optax.huber_loss(net.apply(params, x), y))


@jax.jit
def train_on_block(params, opt_state, x, y):
    def body(carry, batch):
        params, opt_state = carry
        loss, grads = jax.value_and_grad(loss_fn)(params, *batch)
        updates, opt_state = tx.update(grads, opt_state)
        return (optax.apply_updates(params, updates), opt_state), loss

    batches = (x.reshape(-1, BATCH, x.shape[1]), y.reshape(-1, BATCH))
    (params, opt_state), losses = jax.lax.scan(body, (params, opt_state), batches)
    return params, opt_state, losses.mean()


def main():
    blocks = [block_of_sales(seed, ROWS) for seed in range(5)]
    x, y = featurize(blocks[0])
    params = net.init(jax.random.key(0), x[:1])
    opt_state = tx.init(params)
    params, opt_state, loss = train_on_block(params, opt_state, x, y)
    loss.block_until_ready()
    steps = 0
    start = time.perf_counter()
    for _ in range(8):
        for block in blocks:
            x, y = featurize(block)
            params, opt_state, loss = train_on_block(params, opt_state, x, y)
            steps += 1
    loss.block_until_ready()
    print(f"{steps} steps in {time.perf_counter() - start:.4f} s")
    print("checksum", float(loss))


if __name__ == "__main__":
    main()
