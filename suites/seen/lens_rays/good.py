"""Calibration of a wide lens from a board of dots: Gauss-Newton with damping."""

import time
from typing import NamedTuple

import jax
import jax.numpy as jnp

DOTS = 1400
ROUNDS = 30
PARAMETERS = 9


class Fit(NamedTuple):
    theta: jax.Array
    damping: jax.Array
    cost: jax.Array


def rotate(angles, points):
    """Turns points by small Euler angles."""
    cx, cy, cz = jnp.cos(angles)
    sx, sy, sz = jnp.sin(angles)
    about_x = jnp.array([[1.0, 0.0, 0.0], [0.0, cx, -sx], [0.0, sx, cx]])
    about_y = jnp.array([[cy, 0.0, sy], [0.0, 1.0, 0.0], [-sy, 0.0, cy]])
    about_z = jnp.array([[cz, -sz, 0.0], [sz, cz, 0.0], [0.0, 0.0, 1.0]])
    return points @ (about_z @ about_y @ about_x).T


def project(theta, dots):
    """Pixels of the dots; theta holds the pose, the focal length and two distortions."""
    angles, shift, focal, distortion = theta[:3], theta[3:6], theta[6], theta[7:]
    board = jnp.concatenate([dots, jnp.zeros((len(dots), 1))], axis=1)
    seen = rotate(angles, board) + shift + jnp.array([0.0, 0.0, 3.0])
    plane = seen[:, :2] / seen[:, 2:]
    square = jnp.sum(plane**2, axis=1, keepdims=True)
    bent = plane * (1.0 + distortion[0] * square + distortion[1] * square**2)
    return jnp.exp(focal) * bent


def residuals(theta, dots, pixels):
    return (project(theta, dots) - pixels).reshape(-1)


@jax.jit
def gauss_newton(fit, dots, pixels):
    """One damped step; the damping grows when the step fails."""
    misfit = residuals(fit.theta, dots, pixels)
    jacobian = jax.jacfwd(residuals)(fit.theta, dots, pixels)
    normal = jacobian.T @ jacobian + fit.damping * jnp.eye(PARAMETERS)
    trial = fit.theta - jnp.linalg.solve(normal, jacobian.T @ misfit)
    cost = jnp.sum(residuals(trial, dots, pixels) ** 2)
    better = cost < fit.cost
    return Fit(
        jnp.where(better, trial, fit.theta),
        jnp.where(better, 0.5 * fit.damping, 4.0 * fit.damping),
        jnp.where(better, cost, fit.cost),
    )


def calibrate(theta, dots, pixels, rounds):
    fit = Fit(theta, jnp.array(1.0), jnp.sum(residuals(theta, dots, pixels) ** 2))
    for _ in range(rounds):
        fit = gauss_newton(fit, dots, pixels)
    return fit


def main():
    keys = jax.random.split(jax.random.key(8), 3)
    truth = jnp.array([0.2, -0.15, 0.1, 0.1, -0.05, 0.2, 0.4, -0.12, 0.03])
    dots = jax.random.uniform(keys[0], (DOTS, 2), minval=-1.5, maxval=1.5)
    pixels = project(truth, dots) + 0.002 * jax.random.normal(keys[1], (DOTS, 2))
    guess = truth + 0.05 * jax.random.normal(keys[2], (PARAMETERS,))
    jax.block_until_ready(calibrate(guess, dots, pixels, 1))

    start = time.perf_counter()
    fit = jax.block_until_ready(calibrate(guess, dots, pixels, ROUNDS))
    print(f"{ROUNDS} steps in {time.perf_counter() - start:.3f} s")
    print(f"checksum {fit.cost * 1e3:.5f} {fit.theta[0]:.4f} {fit.theta[1]:.4f} {fit.theta[7]:.4f}")


if __name__ == "__main__":
    main()
