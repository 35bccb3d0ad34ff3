"""Retrieval of an atmospheric refractivity profile by quasi-Newton minimisation."""
import time

import jax
import jax.numpy as jnp
import numpy as np
import optax

N_RAYS = 1500
N_LAYERS = 800
N_SOUNDINGS = 8
MAX_ITER = 30


def make_geometry(rng):
    tangent = np.sort(rng.uniform(0.0, 30.0, N_RAYS))
    heights = np.linspace(0.0, 40.0, N_LAYERS)
    width = 0.4 + 0.05 * tangent[:, None]
    path = np.exp(-0.5 * ((heights[None] - tangent[:, None]) / width) ** 2)
    path = path / path.sum(axis=1, keepdims=True)
    return jnp.asarray(path, jnp.float32), jnp.asarray(heights, jnp.float32)


def synth_sounding(rng, path, heights):
    scale = rng.uniform(6.5, 8.0)
    profile = np.exp(-np.asarray(heights) / scale)
    profile += 0.05 * np.exp(-0.5 * ((np.asarray(heights) - rng.uniform(8, 14)) / 1.5) ** 2)
    bending = np.asarray(path) @ profile
    return jnp.asarray(bending + 0.002 * rng.normal(size=bending.shape), jnp.float32)


def forward(profile, path):
    density = jax.nn.softplus(profile)

    def scatter(carry, _):
        carry = jnp.tanh(path @ carry) @ path + 0.5 * carry
        return carry / (1.0 + jnp.max(carry)), None

    diffused, _ = jax.lax.scan(scatter, density, length=20)
    return path @ (density + 0.05 * diffused)


def misfit(profile, path, measured):
    residual = (forward(profile, path) - measured) / 0.01
    rough = jnp.diff(profile, n=2) / 0.05
    return 0.5 * jnp.mean(residual**2) + 0.5 * jnp.mean(rough**2)


class Retrieval:
    def __init__(self, path):
        self.path = path
        self.optimizer = optax.lbfgs(memory_size=8)
        self.iterate = jax.jit(self._iterate)

    def _iterate(self, params, state, measured):
        objective = lambda p: misfit(p, self.path, measured)
        value, grad = jax.value_and_grad(objective)(params)
        updates, state = self.optimizer.update(
            grad, state, params, value=value, grad=grad, value_fn=objective
        )
        params = optax.apply_updates(params, updates)
        return params, state, value

    def solve(self, measured):
        params = jnp.full((N_LAYERS,), -1.0)
        state = self.optimizer.init(params)
        history = []
        for _ in range(MAX_ITER):
            params, state, value = self.iterate(params, state, measured)
            history.append(value)
        return params, jnp.stack(history)


def main():
    rng = np.random.default_rng(4)
    path, heights = make_geometry(rng)
    soundings = [synth_sounding(rng, path, heights) for _ in range(N_SOUNDINGS)]
    retrieval = Retrieval(path)
    jax.block_until_ready(retrieval.solve(soundings[0]))

    start = time.perf_counter()
    results = jax.block_until_ready([retrieval.solve(s) for s in soundings])
    elapsed = time.perf_counter() - start

    final = sum(float(h[-1]) for _, h in results)
    print(f"{N_SOUNDINGS * MAX_ITER} steps in {elapsed:.3f} s")
    print(f"checksum {final:.6f} {sum(float(jnp.mean(p)) for p, _ in results):.6f}")


if __name__ == "__main__":
    main()
