"""Posterior of a logistic regression with BlackJAX (window adaptation and NUTS)."""
import time

import blackjax
import jax
import jax.numpy as jnp
import numpy as np

N_ROWS = 3000
N_FEATURES = 16
N_DRAWS = 9000


def make_data(seed=2):
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(N_ROWS, N_FEATURES))
    w = rng.normal(size=N_FEATURES) * 0.7
    y = rng.random(N_ROWS) < 1 / (1 + np.exp(-(x @ w - 0.3)))
    return jnp.asarray(x, jnp.float32), jnp.asarray(y, jnp.float32)


def make_logdensity(x, y):
    def logdensity(params):
        logits = x @ params["w"] + params["b"]
        loglik = jnp.sum(y * logits - jax.nn.softplus(logits))
        return loglik - 0.5 * jnp.sum(params["w"] ** 2) - 0.125 * params["b"] ** 2

    return logdensity


def make_inference(kernel):
    @jax.jit
    def inference(key, state):
        def one_step(state, key):
            state, info = kernel(key, state)
            return state, (state.position, info.acceptance_rate)

        return jax.lax.scan(one_step, state, jax.random.split(key, N_DRAWS))

    return inference


def main():
    x, y = make_data()
    logdensity = make_logdensity(x, y)
    start = {"w": jnp.zeros(N_FEATURES), "b": jnp.zeros(())}
    key_warm, key_compile, key_run = jax.random.split(jax.random.PRNGKey(0), 3)

    adaptation = blackjax.window_adaptation(blackjax.nuts, logdensity)
    (state, parameters), _ = adaptation.run(key_warm, start, num_steps=300)
    kernel = blackjax.nuts(logdensity, **parameters).step
    inference = make_inference(kernel)
    inference = inference.lower(key_compile, state).compile()

    begin = time.perf_counter()
    state, (positions, acceptance) = inference(key_run, state)
    jax.block_until_ready(positions)
    elapsed = time.perf_counter() - begin

    print(f"{N_DRAWS} steps in {elapsed:.2f} s")
    print(
        f"checksum w0={float(positions['w'][:, 0].mean()):.3f} "
        f"b={float(positions['b'].mean()):.3f} accept={float(acceptance.mean()):.2f}"
    )


if __name__ == "__main__":
    main()
