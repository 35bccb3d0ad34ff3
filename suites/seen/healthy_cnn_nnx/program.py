"""A small convolutional network on synthetic digits with flax nnx and optax.

The training set lies on the device; one jitted call runs through a block of
minibatches with a scan, as the flax guides advise for small models.
"""

import time

import jax
import jax.numpy as jnp
import optax
from flax import nnx

CLASSES, BATCH, BLOCK = 10, 64, 10


class CNN(nnx.Module):
    def __init__(self, rngs):
        self.conv1 = nnx.Conv(1, 16, (3, 3), strides=2, rngs=rngs)
        self.conv2 = nnx.Conv(16, 32, (3, 3), strides=2, rngs=rngs)
        self.dense = nnx.Linear(32 * 49, CLASSES, rngs=rngs)

    def __call__(self, x):
        x = nnx.relu(self.conv1(x))
        x = nnx.relu(self.conv2(x))
        return self.dense(x.reshape(x.shape[0], -1))


def synthetic_digits(key, count):
    """Each class is one blurred stroke pattern; samples add noise."""
    pattern_key, label_key, noise_key = jax.random.split(key, 3)
    patterns = jax.random.normal(pattern_key, (CLASSES, 7, 7, 1))
    patterns = jax.image.resize(patterns, (CLASSES, 28, 28, 1), "cubic")
    labels = jax.random.randint(label_key, (count,), 0, CLASSES)
    noise = 0.7 * jax.random.normal(noise_key, (count, 28, 28, 1))
    return patterns[labels] + noise, labels


graphdef, params = nnx.split(CNN(nnx.Rngs(0)), nnx.Param)
tx = optax.adamw(1e-3)


def loss_fn(params, images, labels):
    logits = nnx.merge(graphdef, params)(images)
    loss = optax.softmax_cross_entropy_with_integer_labels(logits, labels).mean()
    return loss, (logits.argmax(-1) == labels).mean()


@jax.jit
def train_block(params, opt_state, images, labels):
    def body(carry, batch):
        params, opt_state = carry
        (loss, accuracy), grads = jax.value_and_grad(loss_fn, has_aux=True)(params, *batch)
        updates, opt_state = tx.update(grads, opt_state, params)
        return (optax.apply_updates(params, updates), opt_state), (loss, accuracy)

    (params, opt_state), (losses, accuracies) = jax.lax.scan(body, (params, opt_state), (images, labels))
    return params, opt_state, losses.mean(), accuracies.mean()


def blocks(images, labels, key, count):
    """Shuffles once per epoch and hands out blocks of minibatches."""
    order = jax.random.permutation(key, len(labels))
    shape = (-1, BLOCK, BATCH)
    images, labels = images[order].reshape(*shape, 28, 28, 1), labels[order].reshape(shape)
    for i in range(count):
        yield images[i % len(images)], labels[i % len(labels)]


def main(params=params):
    images, labels = synthetic_digits(jax.random.key(1), 8 * BLOCK * BATCH)
    opt_state = tx.init(params)
    for batch in blocks(images, labels, jax.random.key(2), 1):
        params, opt_state, loss, accuracy = train_block(params, opt_state, *batch)
    loss.block_until_ready()
    history = []
    start = time.perf_counter()
    for batch in blocks(images, labels, jax.random.key(3), 16):
        params, opt_state, loss, accuracy = train_block(params, opt_state, *batch)
        history.append((loss, accuracy))
    jax.block_until_ready(history)
    print(f"{len(history)} steps in {time.perf_counter() - start:.4f} s")
    for number, (loss, accuracy) in enumerate(history[::8]):
        print(f"block {8 * number}: loss {loss:.3f}, accuracy {accuracy:.3f}")
    print("checksum", float(history[-1][0]))


if __name__ == "__main__":
    main()
