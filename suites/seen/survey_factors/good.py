"""Factor analysis of a survey: many questions, few attitudes behind them."""

import time

import jax
import jax.numpy as jnp
import numpy as np
import numpyro
import numpyro.distributions as dist
from numpyro.infer import SVI, Trace_ELBO, init_to_value
from numpyro.infer.autoguide import AutoDelta

QUESTIONS = 160
PEOPLE = 200
FACTORS = 4


def make_answers(rng):
    """Standardised answers with loadings in blocks, as in a planned questionnaire."""
    loadings = 0.2 * rng.normal(size=(QUESTIONS, FACTORS))
    block = np.arange(QUESTIONS) * FACTORS // QUESTIONS
    loadings[np.arange(QUESTIONS), block] += 0.9
    attitudes = rng.normal(size=(PEOPLE, FACTORS))
    noise = rng.uniform(0.4, 0.9, size=QUESTIONS) * rng.normal(size=(PEOPLE, QUESTIONS))
    answers = attitudes @ loadings.T + noise
    answers = (answers - answers.mean(axis=0)) / answers.std(axis=0)
    return jnp.asarray(answers, jnp.float32)


def model(answers):
    mean = numpyro.sample("mean", dist.Normal(0.0, 1.0).expand([QUESTIONS]).to_event(1))
    loadings = numpyro.sample(
        "loadings", dist.Normal(0.0, 0.5).expand([QUESTIONS, FACTORS]).to_event(2)
    )
    unique = numpyro.sample("unique", dist.LogNormal(-0.5, 0.5).expand([QUESTIONS]).to_event(1))
    with numpyro.plate("people", answers.shape[0]):
        numpyro.sample("answers", dist.LowRankMultivariateNormal(mean, loadings, unique), obs=answers)


def start_values():
    """A little asymmetry lets the factors find different questions."""
    question = jnp.arange(QUESTIONS)[:, None]
    loadings = 0.3 * jnp.cos(jnp.pi * (jnp.arange(FACTORS) + 0.5) * question / QUESTIONS)
    values = {"mean": jnp.zeros(QUESTIONS), "loadings": loadings, "unique": 0.6 * jnp.ones(QUESTIONS)}
    return init_to_value(values=values)


def communality(params):
    """Part of the variance that the factors explain."""
    loadings, unique = params["loadings_auto_loc"], params["unique_auto_loc"]
    shared = jnp.sum(loadings**2, axis=1)
    return float(jnp.mean(shared / (shared + unique)))


def main():
    answers = make_answers(np.random.default_rng(2))
    guide = AutoDelta(model, init_loc_fn=start_values())
    svi = SVI(model, guide, numpyro.optim.Adam(0.02), Trace_ELBO())
    state = svi.init(jax.random.PRNGKey(1), answers)
    update = jax.jit(svi.update)
    jax.block_until_ready(update(state, answers))

    start = time.perf_counter()
    losses = []
    for _ in range(100):
        state, loss = update(state, answers)
        losses.append(loss)
    losses = jnp.stack(losses) / PEOPLE
    last = float(losses[-1])
    print(f"{len(losses)} steps in {time.perf_counter() - start:.3f} s")
    print(f"checksum {last:.5f} {communality(svi.get_params(state)):.5f}")


if __name__ == "__main__":
    main()
