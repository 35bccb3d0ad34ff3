"""Batched cave-exploration environments with procedurally generated maps and a linear policy."""
import time
from typing import NamedTuple

import distrax
import jax
import jax.numpy as jnp
import optax
import rlax

SIZE = 48
N_ENVS = 24
HORIZON = 16
ROLLOUT = 32
N_STEPS = 20
MOVES = jnp.array([[0, 1], [1, 0], [0, -1], [-1, 0]])


class CaveState(NamedTuple):
    rock: jax.Array
    position: jax.Array
    visited: jax.Array
    clock: jax.Array


class CaveEnv:
    """Explore a cave; a new cave is dug when the lamp runs out."""

    def dig(self, key):
        noise = jax.random.uniform(key, (SIZE, SIZE))

        def erode(_, height):
            padded = jnp.pad(height, 1, mode="edge")
            around = padded[2:, 1:-1] + padded[:-2, 1:-1] + padded[1:-1, 2:] + padded[1:-1, :-2]
            return jnp.tanh(1.6 * (0.5 * height + 0.125 * around - 0.45)) * 0.5 + 0.5

        height = jax.lax.fori_loop(0, 8, erode, noise)
        return height > jnp.quantile(height, 0.6)

    def reset(self, key):
        rock = self.dig(key).at[SIZE // 2, SIZE // 2].set(False)
        start = jnp.array([SIZE // 2, SIZE // 2])
        return CaveState(rock, start, jnp.zeros((SIZE, SIZE), bool), jnp.array(0))

    def observe(self, state):
        view = jax.lax.dynamic_slice(jnp.pad(state.rock, 3, constant_values=True), state.position, (7, 7))
        seen = jax.lax.dynamic_slice(jnp.pad(state.visited, 3), state.position, (7, 7))
        return jnp.concatenate([view.ravel(), seen.ravel()]).astype(jnp.float32)

    def step(self, state, action):
        target = jnp.clip(state.position + MOVES[action], 0, SIZE - 1)
        blocked = state.rock[target[0], target[1]]
        position = jnp.where(blocked, state.position, target)
        reward = 1.0 - state.visited[position[0], position[1]].astype(jnp.float32)
        visited = state.visited.at[position[0], position[1]].set(True)
        state = CaveState(state.rock, position, visited, state.clock + 1)
        return state, reward, state.clock >= HORIZON


env = CaveEnv()


def step_all(states, actions, keys):
    def step_one(state, action, key):
        state, reward, done = env.step(state, action)
        state = jax.lax.cond(done, lambda: env.reset(key), lambda: state)
        return state, reward, done

    return jax.vmap(step_one)(states, actions, keys)


def rollout(params, states, key):
    def body(states, key):
        k_act, k_env = jax.random.split(key)
        obs = jax.vmap(env.observe)(states)
        actions = distrax.Categorical(logits=obs @ params).sample(seed=k_act)
        states, reward, done = step_all(states, actions, jax.random.split(k_env, N_ENVS))
        return states, (obs, actions, reward, done)

    return jax.lax.scan(body, states, jax.random.split(key, ROLLOUT))


def policy_loss(params, obs, actions, returns):
    logits = obs @ params
    loss = jax.vmap(rlax.policy_gradient_loss, in_axes=(1, 1, 1, None))(
        logits, actions, returns - jnp.mean(returns), jnp.ones(ROLLOUT))
    return jnp.mean(loss)


def main():
    optimizer = optax.adam(0.02)
    params = jnp.zeros((98, 4))
    opt_state = optimizer.init(params)
    key = jax.random.PRNGKey(0)
    states = jax.jit(jax.vmap(env.reset))(jax.random.split(key, N_ENVS))

    @jax.jit
    def iteration(params, opt_state, states, key):
        states, (obs, actions, reward, done) = rollout(params, states, key)
        discount = 0.95 * (1.0 - done.astype(jnp.float32))
        returns = jax.vmap(rlax.discounted_returns, in_axes=(1, 1, None), out_axes=1)(reward, discount, 0.0)
        grads = jax.grad(policy_loss)(params, obs, actions, returns)
        updates, opt_state = optimizer.update(grads, opt_state)
        return optax.apply_updates(params, updates), opt_state, states, jnp.mean(reward)

    jax.block_until_ready(iteration(params, opt_state, states, key))
    start = time.perf_counter()
    rewards = []
    for k in jax.random.split(key, N_STEPS):
        params, opt_state, states, reward = iteration(params, opt_state, states, k)
        rewards.append(reward)
    jax.block_until_ready((params, rewards))
    elapsed = time.perf_counter() - start

    print(f"{N_STEPS} steps in {elapsed:.3f} s")
    print(f"checksum {float(sum(rewards)):.5f} {float(jnp.abs(params).sum()):.4f}")


if __name__ == "__main__":
    main()
