"""Penalty strengths of a credit-default model, tuned by gradients through the fit."""

import time

import jax
import jax.numpy as jnp
import jaxopt
import numpy as np
import optax

APPLICANTS = 1500
FEATURES = 120
GROUPS = 6


def make_loans(seed):
    rng = np.random.default_rng(seed)
    table = rng.normal(size=(2 * APPLICANTS, FEATURES)).astype(np.float32)
    truth = np.where(np.arange(FEATURES) < 25, rng.normal(size=FEATURES), 0.0) * 0.6
    odds = table @ truth + 0.5 * rng.normal(size=2 * APPLICANTS)
    default = (odds > 0.0).astype(np.float32)
    return (table[:APPLICANTS], default[:APPLICANTS]), (table[APPLICANTS:], default[APPLICANTS:])


def log_loss(weights, table, default):
    logits = table @ weights
    return jnp.mean(jax.nn.softplus(logits) - default * logits)


def penalised_loss(weights, log_strength, table, default):
    strength = jnp.repeat(jnp.exp(log_strength), FEATURES // GROUPS)
    return log_loss(weights, table, default) + 0.5 * jnp.sum(strength * weights**2)


class PenaltyTuner:
    """Outer loop over the penalty strengths; the inner fit runs to convergence."""

    def __init__(self, train, valid, rate=0.1):
        self.train = train
        self.valid = valid
        self.solver = jaxopt.GradientDescent(
            penalised_loss,
            stepsize=0.5,
            maxiter=300,
            tol=1e-5,
            acceleration=True,
            implicit_diff=False,
        )
        self.optimizer = optax.adam(rate)
        self.step = jax.jit(self._step)

    def outer_loss(self, log_strength):
        start = jnp.zeros(FEATURES)
        weights = self.solver.run(start, log_strength, *self.train).params
        return log_loss(weights, *self.valid)

    def _step(self, log_strength, opt_state):
        loss, grads = jax.value_and_grad(self.outer_loss)(log_strength)
        updates, opt_state = self.optimizer.update(grads, opt_state)
        return optax.apply_updates(log_strength, updates), opt_state, loss


def main():
    train, valid = jax.tree.map(jnp.asarray, make_loans(3))
    tuner = PenaltyTuner(train, valid)
    log_strength = jnp.full((GROUPS,), jnp.log(0.05))
    opt_state = tuner.optimizer.init(log_strength)
    log_strength, opt_state, loss = tuner.step(log_strength, opt_state)
    loss.block_until_ready()

    start = time.perf_counter()
    steps = 30
    for _ in range(steps):
        log_strength, opt_state, loss = tuner.step(log_strength, opt_state)
    loss.block_until_ready()
    print(f"{steps} steps in {time.perf_counter() - start:.3f} s")
    print(f"checksum {float(loss):.5f} {float(log_strength.mean()):.4f}")


if __name__ == "__main__":
    main()
