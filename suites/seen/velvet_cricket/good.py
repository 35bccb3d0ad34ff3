"""Categorical VAE with a Gumbel-softmax latent and temperature annealing."""
import time

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import optax


class Encoder(eqx.Module):
    layers: list
    n_vars: int = eqx.field(static=True)
    n_cats: int = eqx.field(static=True)

    def __init__(self, d_in, d_hidden, n_vars, n_cats, key):
        k1, k2, k3 = jax.random.split(key, 3)
        self.layers = [
            eqx.nn.Linear(d_in, d_hidden, key=k1),
            eqx.nn.Linear(d_hidden, d_hidden, key=k2),
            eqx.nn.Linear(d_hidden, n_vars * n_cats, key=k3),
        ]
        self.n_vars = n_vars
        self.n_cats = n_cats

    def __call__(self, x):
        for layer in self.layers[:-1]:
            x = jax.nn.relu(layer(x))
        return self.layers[-1](x).reshape(self.n_vars, self.n_cats)


class CategoricalVAE(eqx.Module):
    encoder: Encoder
    decoder: eqx.nn.MLP

    def __init__(self, d_in, d_hidden, n_vars, n_cats, key):
        k1, k2 = jax.random.split(key)
        self.encoder = Encoder(d_in, d_hidden, n_vars, n_cats, k1)
        self.decoder = eqx.nn.MLP(n_vars * n_cats, d_in, d_hidden, 2, key=k2)

    def __call__(self, x, key, temperature):
        logits = self.encoder(x)
        gumbel = jax.random.gumbel(key, logits.shape)
        z = jax.nn.softmax((logits + gumbel) / temperature, axis=-1)
        return self.decoder(z.reshape(-1)), logits


def elbo(model, x, key, temperature):
    keys = jax.random.split(key, x.shape[0])
    recon, logits = jax.vmap(model, in_axes=(0, 0, None))(x, keys, temperature)
    bce = optax.sigmoid_binary_cross_entropy(recon, x).sum(-1)
    logq = jax.nn.log_softmax(logits, axis=-1)
    kl = (jnp.exp(logq) * (logq + jnp.log(logits.shape[-1]))).sum((-1, -2))
    return jnp.mean(bce + kl)


optim = optax.adam(3e-4)


@eqx.filter_jit
def train_step(model, opt_state, x, key, temperature):
    loss, grads = eqx.filter_value_and_grad(elbo)(model, x, key, temperature)
    updates, opt_state = optim.update(grads, opt_state)
    return eqx.apply_updates(model, updates), opt_state, loss


class TemperatureSchedule:
    def __init__(self, start=1.0, floor=0.4, rate=0.04, every=45):
        self.start, self.floor, self.rate, self.every = start, floor, rate, every

    def __call__(self, step):
        n = step // self.every
        return max(self.floor, float(self.start * np.exp(-self.rate * n)))


def make_data(n, d, rng):
    proto = rng.random((12, d)) < 0.3
    pick = rng.integers(0, 12, n)
    flip = rng.random((n, d)) < 0.05
    return np.logical_xor(proto[pick], flip).astype(np.float32)


def main():
    rng = np.random.default_rng(4)
    data = jnp.asarray(make_data(8192, 400, rng))
    model = CategoricalVAE(400, 256, 20, 10, jax.random.PRNGKey(0))
    opt_state = optim.init(eqx.filter(model, eqx.is_inexact_array))
    schedule = TemperatureSchedule()
    key = jax.random.PRNGKey(1)
    n_steps, batch = 100, 384
    losses = []

    def run(step, model, opt_state):
        lo = (step * batch) % (data.shape[0] - batch + 1)
        x = data[lo:lo + batch]
        temperature = jnp.asarray(schedule(step))
        return train_step(model, opt_state, x, jax.random.fold_in(key, step), temperature)

    model, opt_state, _ = run(0, model, opt_state)
    t0 = time.perf_counter()
    for step in range(1, n_steps + 1):
        model, opt_state, loss = run(step, model, opt_state)
        losses.append(loss)
    losses = np.asarray(jax.block_until_ready(losses))
    t = time.perf_counter() - t0
    print(f"{n_steps} steps in {t:.3f} s")
    print(f"checksum {losses.mean():.5f} {losses[-20:].mean():.5f}")


if __name__ == "__main__":
    main()
