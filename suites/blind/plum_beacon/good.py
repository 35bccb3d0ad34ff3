"""Leaf disease classifier with photometric augmentation of small colour crops."""
import time

import dm_pix as pix
import haiku as hk
import jax
import jax.numpy as jnp
import numpy as np
import optax

BATCH = 7
SIZE = 64
CLASSES = 4
N_STEPS = 25


def synth_leaves(rng, n):
    axis = np.linspace(-1.0, 1.0, SIZE)
    xx, yy = np.meshgrid(axis, axis)
    labels = rng.integers(0, CLASSES, n)
    images = np.empty((n, SIZE, SIZE, 3), np.float32)
    for i, label in enumerate(labels):
        leaf = (xx**2 + (yy * 1.6) ** 2 < 0.8).astype(np.float32)
        spots = np.sin((4 + 3 * label) * xx + rng.uniform(0, 6)) * np.sin((4 + 3 * label) * yy)
        colour = np.array([0.3, 0.6, 0.2]) + 0.1 * rng.normal(size=3)
        images[i] = np.clip(leaf[..., None] * (colour + 0.2 * spots[..., None]), 0.0, 1.0)
    return images, labels.astype(np.int32)


def augment(key, image):
    k1, k2, k3, k4 = jax.random.split(key, 4)
    image = pix.random_flip_left_right(k1, image)
    image = pix.random_brightness(k2, image, 0.1)
    image = pix.random_contrast(k3, image, 0.8, 1.2)
    image = jnp.clip(image, 0.0, 1.0)
    return image + 0.02 * jax.random.normal(k4, image.shape)


augment_batch = jax.jit(jax.vmap(augment))


class Augmenter:
    def __init__(self, seed):
        self.key = jax.random.PRNGKey(seed)

    def __call__(self, images):
        self.key, sub = jax.random.split(self.key)
        keys = jax.random.split(sub, len(images))
        return augment_batch(keys, images)


def classifier(images):
    x = images * 2.0 - 1.0
    for width in (48, 96):
        x = jax.nn.relu(hk.Conv2D(width, kernel_shape=5, stride=2)(x))
    return hk.Linear(CLASSES)(jnp.mean(x, axis=(1, 2)))


def main():
    images, labels = synth_leaves(np.random.default_rng(1), BATCH * N_STEPS)
    net = hk.without_apply_rng(hk.transform(classifier))
    params = jax.jit(net.init)(jax.random.PRNGKey(0), images[:2])
    optimizer = optax.adamw(1e-3)
    opt_state = optimizer.init(params)

    def loss_fn(params, x, y):
        return jnp.mean(optax.softmax_cross_entropy_with_integer_labels(net.apply(params, x), y))

    @jax.jit
    def update(params, opt_state, x, y):
        loss, grads = jax.value_and_grad(loss_fn)(params, x, y)
        updates, opt_state = optimizer.update(grads, opt_state, params)
        return optax.apply_updates(params, updates), opt_state, loss

    warm = Augmenter(99)
    jax.block_until_ready(update(params, opt_state, warm(images[:BATCH]), labels[:BATCH]))

    augmenter = Augmenter(5)
    start = time.perf_counter()
    losses = []
    for i in range(0, len(images), BATCH):
        x = augmenter(images[i : i + BATCH])
        params, opt_state, loss = update(params, opt_state, x, labels[i : i + BATCH])
        losses.append(loss)
    jax.block_until_ready((params, losses))
    elapsed = time.perf_counter() - start

    print(f"{N_STEPS} steps in {elapsed:.3f} s")
    print(f"checksum {float(sum(losses)):.4f} {float(losses[-1]):.4f}")


if __name__ == "__main__":
    main()
