"""Learn to tell comets from stars: sequence classification of light curves.

Synthetic light curves are summarised by random convolution features and
classified by a small network trained with Adam.  The accuracy on a held-out
set is recorded during training and the learning curve is printed at the end.
"""
import time

import jax
import jax.numpy as jnp
import numpy as np
import optax

LENGTH = 64
CHANNELS = 24
N_TRAIN = 4096
N_VALID = 2048
BATCH = 128
STEPS = 250
LOG_EVERY = 25


def make_curves(n, seed):
    """Light curves (a periodic star or a brightening comet) and labels."""
    rng = np.random.default_rng(seed)
    comet = rng.integers(0, 2, n)
    t = np.linspace(0.0, 1.0, LENGTH)
    frequency = rng.uniform(1.0, 5.0, (n, 1))
    periodic = np.sin(2 * np.pi * (frequency * t + rng.uniform(size=(n, 1))))
    centre = rng.uniform(0.3, 0.7, (n, 1))
    flare = 2.0 * np.exp(-np.abs(t - centre) / rng.uniform(0.05, 0.3, (n, 1))) - 1.0
    curves = np.where(comet[:, None] == 1, flare, periodic)
    curves += 0.6 * rng.normal(size=curves.shape)
    return curves.astype(np.float32), comet.astype(np.int32)


def init_params(seed=0):
    rng = np.random.default_rng(seed)

    def normal(*shape, fan_in):
        return jnp.asarray(rng.normal(0, np.sqrt(2 / fan_in), shape), jnp.float32)

    return {
        "conv1": normal(7, 1, CHANNELS, fan_in=7),
        "conv2": normal(7, CHANNELS, CHANNELS, fan_in=7 * CHANNELS),
        "w": normal(CHANNELS, 2, fan_in=CHANNELS),
        "b": jnp.zeros(2),
    }


def network(params, curves):
    x = curves[..., None]
    for name in ("conv1", "conv2"):
        x = jax.lax.conv_general_dilated(
            x, params[name], (2,), "SAME", dimension_numbers=("NWC", "WIO", "NWC"))
        x = jax.nn.relu(x)
    return x.mean(1) @ params["w"] + params["b"]


def loss_fn(params, curves, labels):
    logits = network(params, curves)
    return optax.softmax_cross_entropy_with_integer_labels(logits, labels).mean()


optimizer = optax.adam(3e-3)


@jax.jit
def train_step(params, opt_state, curves, labels):
    loss, grads = jax.value_and_grad(loss_fn)(params, curves, labels)
    updates, opt_state = optimizer.update(grads, opt_state)
    return optax.apply_updates(params, updates), opt_state, loss


@jax.jit
def evaluate(params, curves, labels):
    """Loss and accuracy on a data set."""
    logits = network(params, curves)
    loss = optax.softmax_cross_entropy_with_integer_labels(logits, labels).mean()
    return loss, (logits.argmax(1) == labels).mean()


def main():
    train_x, train_y = make_curves(N_TRAIN, seed=1)
    valid_x, valid_y = map(jnp.asarray, make_curves(N_VALID, seed=2))
    params = init_params()
    opt_state = optimizer.init(params)
    rng = np.random.default_rng(3)

    # warm-up; the results are dropped
    jax.block_until_ready(train_step(params, opt_state, train_x[:BATCH], train_y[:BATCH]))
    jax.block_until_ready(evaluate(params, valid_x, valid_y))

    start = time.perf_counter()
    history = []
    for step in range(1, STEPS + 1):
        rows = rng.integers(0, N_TRAIN, BATCH)
        params, opt_state, loss = train_step(params, opt_state, train_x[rows], train_y[rows])
        if step % LOG_EVERY == 0:
            valid_loss, valid_accuracy = evaluate(params, valid_x, valid_y)
            history.append((step, loss, valid_loss, valid_accuracy))
    jax.block_until_ready((params, history))
    elapsed = time.perf_counter() - start

    for step, loss, valid_loss, valid_accuracy in history:
        print(f"step {step:4d}  train {float(loss):.4f}  valid {float(valid_loss):.4f}"
              f"  accuracy {float(valid_accuracy):.3f}")
    print(f"{STEPS} steps in {elapsed:.2f} s")
    print(f"checksums {float(history[0][2]):.4f} {float(history[-1][2]):.4f}")


if __name__ == "__main__":
    main()
