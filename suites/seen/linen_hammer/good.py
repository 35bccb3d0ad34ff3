"""Greenhouse climate control: many houses, one feedback policy that replans now and then."""
import time

import chex
import jax
import jax.numpy as jnp
import optax

HORIZON = 24
REPLAN_EVERY = 12


@chex.dataclass
class House:
    temperature: chex.Array
    humidity: chex.Array
    plan: chex.Array
    clock: chex.Array


def outside(clock):
    phase = 2 * jnp.pi * clock / 96.0
    return 8.0 + 6.0 * jnp.sin(phase), 0.6 - 0.2 * jnp.sin(phase)


def dynamics(temperature, humidity, clock, control):
    heat, vent = jax.nn.softplus(control[0]), jax.nn.sigmoid(control[1])
    t_out, h_out = outside(clock)
    leak = 0.03 + 0.2 * vent
    temperature = temperature + leak * (t_out - temperature) + 0.9 * heat
    humidity = humidity + 0.03 * (1 - humidity) + leak * (h_out - humidity)
    cost = 0.05 * (temperature - 21.0) ** 2 + 4.0 * (humidity - 0.7) ** 2 + 0.1 * heat**2
    return temperature, humidity, cost


def plan_cost(plan, temperature, humidity, clock):
    def body(carry, control):
        t, h, c = carry
        t, h, cost = dynamics(t, h, c, control)
        return (t, h, c + 1.0), cost

    _, costs = jax.lax.scan(body, (temperature, humidity, clock), plan)
    return jnp.sum(costs)


def replan(house):
    optimizer = optax.adam(0.1)

    def improve(carry, _):
        plan, opt_state = carry
        grads = jax.grad(plan_cost)(plan, house.temperature, house.humidity, house.clock)
        updates, opt_state = optimizer.update(grads, opt_state)
        return (optax.apply_updates(plan, updates), opt_state), None

    (plan, _), _ = jax.lax.scan(improve, (house.plan, optimizer.init(house.plan)), None, length=25)
    return plan


def control_step(house, age, disturbance):
    t, h, cost = dynamics(house.temperature, house.humidity, house.clock, house.plan[age])
    return House(
        temperature=t + disturbance, humidity=h, plan=house.plan, clock=house.clock + 1.0
    ), cost


def initial(key, n):
    k1, k2 = jax.random.split(key)
    return House(
        temperature=15.0 + 3.0 * jax.random.normal(k1, (n,)),
        humidity=jax.random.uniform(k2, (n,), minval=0.4, maxval=0.9),
        plan=jnp.zeros((n, HORIZON, 2)),
        clock=jnp.zeros((n,)),
    )


@jax.jit
def step_all(houses, tick, key):
    age = tick % REPLAN_EVERY
    plan = jax.lax.cond(age == 0, jax.vmap(replan), lambda h: h.plan, houses)
    houses = houses.replace(plan=plan)
    disturbance = 0.2 * jax.random.normal(key, houses.temperature.shape)
    return jax.vmap(control_step, in_axes=(0, None, 0))(houses, age, disturbance)


def main():
    key = jax.random.key(5)
    houses = initial(key, 1024)
    jax.block_until_ready(step_all(houses, jnp.int32(0), key))

    n_steps = 96
    costs = []
    start = time.perf_counter()
    for i in range(n_steps):
        houses, cost = step_all(houses, jnp.int32(i), jax.random.fold_in(key, i))
        costs.append(jnp.mean(cost))
    jax.block_until_ready((houses, costs))
    elapsed = time.perf_counter() - start

    print(f"{n_steps} steps in {elapsed:.3f} s")
    total = float(jnp.stack(costs).sum())
    print(f"checksum {total:.4f} {float(houses.temperature.mean()):.4f}")


if __name__ == "__main__":
    main()
