"""Fits a mixture of von Mises distributions to the directions of the wind (optax)."""

import time

import jax
import jax.numpy as jnp
import numpy as np
import optax


def log_bessel(kappa):
    """The logarithm of the scaled modified Bessel function of order zero."""
    return jnp.log(jax.scipy.special.i0e(kappa))


def log_density(params, angles):
    kappa = jnp.exp(params["log_kappa"] + 0.3 * params["season"][:, None])
    aligned = jnp.cos(angles[..., None] - params["direction"]) - 1.0
    each = kappa[:, None] * aligned - log_bessel(kappa)[:, None] - jnp.log(2 * jnp.pi)
    return jax.nn.logsumexp(each + jax.nn.log_softmax(params["weight"]), axis=-1)


def winds(seasons, count):
    rng = np.random.default_rng(3)
    kind = rng.integers(0, 2, size=(seasons, count))
    return jnp.asarray(rng.vonmises(np.where(kind, 0.8, -2.0), np.where(kind, 4.0, 2.0)), jnp.float32)


def main():
    angles = winds(seasons=60, count=20)
    params = {"log_kappa": jnp.zeros(3), "direction": jnp.array([-2.5, 0.0, 2.5]), "weight": jnp.zeros(3), "season": jnp.zeros(60)}
    tx = optax.adam(0.02)

    @jax.jit
    def fit(params, opt_state):
        def update(_, carry):
            params, opt_state, _ = carry
            value, grads = jax.value_and_grad(lambda p: -log_density(p, angles).mean())(params)
            updates, opt_state = tx.update(grads, opt_state)
            return optax.apply_updates(params, updates), opt_state, value

        return jax.lax.fori_loop(0, 40, update, (params, opt_state, 0.0))

    params, opt_state, value = fit(params, tx.init(params))
    value.block_until_ready()
    steps = 6
    start = time.perf_counter()
    for _ in range(steps):
        params, opt_state, value = fit(params, opt_state)
    value.block_until_ready()
    print(f"{steps} steps in {time.perf_counter() - start:.4f} s")
    print("checksum", float(value))


if __name__ == "__main__":
    main()
