"""REINFORCE on CartPole from gymnax with a small equinox policy.

Episodes are cut at a fixed number of environment steps; the return-to-go is
discounted and the policy is updated once per batch of episodes.
"""

import time

import equinox as eqx
import gymnax
import jax
import jax.numpy as jnp
import optax

ENVS = 16
HORIZON = 64
GAMMA = 0.98

env, env_params = gymnax.make("CartPole-v1")


class Policy(eqx.Module):
    net: eqx.nn.MLP

    def __init__(self, key):
        self.net = eqx.nn.MLP(4, 2, width_size=64, depth=2, activation=jax.nn.tanh, key=key)

    def __call__(self, obs):
        return self.net(obs)


@eqx.filter_jit
def choose(policy, obs, key):
    logits = jax.vmap(policy)(obs)
    return jax.random.categorical(key, logits)


@jax.jit
def reset_all(key):
    return jax.vmap(env.reset, in_axes=(0, None))(jax.random.split(key, ENVS), env_params)


@jax.jit
def step_all(key, state, action):
    keys = jax.random.split(key, ENVS)
    return jax.vmap(env.step, in_axes=(0, 0, 0, None))(keys, state, action, env_params)


def collect(policy, key):
    """Observations, actions, rewards and ends of HORIZON steps in every environment."""
    key, sub = jax.random.split(key)
    obs, state = reset_all(sub)
    record = []
    for _ in range(HORIZON):
        key, act_key, env_key = jax.random.split(key, 3)
        action = choose(policy, obs, act_key)
        next_obs, state, reward, done, *_ = step_all(env_key, state, action)
        record.append((obs, action, reward, done))
        obs = next_obs
    return jax.tree.map(lambda *leaves: jnp.stack(leaves), *record)


def returns_to_go(rewards, dones):
    def body(carry, inputs):
        reward, done = inputs
        carry = reward + GAMMA * carry * (1.0 - done)
        return carry, carry

    _, returns = jax.lax.scan(body, jnp.zeros(ENVS), (rewards, dones), reverse=True)
    return returns


def policy_loss(policy, obs, action, advantage):
    logits = jax.vmap(jax.vmap(policy))(obs)
    log_prob = jnp.take_along_axis(jax.nn.log_softmax(logits), action[..., None], -1)[..., 0]
    return -jnp.mean(log_prob * advantage)


tx = optax.adam(3e-3)


@eqx.filter_jit
def improve(policy, opt_state, obs, action, reward, done):
    returns = returns_to_go(reward, done)
    advantage = (returns - returns.mean()) / (returns.std() + 1e-6)
    grads = eqx.filter_grad(policy_loss)(policy, obs, action, advantage)
    updates, opt_state = tx.update(grads, opt_state)
    return eqx.apply_updates(policy, updates), opt_state, reward.sum() / (done.sum() + 1)


def main():
    key = jax.random.key(0)
    policy = Policy(key)
    opt_state = tx.init(eqx.filter(policy, eqx.is_array))
    keys = jax.random.split(key, 42)
    for i in range(2):
        policy, opt_state, score = improve(policy, opt_state, *collect(policy, keys[i]))
    jax.block_until_ready(score)
    steps = 40
    start = time.perf_counter()
    for i in range(steps):
        policy, opt_state, score = improve(policy, opt_state, *collect(policy, keys[i + 2]))
    jax.block_until_ready(score)
    print(f"{steps} steps in {time.perf_counter() - start:.4f} s")
    weights = jax.tree.leaves(eqx.filter(policy, eqx.is_array))
    print("checksum", float(sum(jnp.abs(w).sum() for w in weights)))


if __name__ == "__main__":
    main()
