"""Recognise the wood species from the sound of a knock (plain JAX).

Knocks are synthetic damped oscillations; the magnitude spectrum of each knock
goes through a multilayer perceptron, trained with momentum.  The spectra are
computed once with NumPy and kept in memory.
"""
import time

import jax
import jax.numpy as jnp
import numpy as np

N_KNOCKS = 2048
N_SAMPLES = 512
SPECIES = 6
HIDDEN = 384
BATCH = 256
STEPS = 160
LEARNING_RATE = 0.02
MOMENTUM = 0.9


def make_knocks(seed=0):
    """Waveforms of knocks on wood and the species of each."""
    rng = np.random.default_rng(seed)
    species = rng.integers(0, SPECIES, N_KNOCKS)
    t = np.arange(N_SAMPLES) / N_SAMPLES
    pitch = 20.0 + 9.0 * species + rng.normal(0, 3.0, N_KNOCKS)
    damping = 4.0 + species + rng.normal(0, 0.8, N_KNOCKS)
    phase = rng.uniform(0, 2 * np.pi, N_KNOCKS)
    waves = np.exp(-damping[:, None] * t)
    waves = waves * np.sin(2 * np.pi * pitch[:, None] * t + phase[:, None])
    waves += 0.3 * rng.normal(size=waves.shape)
    return waves, species


def spectra(waves):
    """Standardised logarithmic magnitude spectra."""
    magnitude = np.log1p(np.abs(np.fft.rfft(waves, axis=1)))
    return (magnitude - magnitude.mean(0)) / magnitude.std(0)


def init_params(sizes, seed=1):
    """He initialisation of a multilayer perceptron."""
    rng = np.random.default_rng(seed)
    params = []
    for n_in, n_out in zip(sizes[:-1], sizes[1:]):
        w = rng.normal(0.0, np.sqrt(2.0 / n_in), (n_in, n_out))
        params.append((jnp.asarray(w), jnp.zeros(n_out)))
    return params


def network(params, x):
    for w, b in params[:-1]:
        x = jax.nn.gelu(x @ w + b)
    w, b = params[-1]
    return x @ w + b


def loss_fn(params, x, label):
    log_p = jax.nn.log_softmax(network(params, x))
    return -jnp.take_along_axis(log_p, label[:, None], axis=1).mean()


@jax.jit
def train_step(params, velocity, x, label):
    """Gradient descent with heavy-ball momentum."""
    loss, grads = jax.value_and_grad(loss_fn)(params, x, label)
    velocity = jax.tree.map(lambda v, g: MOMENTUM * v - LEARNING_RATE * g, velocity, grads)
    params = jax.tree.map(lambda p, v: p + v, params, velocity)
    return params, velocity, loss


@jax.jit
def accuracy(params, x, label):
    return (network(params, x).argmax(1) == label).mean()


def main():
    waves, species = make_knocks()
    x, label = jnp.asarray(spectra(waves)), jnp.asarray(species)
    params = init_params([x.shape[1], HIDDEN, HIDDEN, HIDDEN, SPECIES])
    velocity = jax.tree.map(jnp.zeros_like, params)
    batches = list(zip(x.reshape(-1, BATCH, x.shape[1]), label.reshape(-1, BATCH)))

    # warm-up; the result is dropped
    jax.block_until_ready(train_step(params, velocity, *batches[0]))

    start = time.perf_counter()
    losses = []
    for step in range(STEPS):
        xb, yb = batches[step % len(batches)]
        params, velocity, loss = train_step(params, velocity, xb, yb)
        losses.append(loss)
    jax.block_until_ready((params, losses))
    elapsed = time.perf_counter() - start

    score = float(accuracy(params, x, label))
    print(f"accuracy {score:.3f}")
    print(f"{STEPS} steps in {elapsed:.2f} s")
    print(f"checksums {float(losses[0]):.4f} {float(losses[STEPS // 2]):.4f} {score:.4f}")


if __name__ == "__main__":
    main()
