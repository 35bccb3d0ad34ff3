"""Learn per-group shrinkage of a ridge model by differentiating through the inner solver."""
import time

import jax
import jax.numpy as jnp
import jaxopt
import numpy as np
import optax

N_GROUPS, PER_GROUP = 8, 25


def assay(seed, n):
    rng = np.random.default_rng(seed)
    weights = np.random.default_rng(99).normal(size=(N_GROUPS, PER_GROUP))
    weights *= np.array([1.5, 0.0, 0.6, 0.0, 0.3, 0.0, 1.0, 0.0])[:, None]
    x = rng.normal(size=(n, N_GROUPS * PER_GROUP)) / np.sqrt(PER_GROUP)
    y = x @ weights.ravel() + 1.0 * rng.normal(size=n)
    return jnp.asarray(x, jnp.float32), jnp.asarray(y, jnp.float32)


def inner_objective(w, log_penalty, data):
    x, y = data
    penalty = jnp.repeat(jnp.exp(log_penalty), PER_GROUP)
    residual = x @ w - y
    return 0.5 * jnp.mean(residual**2) + 0.5 * jnp.mean(penalty * w**2)


class ShrinkageTuner:
    def __init__(self, train, valid):
        self.train = train
        self.valid = valid
        self.solver = jaxopt.GradientDescent(
            inner_objective,
            maxiter=120,
            stepsize=3.0,
            tol=0.0,
            acceleration=True,
            implicit_diff=False,
        )
        self.optimizer = optax.adam(0.1)

    def validation_loss(self, log_penalty):
        w0 = jnp.zeros(N_GROUPS * PER_GROUP)
        w = self.solver.run(w0, log_penalty, self.train).params
        x, y = self.valid
        return jnp.mean((x @ w - y) ** 2), w

    def step(self, log_penalty, opt_state):
        (loss, w), grads = jax.value_and_grad(self.validation_loss, has_aux=True)(log_penalty)
        updates, opt_state = self.optimizer.update(grads, opt_state)
        return optax.apply_updates(log_penalty, updates), opt_state, loss, w


def main():
    tuner = ShrinkageTuner(assay(0, 900), assay(1, 400))
    log_penalty = jnp.zeros(N_GROUPS)
    opt_state = tuner.optimizer.init(log_penalty)
    step = jax.jit(tuner.step)
    jax.block_until_ready(step(log_penalty, opt_state))

    n_steps = 45
    losses = []
    start = time.perf_counter()
    for _ in range(n_steps):
        log_penalty, opt_state, loss, w = step(log_penalty, opt_state)
        losses.append(loss)
    jax.block_until_ready((log_penalty, losses))
    elapsed = time.perf_counter() - start

    print(f"{n_steps} steps in {elapsed:.3f} s")
    print(f"penalties {np.round(np.asarray(log_penalty), 2)}")
    print(f"checksum {float(losses[-1]):.5f} {float(jnp.linalg.norm(w)):.5f}")


if __name__ == "__main__":
    main()
