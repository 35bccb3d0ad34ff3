"""Fits the figure of a lens to a measured wavefront by L-BFGS (optax)."""

import time

import jax
import jax.numpy as jnp
import optax

SIDE, DEGREE = 160, 8


def powers():
    """The monomials up to the degree, a column each, on the pixels of a square."""
    line = jnp.linspace(-1.0, 1.0, SIDE)
    x, y = (axis.ravel() for axis in jnp.meshgrid(line, line))
    return jnp.stack([x**i * y**j for i in range(DEGREE) for j in range(DEGREE - i)], axis=1)


def wavefront(coefficients, basis):
    height = basis @ coefficients
    return jnp.sin(3.0 * height) + height


def misfit(coefficients, basis, measured):
    return jnp.mean((wavefront(coefficients, basis) - measured) ** 2)


def main():
    key, noise_key = jax.random.split(jax.random.key(4))
    basis = powers()
    truth = 0.4 * jax.random.normal(key, (basis.shape[1],))
    measured = wavefront(truth, basis) + 0.01 * jax.random.normal(noise_key, (SIDE * SIDE,))

    solver = optax.lbfgs()
    value_and_grad = optax.value_and_grad_from_state(misfit)

    @jax.jit
    def polish(coefficients, basis, measured):
        """Up to forty steps, or until the gradient is small."""

        def step(carry):
            coefficients, state = carry
            value, grad = value_and_grad(coefficients, basis, measured, state=state)
            updates, state = solver.update(
                grad, state, coefficients, value=value, grad=grad, value_fn=misfit, basis=basis, measured=measured
            )
            return optax.apply_updates(coefficients, updates), state

        def goes_on(carry):
            _, state = carry
            count = optax.tree.get(state, "count")
            return (count == 0) | ((count < 40) & (optax.tree.norm(optax.tree.get(state, "grad")) > 1e-6))

        coefficients, state = jax.lax.while_loop(goes_on, step, (coefficients, solver.init(coefficients)))
        return coefficients, optax.tree.get(state, "value")

    starts = [truth * scale for scale in (0.6, 0.7, 0.8, 0.9, 1.1, 1.2, 1.3, 1.4)]
    jax.block_until_ready(polish(starts[0], basis, measured))
    start = time.perf_counter()
    found = [polish(one, basis, measured) for one in starts]
    jax.block_until_ready(found)
    print(f"{len(starts)} steps in {time.perf_counter() - start:.4f} s")
    print("checksum", float(found[0][1]), float(found[-1][1]))


if __name__ == "__main__":
    main()
