"""Small convolutional classifier of textures, flax + optax."""
import time
from functools import partial

import flax.linen as nn
import jax
import jax.numpy as jnp
import numpy as np
import optax
from flax.training import train_state


class Net(nn.Module):
    classes: int

    @nn.compact
    def __call__(self, x):
        for width in (24, 48, 96):
            x = nn.Conv(width, (3, 3), strides=(2, 2))(x)
            x = nn.relu(nn.GroupNorm(num_groups=8)(x))
        x = x.mean((1, 2))
        return nn.Dense(self.classes)(nn.relu(nn.Dense(128)(x)))


def textures(rng, n, size, classes):
    label = rng.integers(0, classes, n)
    freq = 2.0 + label[:, None, None]
    angle = rng.uniform(0, np.pi, (n, 1, 1))
    yy, xx = np.mgrid[:size, :size] / size
    wave = np.sin(2 * np.pi * freq * (xx * np.cos(angle) + yy * np.sin(angle)))
    image = wave + 0.5 * rng.normal(size=(n, size, size))
    return image[..., None].astype(np.float32), label.astype(np.int32)


@partial(jax.jit, donate_argnums=0)
def train_step(state, image, label):
    def loss_fn(params):
        logits = state.apply_fn({"params": params}, image)
        loss = optax.softmax_cross_entropy_with_integer_labels(logits, label).mean()
        return loss, (logits.argmax(-1) == label).mean()

    (loss, acc), grads = jax.value_and_grad(loss_fn, has_aux=True)(state.params)
    return state.apply_gradients(grads=grads), (loss, acc)


def create_state(key, classes, size, n_steps):
    net = Net(classes)
    params = net.init(key, jnp.zeros((1, size, size, 1)))["params"]
    schedule = optax.cosine_decay_schedule(2e-3, n_steps)
    return train_state.TrainState.create(apply_fn=net.apply, params=params, tx=optax.adamw(schedule))


def epochs(rng, image, label, batch):
    while True:
        order = rng.permutation(len(label))
        for lo in range(0, len(order) - batch + 1, batch):
            pick = order[lo:lo + batch]
            yield image[pick], label[pick]


def main():
    rng = np.random.default_rng(0)
    size, classes, batch, n_steps = 48, 6, 64, 120
    image, label = textures(rng, 2000, size, classes)
    state = create_state(jax.random.PRNGKey(0), classes, size, n_steps)
    stream = epochs(rng, image, label, batch)
    state, _ = train_step(state, *next(stream))
    log = []
    t0 = time.perf_counter()
    for step in range(n_steps):
        state, metrics = train_step(state, *next(stream))
        log.append(metrics)
        if (step + 1) % 40 == 0:
            loss, acc = np.asarray(log[-40:]).mean(0)
            print(f"step {step + 1}: loss {loss:.4f} accuracy {acc:.3f}")
    jax.block_until_ready((state.params, log))
    t = time.perf_counter() - t0
    print(f"{n_steps} steps in {t:.3f} s")
    print(f"checksum {np.asarray(log)[:, 0].mean():.5f}")


if __name__ == "__main__":
    main()
