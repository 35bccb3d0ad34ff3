"""Advantage actor-critic on a batch of simulated docking tasks, with RLax."""
import time
from functools import partial
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import optax
import rlax

SHIPS, HORIZON, OBS, ACTIONS, HIDDEN = 256, 32, 4, 5, 64
GAMMA, LAMBDA = 0.97, 0.9
THRUST = jnp.array([[0, 0], [1, 0], [-1, 0], [0, 1], [0, -1]], jnp.float32)


class Ship(NamedTuple):
    pos: jax.Array
    vel: jax.Array


def observe(ship):
    return jnp.concatenate([ship.pos, ship.vel], -1)


def fly(ship, action):
    vel = 0.97 * ship.vel + 0.08 * THRUST[action]
    pos = jnp.clip(ship.pos + vel, -3, 3)
    reward = -0.1 * jnp.linalg.norm(pos, axis=-1) - 0.05 * jnp.sum(vel ** 2, -1)
    return Ship(pos, vel), reward


def launch(key):
    k1, k2 = jax.random.split(key)
    return Ship(jax.random.uniform(k1, (SHIPS, 2), minval=-2, maxval=2),
                0.05 * jax.random.normal(k2, (SHIPS, 2)))


def init(key):
    k = jax.random.split(key, 4)
    mat = lambda key, a, b, s=1.0: s * jax.random.normal(key, (a, b)) / jnp.sqrt(a)
    return {"w1": mat(k[0], OBS, HIDDEN), "b1": jnp.zeros(HIDDEN), "w2": mat(k[1], HIDDEN, HIDDEN),
            "b2": jnp.zeros(HIDDEN), "pi": mat(k[2], HIDDEN, ACTIONS, 0.1), "v": mat(k[3], HIDDEN, 1, 0.1)}


def network(params, obs):
    h = jnp.tanh(obs @ params["w1"] + params["b1"])
    h = jnp.tanh(h @ params["w2"] + params["b2"])
    return h @ params["pi"], (h @ params["v"])[..., 0]


def rollout(params, key, ship):
    def step(ship, key):
        obs = observe(ship)
        logits, _ = network(params, obs)
        action = jax.random.categorical(key, logits)
        ship, reward = fly(ship, action)
        return ship, (obs, action, reward)

    ship, (obs, action, reward) = jax.lax.scan(step, ship, jax.random.split(key, HORIZON))
    return obs, action, reward, observe(ship)


def loss_fn(params, obs, action, reward, last_obs):
    logits, values = network(params, obs)                       # (time, ships, ...)
    _, last_value = network(params, last_obs)
    v_next = jax.lax.stop_gradient(jnp.concatenate([values[1:], last_value[None]]))
    discount = jnp.full_like(reward, GAMMA)
    returns = jax.vmap(partial(rlax.lambda_returns, lambda_=LAMBDA), in_axes=1, out_axes=1)(
        reward, discount, v_next)
    advantage = jax.lax.stop_gradient(returns - values)
    weights = jnp.ones_like(reward)
    actor = jax.vmap(rlax.policy_gradient_loss, in_axes=1)(logits, action, advantage, weights)
    entropy = jax.vmap(rlax.entropy_loss, in_axes=1)(logits, weights)
    critic = 0.5 * jnp.mean((values - returns) ** 2)
    return jnp.mean(actor) + critic + 0.005 * jnp.mean(entropy)


OPTIMIZER = optax.chain(optax.clip_by_global_norm(1.0), optax.adam(1e-3))


@partial(jax.jit, donate_argnums=(0, 1))
def update(params, opt_state, key):
    k1, k2 = jax.random.split(key)
    obs, action, reward, last_obs = rollout(params, k2, launch(k1))
    grads = jax.grad(loss_fn)(params, obs, action, reward, last_obs)
    updates, opt_state = OPTIMIZER.update(grads, opt_state)
    return optax.apply_updates(params, updates), opt_state, jnp.mean(reward)


def main(steps=180):
    params = init(jax.random.key(0))
    opt_state = OPTIMIZER.init(params)
    params, opt_state, _ = update(params, opt_state, jax.random.key(1))
    curve = []
    t0 = time.perf_counter()
    for key in jax.random.split(jax.random.key(2), steps):
        params, opt_state, reward = update(params, opt_state, key)
        curve.append(reward)
    curve = np.asarray(jnp.stack(curve))
    print(f"{steps} steps in {time.perf_counter() - t0:.2f} s")
    print(f"checksum {curve[:20].mean():.4f} {curve[-20:].mean():.4f}")


if __name__ == "__main__":
    main()
