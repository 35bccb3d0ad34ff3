"""Fits a neural ordinary differential equation to decaying spirals, in the way of Diffrax's tutorial.

    python suites/programs/tutorial_diffrax.py --steps 60
"""

import argparse

import diffrax
import equinox as eqx
import jax
import jax.nn as jnn
import jax.numpy as jnp
import jax.random as jr
import optax


class Func(eqx.Module):
    mlp: eqx.nn.MLP

    def __init__(self, data_size, width_size, depth, *, key):
        self.mlp = eqx.nn.MLP(data_size, data_size, width_size, depth, activation=jnn.softplus, key=key)

    def __call__(self, t, y, args):
        return self.mlp(y)


class NeuralODE(eqx.Module):
    func: Func

    def __init__(self, data_size, width_size, depth, *, key):
        self.func = Func(data_size, width_size, depth, key=key)

    def __call__(self, ts, y0):
        solution = diffrax.diffeqsolve(
            diffrax.ODETerm(self.func),
            diffrax.Tsit5(),
            t0=ts[0],
            t1=ts[-1],
            dt0=ts[1] - ts[0],
            y0=y0,
            stepsize_controller=diffrax.PIDController(rtol=1e-3, atol=1e-6),
            saveat=diffrax.SaveAt(ts=ts),
        )
        return solution.ys


def get_data(dataset_size, *, key):
    ts = jnp.linspace(0, 10, 60)
    y0 = jr.uniform(key, (dataset_size, 2), minval=-0.6, maxval=1)

    def solve(y0):
        x = y0[0] * jnp.exp(-0.1 * ts) * jnp.cos(2 * ts)
        y = y0[1] * jnp.exp(-0.1 * ts) * jnp.sin(2 * ts)
        return jnp.stack([x, y], axis=-1)

    return ts, jax.vmap(solve)(y0)


def dataloader(arrays, batch_size, *, key):
    dataset_size = arrays[0].shape[0]
    indices = jnp.arange(dataset_size)
    while True:
        perm = jr.permutation(key, indices)
        (key,) = jr.split(key, 1)
        start, end = 0, batch_size
        while end < dataset_size:
            batch_perm = perm[start:end]
            yield tuple(array[batch_perm] for array in arrays)
            start, end = end, end + batch_size


@eqx.filter_value_and_grad
def grad_loss(model, ti, yi):
    y_pred = jax.vmap(model, in_axes=(None, 0))(ti, yi[:, 0])
    return jnp.mean((yi - y_pred) ** 2)


@eqx.filter_jit
def make_step(ti, yi, model, opt_state, optim):
    loss, grads = grad_loss(model, ti, yi)
    updates, opt_state = optim.update(grads, opt_state)
    return loss, eqx.apply_updates(model, updates), opt_state


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=60)
    options = parser.parse_args()
    data_key, model_key, loader_key = jr.split(jr.key(5678), 3)
    ts, ys = get_data(256, key=data_key)
    model = NeuralODE(2, 64, 2, key=model_key)
    optim = optax.adabelief(3e-3)
    opt_state = optim.init(eqx.filter(model, eqx.is_inexact_array))
    for step, (yi,) in zip(range(options.steps), dataloader((ys,), 32, key=loader_key)):
        loss, model, opt_state = make_step(ts, yi, model, opt_state, optim)
        if step % 20 == 0 or step == options.steps - 1:
            print(f"step {step}, loss {loss:.5f}")


if __name__ == "__main__":
    main()
