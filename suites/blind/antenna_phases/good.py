"""Phases of a large antenna array that give a wanted beam, with L-BFGS of optax."""

import time

import jax
import jax.numpy as jnp
import numpy as np
import optax

ELEMENTS = 600
ANGLES = 1500


def array_layout(seed):
    rng = np.random.default_rng(seed)
    return np.sort(rng.uniform(-60.0, 60.0, ELEMENTS)).astype(np.float32)


def steering(positions, angles):
    phase = 2.0 * jnp.pi * positions[None, :] * jnp.sin(angles)[:, None]
    return jnp.cos(phase), jnp.sin(phase)


def wanted_beam(angles):
    flat = jax.nn.sigmoid((angles + 0.3) * 40.0) * jax.nn.sigmoid((0.5 - angles) * 40.0)
    return 0.8 * flat + 0.02


class BeamShaper:
    """Least squares between the pattern of the array and the wanted beam."""

    def __init__(self, positions):
        self.angles = jnp.linspace(-1.2, 1.2, ANGLES)
        self.cosine, self.sine = steering(positions, self.angles)
        self.wanted = wanted_beam(self.angles)
        self.solver = optax.lbfgs(memory_size=8)

    def pattern(self, params):
        real = params["gain"] * jnp.cos(params["phase"])
        imag = params["gain"] * jnp.sin(params["phase"])
        field_real = self.cosine @ real - self.sine @ imag
        field_imag = self.sine @ real + self.cosine @ imag
        return jnp.sqrt(field_real**2 + field_imag**2 + 1e-8)

    def loss(self, params):
        fit = jnp.mean((self.pattern(params) - self.wanted) ** 2)
        return 100.0 * fit + 1e-2 * jnp.sum((params["gain"] * ELEMENTS / 20.0 - 1.0) ** 2)

    def step(self, params, state):
        value, grad = optax.value_and_grad_from_state(self.loss)(params, state=state)
        updates, state = self.solver.update(grad, state, params, value=value, grad=grad, value_fn=self.loss)
        return optax.apply_updates(params, updates), state, value


def initial_params():
    ramp = jnp.linspace(-1.0, 1.0, ELEMENTS)
    return {"phase": 4.0 * ramp**2, "gain": jnp.full(ELEMENTS, 20.0 / ELEMENTS)}


def main():
    shaper = BeamShaper(jnp.asarray(array_layout(2)))
    params = initial_params()
    state = shaper.solver.init(params)
    step = jax.jit(shaper.step)
    params, state, value = step(params, state)
    value.block_until_ready()

    start = time.perf_counter()
    steps = 200
    for _ in range(steps):
        params, state, value = step(params, state)
    value.block_until_ready()
    print(f"{steps} steps in {time.perf_counter() - start:.3f} s")
    print(f"checksum {float(value):.4f}")


if __name__ == "__main__":
    main()
