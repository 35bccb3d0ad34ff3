"""Equilibrium of an economic network: calibration of trade weights against observed output."""
import time

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import optax
import optimistix as optx

N_SECTORS = 160
N_REGIONS = 32
N_STEPS = 160


class TradeModel(eqx.Module):
    logits: jax.Array
    shock: jax.Array
    bias: jax.Array

    def __init__(self, n, key):
        k1, k2 = jax.random.split(key)
        self.logits = 0.5 * jax.random.normal(k1, (n, n))
        self.shock = 0.3 * jax.random.normal(k2, (n,))
        self.bias = jnp.zeros((n,))

    def respond(self, output, demand):
        share = 0.95 * jax.nn.softmax(self.logits, axis=-1)
        return jnp.tanh(share @ output + self.shock * demand + self.bias) + 0.05 * demand


def equilibrium(model, demand):
    solver = optx.FixedPointIteration(rtol=1e-5, atol=1e-6)
    solution = optx.fixed_point(
        lambda y, args: args[0].respond(y, args[1]),
        solver,
        y0=jnp.full_like(demand, 0.5),
        args=(model, demand),
        max_steps=256,
        adjoint=optx.RecursiveCheckpointAdjoint(),
        throw=False,
    )
    return solution.value


def calibration_loss(model, demands, observed):
    predicted = jax.vmap(equilibrium, in_axes=(None, 0))(model, demands)
    weights = jax.nn.softmax(model.logits, axis=-1)
    entropy = -jnp.mean(jnp.sum(weights * jnp.log(weights + 1e-9), axis=-1))
    return jnp.mean((predicted - observed) ** 2) + 1e-4 * entropy


class Calibrator:
    def __init__(self, learning_rate):
        self.optimizer = optax.adam(learning_rate)

    def init(self, model):
        return self.optimizer.init(eqx.filter(model, eqx.is_array))

    @eqx.filter_jit
    def update(self, model, state, demands, observed):
        loss, grads = eqx.filter_value_and_grad(calibration_loss)(model, demands, observed)
        updates, state = self.optimizer.update(grads, state, model)
        return eqx.apply_updates(model, updates), state, loss


def main():
    rng = np.random.default_rng(8)
    demands = jnp.asarray(rng.uniform(0.2, 1.0, (N_REGIONS, N_SECTORS)), jnp.float32)
    observed = jnp.asarray(rng.uniform(0.2, 0.9, (N_REGIONS, N_SECTORS)), jnp.float32)
    model = TradeModel(N_SECTORS, jax.random.PRNGKey(1))
    calibrator = Calibrator(2e-3)
    state = calibrator.init(model)
    jax.block_until_ready(calibrator.update(model, state, demands, observed)[2])

    start = time.perf_counter()
    losses = []
    for _ in range(N_STEPS):
        model, state, loss = calibrator.update(model, state, demands, observed)
        losses.append(loss)
    jax.block_until_ready((losses, model.logits))
    elapsed = time.perf_counter() - start

    print(f"{N_STEPS} steps in {elapsed:.3f} s")
    print(f"checksum {float(sum(losses)):.5f} {float(losses[-1]):.5f}")


if __name__ == "__main__":
    main()
