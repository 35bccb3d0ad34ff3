"""Variational inference with a coupling flow for a posterior of a sensor network."""
import time

import distrax
import haiku as hk
import jax
import jax.numpy as jnp
import numpy as np
import optax

DIM = 24
N_COUPLINGS = 4
HIDDEN = 256
N_SAMPLES = 512
N_STEPS = 100


def make_target(rng):
    anchors = jnp.asarray(rng.normal(size=(DIM // 2, 2)), jnp.float32)
    ranges = jnp.asarray(rng.uniform(0.5, 1.5, size=(DIM // 2,)), jnp.float32)

    def log_density(x):
        points = x.reshape(x.shape[:-1] + (DIM // 2, 2))
        dist = jnp.sqrt(jnp.sum((points - anchors) ** 2, axis=-1) + 1e-6)
        fit = -jnp.sum((dist - ranges) ** 2, axis=-1) / (2 * 0.2**2)
        prior = -0.5 * jnp.sum(x**2, axis=-1)
        return fit + prior

    return log_density


def conditioner(n_params):
    return hk.Sequential([
        hk.Linear(HIDDEN), jax.nn.gelu,
        hk.Linear(HIDDEN), jax.nn.gelu,
        hk.Linear(DIM * n_params, w_init=hk.initializers.RandomNormal(0.01)),
        hk.Reshape((DIM, n_params), preserve_dims=-1),
    ])


def build_flow():
    def bijector_fn(params):
        return distrax.ScalarAffine(shift=params[..., 0], log_scale=jnp.tanh(params[..., 1]))

    layers = []
    mask = jnp.arange(DIM) % 2 == 0
    for _ in range(N_COUPLINGS):
        layers.append(distrax.MaskedCoupling(mask=mask, bijector=bijector_fn, conditioner=conditioner(2)))
        mask = jnp.logical_not(mask)
    base = distrax.Independent(distrax.Normal(jnp.zeros(DIM), jnp.ones(DIM)), 1)
    return distrax.Transformed(base, distrax.Chain(layers))


def draw(key):
    flow = build_flow()
    samples, log_q = flow.sample_and_log_prob(seed=key, sample_shape=(N_SAMPLES,))
    return samples, log_q


def main():
    log_density = make_target(np.random.default_rng(5))
    model = hk.without_apply_rng(hk.transform(draw))
    params = model.init(jax.random.PRNGKey(0), jax.random.PRNGKey(1))
    optimizer = optax.chain(optax.clip_by_global_norm(10.0), optax.adam(5e-4))
    opt_state = optimizer.init(params)

    def elbo_loss(params, key):
        samples, log_q = model.apply(params, key)
        return jnp.mean(log_q - log_density(samples))

    @jax.jit
    def update(params, opt_state, key):
        loss, grads = jax.value_and_grad(elbo_loss)(params, key)
        updates, opt_state = optimizer.update(grads, opt_state, params)
        return optax.apply_updates(params, updates), opt_state, loss

    keys = jax.random.split(jax.random.PRNGKey(2), N_STEPS)
    jax.block_until_ready(update(params, opt_state, keys[0]))

    start = time.perf_counter()
    losses = []
    for key in keys:
        params, opt_state, loss = update(params, opt_state, key)
        losses.append(loss)
    jax.block_until_ready((params, losses))
    elapsed = time.perf_counter() - start

    print(f"{N_STEPS} steps in {elapsed:.3f} s")
    print(f"checksum {float(jnp.mean(jnp.stack(losses))):.5f} {float(losses[-1]):.5f}")


if __name__ == "__main__":
    main()
