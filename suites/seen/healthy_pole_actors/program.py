"""Advantage actor-critic on many cart-poles of gymnax, rollout and update in one program."""

import time
from functools import partial

import flax.linen as nn
import gymnax
import jax
import jax.numpy as jnp
import optax
import rlax

ENVS = 256
HORIZON = 32

env, env_params = gymnax.make("CartPole-v1")


class ActorCritic(nn.Module):
    @nn.compact
    def __call__(self, seen):
        policy = nn.tanh(nn.Dense(128)(seen))
        policy = nn.tanh(nn.Dense(128)(policy))
        critic = nn.tanh(nn.Dense(128)(seen))
        critic = nn.tanh(nn.Dense(128)(critic))
        return nn.Dense(2)(policy), nn.Dense(1)(critic)[..., 0]


model = ActorCritic()
optimizer = optax.chain(optax.clip_by_global_norm(0.5), optax.adam(1e-3))


def rollout(params, env_state, seen, key):
    def tick(carry, key):
        env_state, seen = carry
        act_key, env_key = jax.random.split(key)
        logits, _ = model.apply(params, seen)
        action = jax.random.categorical(act_key, logits)
        following, env_state, reward, ended, cut, _ = jax.vmap(env.step, in_axes=(0, 0, 0, None))(
            jax.random.split(env_key, ENVS), env_state, action, env_params
        )
        return (env_state, following), (seen, action, reward, (ended | cut).astype(jnp.float32))

    return jax.lax.scan(tick, (env_state, seen), jax.random.split(key, HORIZON))


def actor_critic_loss(params, seen, action, reward, done, last_seen):
    logits, value = model.apply(params, seen)
    _, last_value = model.apply(params, last_seen)
    following = jnp.concatenate([value[1:], last_value[None]])
    returns = jax.vmap(rlax.lambda_returns, in_axes=(1, 1, 1, None), out_axes=1)(
        reward, 0.99 * (1.0 - done), following, 0.95
    )
    advantage = jax.lax.stop_gradient(returns) - value
    log_prob = jnp.take_along_axis(jax.nn.log_softmax(logits), action[..., None], axis=-1)[..., 0]
    policy_loss = -jnp.mean(log_prob * jax.lax.stop_gradient(advantage))
    return policy_loss + 0.5 * jnp.mean(advantage**2)


@partial(jax.jit, donate_argnums=(0, 1, 2, 3))
def train_step(params, opt_state, env_state, seen, key):
    (env_state, seen), batch = rollout(params, env_state, seen, key)
    loss, grads = jax.value_and_grad(actor_critic_loss)(params, *batch, seen)
    updates, opt_state = optimizer.update(grads, opt_state)
    ends = batch[3].sum()
    return optax.apply_updates(params, updates), opt_state, env_state, seen, loss, ends


def main():
    key = jax.random.key(0)
    seen, env_state = jax.vmap(env.reset, in_axes=(0, None))(jax.random.split(key, ENVS), env_params)
    params = model.init(key, seen)
    state = (params, optimizer.init(params), env_state, seen)
    *state, loss, _ = train_step(*state, key)
    loss.block_until_ready()

    start = time.perf_counter()
    steps = 50
    total_ends = []
    for step in range(steps):
        *state, loss, ends = train_step(*state, jax.random.fold_in(key, step))
        total_ends.append(ends)
    loss.block_until_ready()
    print(f"{steps} steps in {time.perf_counter() - start:.3f} s")
    print(f"checksum {float(loss):.3f} {int(jnp.stack(total_ends).sum())}")


if __name__ == "__main__":
    main()
