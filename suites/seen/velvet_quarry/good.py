"""Small convolutional network on augmented images (dm_pix + optax).

The images are coloured stripes in three orientations plus noise; each batch is
augmented with random hue, brightness, contrast and saturation before the
training step.
"""
import time

import dm_pix as pix
import jax
import jax.numpy as jnp
import numpy as np
import optax

SIZE = 32
CLASSES = 3
BATCH = 24
STEPS = 12
N_IMAGES = 480
LEARNING_RATE = 2e-3


def make_dataset(seed=0):
    """Striped colour images in [0, 1] and the class of their orientation."""
    rng = np.random.default_rng(seed)
    labels = rng.integers(0, CLASSES, N_IMAGES)
    yy, xx = np.mgrid[:SIZE, :SIZE] / SIZE
    phase = rng.uniform(0, 2 * np.pi, (N_IMAGES, 1, 1))
    angle = (labels * np.pi / 3).reshape(-1, 1, 1)
    wave = np.sin(2 * np.pi * 4 * (xx * np.cos(angle) + yy * np.sin(angle)) + phase)
    colour = rng.uniform(0.2, 0.4, (N_IMAGES, 1, 1, 3))
    images = 0.5 + colour * wave[..., None] + 0.05 * rng.normal(size=(N_IMAGES, SIZE, SIZE, 3))
    return np.clip(images, 0, 1).astype(np.float32), labels.astype(np.int32)


def augment_one(key, image):
    """Random augmentation of a single image."""
    k1, k2, k3, k4 = jax.random.split(key, 4)
    image = pix.random_hue(k1, image, max_delta=0.05)
    image = pix.random_brightness(k2, image, max_delta=0.1)
    image = pix.random_contrast(k3, image, lower=0.8, upper=1.2)
    image = pix.random_saturation(k4, image, lower=0.8, upper=1.2)
    return jnp.clip(image, 0.0, 1.0)


@jax.jit
def augment_batch(key, images):
    """Augment every image of a batch with its own key."""
    keys = jax.random.split(key, len(images))
    return jax.vmap(augment_one)(keys, images)


def init_params(seed=1):
    rng = np.random.default_rng(seed)

    def normal(*shape, fan_in):
        return jnp.asarray(rng.normal(0, np.sqrt(2 / fan_in), shape), jnp.float32)

    return {
        "conv1": normal(3, 3, 3, 16, fan_in=27),
        "conv2": normal(3, 3, 16, 32, fan_in=144),
        "out_w": normal(32, CLASSES, fan_in=32),
        "out_b": jnp.zeros(CLASSES),
    }


def network(params, images):
    x = images - 0.5
    for name in ("conv1", "conv2"):
        x = jax.lax.conv_general_dilated(
            x, params[name], (2, 2), "SAME", dimension_numbers=("NHWC", "HWIO", "NHWC"))
        x = jax.nn.relu(x)
    return x.mean((1, 2)) @ params["out_w"] + params["out_b"]


def loss_fn(params, images, labels):
    logits = network(params, images)
    return optax.softmax_cross_entropy_with_integer_labels(logits, labels).mean()


optimizer = optax.adam(LEARNING_RATE)


@jax.jit
def train_step(params, opt_state, images, labels):
    loss, grads = jax.value_and_grad(loss_fn)(params, images, labels)
    updates, opt_state = optimizer.update(grads, opt_state)
    return optax.apply_updates(params, updates), opt_state, loss


def main():
    images, labels = make_dataset()
    params = init_params()
    opt_state = optimizer.init(params)
    rng = np.random.default_rng(2)
    key = jax.random.PRNGKey(3)

    # warm-up; the result is dropped
    batch = augment_batch(key, images[:BATCH])
    jax.block_until_ready(train_step(params, opt_state, batch, labels[:BATCH])[2])

    start = time.perf_counter()
    losses, brightness = [], []
    for _ in range(STEPS):
        index = rng.choice(N_IMAGES, BATCH, replace=False)
        key, sub = jax.random.split(key)
        batch = augment_batch(sub, images[index])
        params, opt_state, loss = train_step(params, opt_state, batch, labels[index])
        losses.append(loss)
        brightness.append(batch.mean())
    jax.block_until_ready((losses, brightness))
    elapsed = time.perf_counter() - start

    print(f"{STEPS} steps in {elapsed:.2f} s")
    print(f"checksums {float(losses[0]):.4f} {float(losses[-1]):.4f} {np.mean(brightness):.5f}")


if __name__ == "__main__":
    main()
