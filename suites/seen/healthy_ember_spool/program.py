"""Fitting a neural ODE to spirals with equinox, diffrax and optax."""
import time

import diffrax
import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import optax


class Field(eqx.Module):
    net: eqx.nn.MLP

    def __init__(self, dim, width, key):
        self.net = eqx.nn.MLP(dim, dim, width, 2, activation=jax.nn.tanh, key=key)

    def __call__(self, t, y, args):
        return self.net(y)


class NeuralODE(eqx.Module):
    field: Field

    def __call__(self, ts, y0):
        sol = diffrax.diffeqsolve(
            diffrax.ODETerm(self.field),
            diffrax.Tsit5(),
            t0=ts[0],
            t1=ts[-1],
            dt0=ts[1] - ts[0],
            y0=y0,
            saveat=diffrax.SaveAt(ts=ts),
            stepsize_controller=diffrax.PIDController(rtol=1e-3, atol=1e-4),
            max_steps=128,
        )
        return sol.ys


def spirals(n, ts, rng):
    angle = rng.uniform(0, 2 * np.pi, (n, 1))
    radius = rng.uniform(0.6, 1.4, (n, 1))
    decay = np.exp(-0.2 * ts)[None]
    phase = angle + 1.5 * ts[None]
    return np.stack([radius * decay * np.cos(phase), radius * decay * np.sin(phase)], -1)


optim = optax.adam(3e-3)


@eqx.filter_jit(donate="all-except-first")
def train_step(data, model, opt_state):
    ts, ys = data

    def loss_fn(model):
        pred = jax.vmap(model, in_axes=(None, 0))(ts, ys[:, 0])
        return jnp.mean((pred - ys) ** 2)

    loss, grads = eqx.filter_value_and_grad(loss_fn)(model)
    updates, opt_state = optim.update(grads, opt_state)
    return eqx.apply_updates(model, updates), opt_state, loss


def main():
    rng = np.random.default_rng(2)
    ts = np.linspace(0.0, 4.0, 24).astype(np.float32)
    ys = spirals(512, ts, rng).astype(np.float32)
    model = NeuralODE(Field(2, 64, jax.random.PRNGKey(1)))
    opt_state = optim.init(eqx.filter(model, eqx.is_inexact_array))
    batch, n_steps = 64, 160
    device_ts, device_ys = jnp.asarray(ts), jnp.asarray(ys)

    def take(step):
        lo = (step * batch) % len(ys)
        return device_ts, device_ys[lo:lo + batch]

    model, opt_state, _ = train_step(take(0), model, opt_state)
    losses = []
    t0 = time.perf_counter()
    for step in range(1, n_steps + 1):
        model, opt_state, loss = train_step(take(step), model, opt_state)
        losses.append(loss)
    losses = np.asarray(jax.block_until_ready(losses))
    t = time.perf_counter() - t0
    print(f"{n_steps} steps in {t:.3f} s")
    print(f"checksum {losses.mean():.5f} {losses[-1]:.6f}")


if __name__ == "__main__":
    main()
