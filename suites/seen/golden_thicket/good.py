"""Calibrating a river-basin model with travel times: storages of many sub-catchments by gradient descent.

Outflow of every sub-catchment reaches the gauge spread over the following hours (unit
hydrograph of LAG hours); soil wetness feeds back through the outflow of one day before.
"""
import time

import jax
import jax.numpy as jnp
import numpy as np

STEPS = 90
HOURS = 1500
BASINS = 96
LAG = 24
RATE = 0.5


def hydrograph(params):
    """Delay weights [LAG, BASINS], oldest hour first, from a mean travel time per basin."""
    hours = jnp.arange(LAG, 0, -1, dtype=jnp.float32)[:, None]
    mean = jnp.exp(params["log_delay"])
    weights = hours / mean * jnp.exp(-hours / mean)
    return weights / jnp.sum(weights, axis=0)


def simulate(params, rain):
    """Gauge discharge [HOURS] for hourly rain [HOURS, BASINS]."""
    weights = hydrograph(params)
    recession = jax.nn.sigmoid(params["recession"])
    feedback = jax.nn.softplus(params["feedback"])

    def hour(carry, rain_now):
        storage, recent = carry
        infiltration = rain_now / (1.0 + feedback * recent[0])
        storage = storage + infiltration
        outflow = recession * storage
        storage = storage - outflow
        gauge = jnp.sum(weights * recent)
        recent = jnp.concatenate([recent[1:], outflow[None]])
        return (storage, recent), gauge

    storage = jnp.full((BASINS,), 5.0)
    recent = jnp.zeros((LAG, BASINS))
    _, discharge = jax.lax.scan(hour, (storage, recent), rain)
    return discharge


def loss_fn(params, rain, observed):
    error = jnp.log(simulate(params, rain) + 1.0) - jnp.log(observed + 1.0)
    return jnp.mean(error**2)


@jax.jit
def calibrate(params, rain, observed):
    loss, grads = jax.value_and_grad(loss_fn)(params, rain, observed)
    params = jax.tree.map(lambda p, g: p - RATE * g, params, grads)
    return params, loss


def make_basin(seed=14):
    rng = np.random.default_rng(seed)
    wet = rng.uniform(size=(HOURS, 1)) < 0.15
    rain = rng.gamma(0.8, 2.0, size=(HOURS, BASINS)) * wet
    truth = {
        "log_delay": np.log(rng.uniform(2.0, 8.0, size=BASINS)),
        "recession": rng.normal(-3.0, 0.5, size=BASINS),
        "feedback": rng.normal(-1.0, 0.3, size=BASINS),
    }
    truth = jax.tree.map(lambda a: jnp.asarray(a, jnp.float32), truth)
    rain = jnp.asarray(rain, jnp.float32)
    return rain, jax.jit(simulate)(truth, rain)


def main():
    rain, observed = make_basin()
    params = {
        "log_delay": jnp.full((BASINS,), 1.0),
        "recession": jnp.full((BASINS,), -2.5),
        "feedback": jnp.full((BASINS,), -0.5),
    }

    jax.block_until_ready(calibrate(params, rain, observed))

    start = time.perf_counter()
    losses = []
    for _ in range(STEPS):
        params, loss = calibrate(params, rain, observed)
        losses.append(loss)
    jax.block_until_ready((params, losses))
    elapsed = time.perf_counter() - start

    print(f"{STEPS} steps in {elapsed:.2f} s")
    spread = float(jnp.std(params["recession"]) * 1e3)
    print(f"checksum {float(losses[0]):.5f} {float(losses[-1]):.5f} {spread:.4f}")


if __name__ == "__main__":
    main()
