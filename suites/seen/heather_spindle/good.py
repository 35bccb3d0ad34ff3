"""Fit a small neural closure to pendulum data with several restarts, loss curves kept for plots."""
import time

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import optax


class Closure(eqx.Module):
    net: eqx.nn.MLP
    damping: jax.Array

    def __init__(self, key):
        self.net = eqx.nn.MLP(2, 1, width_size=16, depth=2, activation=jnp.tanh, key=key)
        self.damping = jnp.array(0.1)

    def acceleration(self, state):
        return self.net(state)[0] - self.damping * state[1]


def pendulum_samples(seed, n=64):
    rng = np.random.default_rng(seed)
    state = rng.uniform(-2.0, 2.0, size=(n, 2)).astype(np.float32)
    accel = -np.sin(state[:, 0]) - 0.25 * state[:, 1] + 0.01 * rng.normal(size=n)
    return jnp.asarray(state), jnp.asarray(accel, jnp.float32)


class Curve:
    def __init__(self):
        self.values = []

    def extend(self, losses):
        self.values.extend(np.asarray(losses).ravel().tolist())

    def tail(self, n):
        return float(np.mean(self.values[-n:]))


class Fitter:
    def __init__(self, iterations=400):
        self.iterations = iterations
        schedule = optax.cosine_decay_schedule(1e-2, iterations)
        self.optimizer = optax.chain(optax.clip_by_global_norm(1.0), optax.adam(schedule))

    def loss(self, model, state, accel):
        return jnp.mean((jax.vmap(model.acceleration)(state) - accel) ** 2)

    @eqx.filter_jit
    def fit(self, key, state, accel):
        model = Closure(key)
        params, static = eqx.partition(model, eqx.is_inexact_array)

        def iteration(carry, _):
            params, opt_state = carry
            loss, grads = jax.value_and_grad(
                lambda p: self.loss(eqx.combine(p, static), state, accel)
            )(params)
            updates, opt_state = self.optimizer.update(grads, opt_state, params)
            params = optax.apply_updates(params, updates)
            return (params, opt_state), loss

        carry = (params, self.optimizer.init(params))
        (params, _), losses = jax.lax.scan(iteration, carry, None, length=self.iterations)
        return eqx.combine(params, static), losses


def main():
    curve = Curve()
    fitter = Fitter()
    state, accel = pendulum_samples(0)
    key = jax.random.key(0)
    jax.block_until_ready(eqx.filter(fitter.fit(key, state, accel)[0], eqx.is_array))

    n_steps = 45
    dampings, losses = [], []
    start = time.perf_counter()
    for i in range(n_steps):
        model, loss = fitter.fit(jax.random.fold_in(key, i), state, accel)
        dampings.append(model.damping)
        losses.append(loss)
    curve.extend(jax.block_until_ready(jnp.concatenate(losses)))
    jax.block_until_ready(dampings)
    elapsed = time.perf_counter() - start

    print(f"{n_steps} steps in {elapsed:.3f} s")
    print(f"{len(curve.values)} losses recorded, last fit {curve.tail(20):.5f}")
    print(f"checksum {float(np.mean(curve.values)):.5f} {float(jnp.stack(dampings).mean()):.5f}")


if __name__ == "__main__":
    main()
