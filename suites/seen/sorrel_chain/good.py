"""Bayesian logistic regression with BlackJAX (Hamiltonian Monte Carlo).

Synthetic clinical data: six standardised covariates and a binary outcome.  We
draw from the posterior of the coefficients and report means, standard
deviations and the acceptance rate.
"""
import time
from functools import partial

import blackjax
import jax
import jax.numpy as jnp
import numpy as np

N_PATIENTS = 80
N_COVARIATES = 6
N_DRAWS = 6000
STEP_SIZE = 0.12
LEAPFROG_STEPS = 8
PRIOR_SCALE = 2.0


def make_data(seed=0):
    """Covariates with an intercept column, and outcomes from a known model."""
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(N_PATIENTS, N_COVARIATES))
    x = np.concatenate([np.ones((N_PATIENTS, 1)), x], axis=1)
    beta = np.array([-0.4, 1.0, -0.8, 0.5, 0.0, 0.3, -0.2])
    p = 1.0 / (1.0 + np.exp(-x @ beta))
    y = rng.uniform(size=N_PATIENTS) < p
    return jnp.asarray(x, jnp.float32), jnp.asarray(y, jnp.float32)


X, Y = make_data()


def log_density(beta):
    """Log posterior up to a constant."""
    logits = X @ beta
    log_likelihood = jnp.sum(Y * logits - jax.nn.softplus(logits))
    log_prior = -0.5 * jnp.sum((beta / PRIOR_SCALE) ** 2)
    return log_likelihood + log_prior


def make_sampler():
    return blackjax.hmc(
        log_density,
        step_size=STEP_SIZE,
        inverse_mass_matrix=jnp.ones(N_COVARIATES + 1),
        num_integration_steps=LEAPFROG_STEPS,
    )


hmc = make_sampler()


@partial(jax.jit, static_argnames="n_draws")
def run_chain(key, state, n_draws):
    def one_draw(state, sub):
        state, info = hmc.step(sub, state)
        return state, (state.position, info.acceptance_rate)

    return jax.lax.scan(one_draw, state, jax.random.split(key, n_draws))


def sample(key, state, n_draws):
    """Run the chain; positions and acceptance rates of all the draws."""
    state, (positions, acceptance) = run_chain(key, state, n_draws)
    return state, np.array(positions), np.array(acceptance)


def effective_sample_size(draws):
    """Crude effective sample size from batch means, per coefficient."""
    n_batches = 50
    usable = len(draws) // n_batches * n_batches
    batch_means = draws[:usable].reshape(n_batches, -1, draws.shape[1]).mean(1)
    batch_size = usable // n_batches
    return len(draws) * draws.var(0) / (batch_size * batch_means.var(0))


def report(draws, acceptance):
    """Posterior summary as printable lines."""
    names = ["intercept"] + [f"x{i}" for i in range(1, N_COVARIATES + 1)]
    ess = effective_sample_size(draws)
    lines = []
    for i, name in enumerate(names):
        lines.append(
            f"{name:>10s}  mean {draws[:, i].mean():6.2f}"
            f"  sd {draws[:, i].std():5.2f}  ess {ess[i]:7.0f}"
        )
    lines.append(f"acceptance {acceptance.mean():.3f}")
    return "\n".join(lines)


def main():
    state = hmc.init(jnp.zeros(N_COVARIATES + 1))
    burn_key, run_key = jax.random.split(jax.random.PRNGKey(7))

    # burn-in, which is the warm-up of the program too
    state, _, _ = sample(burn_key, state, N_DRAWS)

    start = time.perf_counter()
    state, draws, acceptance = sample(run_key, state, N_DRAWS)
    elapsed = time.perf_counter() - start

    print(report(draws, acceptance))
    print(f"{N_DRAWS} steps in {elapsed:.2f} s")
    print(f"checksums {draws[:, 1].mean():.4f} {draws[:, 1].std():.4f} {acceptance.mean():.4f}")


if __name__ == "__main__":
    main()
