"""Learns the noise levels of many tracked objects with a batched Kalman filter and gradient steps."""
import time
from functools import partial

import jax
import jax.numpy as jnp
import numpy as np

TRACKS, TIMES = 512, 60


def tracks(seed=0):
    rng = np.random.default_rng(seed)
    q = rng.choice([0.05, 0.2, 0.5], TRACKS)
    r = rng.choice([0.3, 0.8], TRACKS)
    pos, vel = np.zeros(TRACKS), rng.standard_normal(TRACKS)
    out = np.empty((TRACKS, TIMES), np.float32)
    for t in range(TIMES):
        kick = q * rng.standard_normal(TRACKS)
        pos, vel = pos + vel + 0.5 * kick, vel + kick
        out[:, t] = pos + r * rng.standard_normal(TRACKS)
    return out, q, r


def log_likelihood(theta, y):
    """One track: scalar measurements of a constant-velocity model."""
    q2, r2 = jnp.exp(2 * theta[0]), jnp.exp(2 * theta[1])

    def step(carry, obs):
        pos, vel, p, c, s = carry                     # mean, and covariance [[p, c], [c, s]]
        pos, p, c, s = pos + vel, p + 2 * c + s + 0.25 * q2, c + s + 0.5 * q2, s + q2
        resid, var = obs - pos, p + r2
        gain_p, gain_v = p / var, c / var
        carry = (pos + gain_p * resid, vel + gain_v * resid,
                 p - gain_p * p, c - gain_p * c, s - gain_v * c)
        return carry, -0.5 * (jnp.log(2 * jnp.pi * var) + resid ** 2 / var)

    zero, prior = jnp.zeros(()), jnp.full((), 4.0)
    _, terms = jax.lax.scan(step, (zero, zero, prior, zero, prior), y)
    return jnp.sum(terms)


def penalised(theta, y):
    return -(log_likelihood(theta, y) - 0.5 * jnp.sum((theta + 1.0) ** 2)) / TIMES


@partial(jax.jit, static_argnums=3)
def descend(theta, momentum, y, steps):
    """Heavy-ball steps of every track's own two parameters."""
    value_and_grad = jax.vmap(jax.value_and_grad(penalised))

    def body(carry, _):
        theta, momentum = carry
        value, grad = value_and_grad(theta, y)
        norm = jnp.linalg.norm(grad, axis=1, keepdims=True)
        momentum = 0.8 * momentum + grad / jnp.maximum(1.0, norm)
        return (theta - 0.05 * momentum, momentum), jnp.mean(value)

    (theta, momentum), values = jax.lax.scan(body, (theta, momentum), length=steps)
    return theta, momentum, values


def main(rounds=60, steps=40):
    y, q, r = tracks()
    y = jnp.asarray(y)
    theta = jnp.full((TRACKS, 2), -1.0)
    momentum = jnp.zeros_like(theta)
    jax.block_until_ready(descend(theta, momentum, y, steps))
    curve = []
    t0 = time.perf_counter()
    for _ in range(rounds):
        theta, momentum, values = descend(theta, momentum, y, steps)
        curve.append(float(values[-1]))
    print(f"{rounds * steps} steps in {time.perf_counter() - t0:.2f} s")
    sigma = np.exp(np.asarray(theta))
    corr = np.corrcoef(sigma[:, 0], q)[0, 1], np.corrcoef(sigma[:, 1], r)[0, 1]
    print(f"checksum {curve[0]:.4f} {curve[-1]:.4f} {corr[0]:.3f} {corr[1]:.3f}")


if __name__ == "__main__":
    main()
