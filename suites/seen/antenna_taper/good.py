"""Phases of an antenna array that put the beam where it is wanted and nowhere else."""

import time

import jax
import jax.numpy as jnp
import numpy as np
from scipy.optimize import minimize

jax.config.update("jax_enable_x64", True)

ELEMENTS, ANGLES = 32, 600
SIGHT = jnp.linspace(-jnp.pi / 2, jnp.pi / 2, ANGLES)
PLACES = jnp.arange(ELEMENTS) - (ELEMENTS - 1) / 2


def array_factor(weights):
    """Complex field of the array over all directions."""
    phase, gain = weights[:ELEMENTS], jnp.exp(weights[ELEMENTS:])
    steering = jnp.pi * jnp.sin(SIGHT)[:, None] * PLACES
    signal = gain * jnp.exp(1j * (steering + phase))
    return signal.sum(axis=1) / ELEMENTS


@jax.jit
def beam_loss(weights, target):
    power = jnp.square(jnp.abs(array_factor(weights)))
    inside = jnp.abs(SIGHT - target) < 0.05
    main_lobe = jnp.where(inside, power, 0.0).sum() / inside.sum()
    side_lobes = jnp.where(jnp.abs(SIGHT - target) > 0.1, power, 0.0).sum() / ANGLES
    return jnp.square(main_lobe - 0.7) + 20.0 * side_lobes + 1e-3 * jnp.square(weights[ELEMENTS:]).mean()


beam_gradient = jax.jit(jax.value_and_grad(beam_loss))


def design(target):
    """The best weights for a beam in one direction."""

    def objective(weights):
        loss, gradient = beam_gradient(weights, target)
        return float(loss), np.asarray(gradient)

    first = np.concatenate([-np.pi * np.sin(target) * np.asarray(PLACES), np.zeros(ELEMENTS)])
    best = minimize(objective, first, jac=True, method="L-BFGS-B", options={"maxiter": 15})
    return best.fun, best.x


def main():
    targets = np.linspace(-0.6, 0.6, 4)
    jax.block_until_ready(beam_gradient(np.zeros(2 * ELEMENTS), targets[0]))
    start = time.perf_counter()
    losses = [design(target)[0] for target in targets]
    print(f"{len(targets)} steps in {time.perf_counter() - start:.4f} s")
    print("checksum", float(np.sum(losses)))


if __name__ == "__main__":
    main()
