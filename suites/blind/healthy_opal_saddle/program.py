"""Fit of a predator-prey model to a panel of lakes with an adaptive ODE solver."""
import time

import diffrax
import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import optax

N_LAKES = 512
N_OBS = 40
N_STEPS = 120


class LakeModel(eqx.Module):
    log_growth: jax.Array
    log_rates: jax.Array

    def __init__(self):
        self.log_growth = jnp.zeros(N_LAKES)
        self.log_rates = jnp.log(jnp.array([0.9, 1.1, 0.4]))


def vector_field(t, y, args):
    growth, (predation, death, conversion) = args
    prey, predator = jnp.exp(y)
    return jnp.stack([growth - predation * predator, conversion * prey - death])


def simulate(log_growth, log_rates, initial, times):
    solution = diffrax.diffeqsolve(
        diffrax.ODETerm(vector_field),
        diffrax.Tsit5(),
        t0=times[0],
        t1=times[-1],
        dt0=0.05,
        y0=initial,
        args=(jnp.exp(log_growth), jnp.exp(log_rates)),
        saveat=diffrax.SaveAt(ts=times),
        stepsize_controller=diffrax.PIDController(rtol=1e-4, atol=1e-5),
        max_steps=1024,
    )
    return solution.ys


def loss_fn(model, initial, times, observed):
    predicted = jax.vmap(simulate, in_axes=(0, None, 0, None))(
        model.log_growth, model.log_rates, initial, times
    )
    prior = 0.1 * jnp.mean(model.log_growth**2)
    return jnp.mean((predicted - observed) ** 2) + prior


def synth_panel(rng, times):
    growth = np.log(rng.uniform(0.5, 1.0, N_LAKES))
    rates = np.log(np.array([0.8, 0.9, 0.5]))
    initial = np.log(rng.uniform(0.8, 2.0, (N_LAKES, 2)))
    run = jax.jit(jax.vmap(simulate, in_axes=(0, None, 0, None)))
    clean = run(jnp.asarray(growth), jnp.asarray(rates), jnp.asarray(initial), times)
    noise = 0.05 * rng.normal(size=clean.shape)
    return jnp.asarray(initial, jnp.float32), clean + jnp.asarray(noise, jnp.float32)


def main():
    times = jnp.linspace(0.0, 12.0, N_OBS)
    initial, observed = synth_panel(np.random.default_rng(7), times)
    optimizer = optax.adam(optax.cosine_decay_schedule(0.03, N_STEPS))
    model = LakeModel()
    opt_state = optimizer.init(model)

    @jax.jit
    def update(model, opt_state):
        loss, grads = jax.value_and_grad(loss_fn)(model, initial, times, observed)
        updates, opt_state = optimizer.update(grads, opt_state, model)
        return optax.apply_updates(model, updates), opt_state, loss

    jax.block_until_ready(update(model, opt_state))

    start = time.perf_counter()
    losses = []
    for _ in range(N_STEPS):
        model, opt_state, loss = update(model, opt_state)
        losses.append(loss)
    jax.block_until_ready((model, losses))
    elapsed = time.perf_counter() - start

    print(f"{N_STEPS} steps in {elapsed:.3f} s")
    print(f"checksum {float(sum(losses)):.5f} {float(losses[-1]):.5f}")


if __name__ == "__main__":
    main()
