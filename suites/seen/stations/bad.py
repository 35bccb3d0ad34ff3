"""Calibrates a network of tide gauges: four constants for every gauge, by optax.

Each gauge has an offset, a gain, and amplitude and phase of the main tide; all
are fitted together, with a penalty that ties the gains to their common mean.
"""

import time

import jax
import jax.numpy as jnp
import numpy as np
import optax

GAUGES, HOURS, PERIOD = 64, 240, 12.42

NAMES = [f"gauge_{i:03d}" for i in range(GAUGES)]


def readings(seed=0):
    rng = np.random.default_rng(seed)
    hours = np.arange(HOURS, dtype=np.float32)
    record = {}
    for name in NAMES:
        offset, gain = rng.normal(), 1 + 0.1 * rng.normal()
        amplitude, phase = rng.uniform(0.5, 2.0), rng.uniform(0, 1)
        tide = amplitude * np.sin(2 * np.pi * hours / PERIOD + phase)
        record[name] = (offset + gain * tide + 0.05 * rng.normal(size=HOURS)).astype(np.float32)
    return hours, record


def initial_constants():
    guess = {"offset": 0.0, "gain": 1.0, "amplitude": 1.0, "phase": 0.5}
    return {name: {k: jnp.float32(v) for k, v in guess.items()} for name in NAMES}


def predict(constants, hours):
    tide = constants["amplitude"] * jnp.sin(2 * jnp.pi * hours / PERIOD + constants["phase"])
    return constants["offset"] + constants["gain"] * tide


def loss_fn(constants, hours, record):
    errors = [jnp.mean((predict(constants[name], hours) - record[name]) ** 2) for name in NAMES]
    gains = jnp.stack([constants[name]["gain"] for name in NAMES])
    return sum(errors) / GAUGES + 0.1 * jnp.var(gains)


tx = optax.adam(0.01)


@jax.jit
def fit_step(constants, opt_state, hours, record):
    loss, grads = jax.value_and_grad(loss_fn)(constants, hours, record)
    updates, opt_state = tx.update(grads, opt_state)
    return optax.apply_updates(constants, updates), opt_state, loss


def main():
    hours, record = jax.device_put(readings())
    constants = initial_constants()
    opt_state = tx.init(constants)
    for _ in range(2):
        constants, opt_state, loss = fit_step(constants, opt_state, hours, record)
    loss.block_until_ready()
    steps = 400
    start = time.perf_counter()
    for _ in range(steps):
        constants, opt_state, loss = fit_step(constants, opt_state, hours, record)
    loss.block_until_ready()
    print(f"{steps} steps in {time.perf_counter() - start:.4f} s")
    mean_gain = np.mean([constants[name]["gain"] for name in NAMES])
    print("checksum", float(loss), float(mean_gain))


if __name__ == "__main__":
    main()
