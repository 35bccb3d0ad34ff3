"""Fine-tunes a linear head on a fixed convolutional backbone (flax linen, optax).

The backbone stands for a pretrained network: its weights never change, and the
head is trained for several epochs over a small labeled set without augmentation.
"""

import time

import flax.linen as nn
import jax
import jax.numpy as jnp
import numpy as np
import optax

IMAGES, SIZE, CLASSES, BATCH = 256, 32, 17, 64


class Backbone(nn.Module):
    """A plain stack of convolutions with global average pooling."""

    widths: tuple = (16, 32, 64)

    @nn.compact
    def __call__(self, x):
        for width in self.widths:
            x = nn.relu(nn.Conv(width, (3, 3), strides=(2, 2))(x))
            x = nn.LayerNorm()(x + nn.relu(nn.Conv(width, (3, 3))(x)))
        return x.mean((1, 2))


class Head(nn.Module):
    classes: int

    @nn.compact
    def __call__(self, features):
        return nn.Dense(self.classes)(nn.LayerNorm()(features))


backbone, head = Backbone(), Head(CLASSES)
tx = optax.adamw(3e-3, weight_decay=1e-4)


def flowers(seed):
    """Colored blobs whose shape depends on the class."""
    rng = np.random.default_rng(seed)
    label = rng.integers(0, CLASSES, IMAGES)
    prototypes = rng.normal(size=(CLASSES, 8, 8, 3)).repeat(4, 1).repeat(4, 2)
    images = prototypes[label] + 0.8 * rng.normal(size=(IMAGES, SIZE, SIZE, 3))
    return images.astype(np.float32), label.astype(np.int32)


def minibatches(rng, *arrays):
    order = rng.permutation(len(arrays[0]))
    for first in range(0, len(order), BATCH):
        rows = order[first : first + BATCH]
        yield tuple(a[rows] for a in arrays)


def embed(backbone_params, images):
    apply = jax.jit(backbone.apply)
    parts = [apply(backbone_params, images[i : i + BATCH]) for i in range(0, len(images), BATCH)]
    return np.concatenate([np.asarray(part) for part in parts])


def loss_fn(head_params, features, label):
    logits = head.apply(head_params, features)
    return optax.softmax_cross_entropy_with_integer_labels(logits, label).mean()


@jax.jit
def train_step(head_params, opt_state, features, label):
    loss, grads = jax.value_and_grad(loss_fn)(head_params, features, label)
    updates, opt_state = tx.update(grads, opt_state, head_params)
    return optax.apply_updates(head_params, updates), opt_state, loss


def main():
    images, label = flowers(0)
    backbone_params = backbone.init(jax.random.key(0), images[:1])
    head_params = head.init(jax.random.key(1), jnp.zeros((1, 64)))
    opt_state = tx.init(head_params)
    rng = np.random.default_rng(1)
    features = embed(backbone_params, images)
    for batch in minibatches(rng, features, label):
        head_params, opt_state, loss = train_step(head_params, opt_state, *batch)
    loss.block_until_ready()
    steps = 0
    start = time.perf_counter()
    for _ in range(40):
        for batch in minibatches(rng, features, label):
            head_params, opt_state, loss = train_step(head_params, opt_state, *batch)
            steps += 1
    loss.block_until_ready()
    print(f"{steps} steps in {time.perf_counter() - start:.4f} s")
    print("checksum", float(loss))


if __name__ == "__main__":
    main()
