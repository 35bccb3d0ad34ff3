"""A small convolutional network on made-up digits, in the way of Flax's first tutorial.

    python suites/programs/tutorial_flax.py --epochs 2
"""

import argparse

import jax
import jax.numpy as jnp
import numpy as np
import optax
from flax import linen as nn
from flax.training import train_state


class CNN(nn.Module):
    @nn.compact
    def __call__(self, x):
        x = nn.Conv(features=16, kernel_size=(3, 3))(x)
        x = nn.relu(x)
        x = nn.avg_pool(x, window_shape=(2, 2), strides=(2, 2))
        x = nn.Conv(features=32, kernel_size=(3, 3))(x)
        x = nn.relu(x)
        x = nn.avg_pool(x, window_shape=(2, 2), strides=(2, 2))
        x = x.reshape((x.shape[0], -1))
        x = nn.Dense(features=64)(x)
        x = nn.relu(x)
        return nn.Dense(features=10)(x)


@jax.jit
def train_step(state, images, labels):
    def loss_fn(params):
        logits = state.apply_fn({"params": params}, images)
        loss = optax.softmax_cross_entropy_with_integer_labels(logits=logits, labels=labels).mean()
        return loss, logits

    (loss, logits), grads = jax.value_and_grad(loss_fn, has_aux=True)(state.params)
    accuracy = jnp.mean(jnp.argmax(logits, -1) == labels)
    return state.apply_gradients(grads=grads), loss, accuracy


def get_dataset(size):
    rng = np.random.default_rng(0)
    prototypes = rng.normal(size=(10, 28, 28, 1))
    labels = rng.integers(0, 10, size)
    return (prototypes[labels] + rng.normal(size=(size, 28, 28, 1))).astype(np.float32), labels.astype(np.int32)


def train_epoch(state, images, labels, batch_size, rng):
    perms = jax.random.permutation(rng, len(images))
    steps = len(images) // batch_size
    perms = perms[: steps * batch_size].reshape((steps, batch_size))
    epoch_loss, epoch_accuracy = [], []
    for perm in perms:
        state, loss, accuracy = train_step(state, images[perm, ...], labels[perm, ...])
        epoch_loss.append(float(loss))
        epoch_accuracy.append(float(accuracy))
    return state, np.mean(epoch_loss), np.mean(epoch_accuracy)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--epochs", type=int, default=2)
    options = parser.parse_args()
    images, labels = get_dataset(1024)
    rng, init_rng = jax.random.split(jax.random.key(0))
    cnn = CNN()
    params = cnn.init(init_rng, jnp.ones([1, 28, 28, 1]))["params"]
    state = train_state.TrainState.create(apply_fn=cnn.apply, params=params, tx=optax.sgd(0.05, 0.9))
    for epoch in range(1, options.epochs + 1):
        rng, input_rng = jax.random.split(rng)
        state, loss, accuracy = train_epoch(state, images, labels, 64, input_rng)
        print(f"epoch {epoch}: loss {loss:.4f}, accuracy {accuracy:.3f}")


if __name__ == "__main__":
    main()
