"""Train a softmax classifier with damped Newton steps and conjugate gradients."""
import time

import jax
import jax.numpy as jnp
import numpy as np
from jax.flatten_util import ravel_pytree

N_ROWS = 16_000
N_FEATURES = 10
N_CLASSES = 6
CG_ITERATIONS = 70
DAMPING = 0.02
N_STEPS = 100


def make_data(seed=17):
    rng = np.random.default_rng(seed)
    centres = rng.normal(size=(N_CLASSES, N_FEATURES))
    labels = rng.integers(N_CLASSES, size=N_ROWS)
    x = centres[labels] + 1.2 * rng.normal(size=(N_ROWS, N_FEATURES))
    return jnp.asarray(x, jnp.float32), jnp.asarray(labels)


def init_params(key):
    return {
        "w": 0.1 * jax.random.normal(key, (N_FEATURES, N_CLASSES)),
        "b": jnp.zeros(N_CLASSES),
    }


class NewtonTrainer:
    def __init__(self, x, labels, params):
        self.x, self.labels = x, labels
        self.theta, self.unravel = ravel_pytree(params)
        self._step = jax.jit(self.step_fn)

    def loss(self, theta):
        p = self.unravel(theta)
        logits = self.x @ p["w"] + p["b"]
        logp = jax.nn.log_softmax(logits)
        nll = -jnp.mean(jnp.take_along_axis(logp, self.labels[:, None], axis=1))
        return nll + 5e-3 * jnp.sum(theta**2)

    def direction(self, theta, gradient):
        curvature = jax.hessian(self.loss)(theta)

        def matvec(v):
            return curvature @ v + DAMPING * v

        solution, _ = jax.scipy.sparse.linalg.cg(matvec, -gradient, tol=1e-8, maxiter=CG_ITERATIONS)
        return solution

    def step_fn(self, theta):
        value, gradient = jax.value_and_grad(self.loss)(theta)
        return theta + 0.3 * self.direction(theta, gradient), value

    def step(self):
        self.theta, value = self._step(self.theta)
        return value


def main():
    x, labels = make_data()
    trainer = NewtonTrainer(x, labels, init_params(jax.random.PRNGKey(5)))
    jax.block_until_ready(trainer._step(trainer.theta))

    values = []
    start = time.perf_counter()
    for _ in range(N_STEPS):
        values.append(trainer.step())
    jax.block_until_ready(trainer.theta)
    elapsed = time.perf_counter() - start

    print(f"{N_STEPS} steps in {elapsed:.2f} s")
    print(f"checksum first={float(values[0]):.4f} last={float(values[-1]):.4f}")


if __name__ == "__main__":
    main()
