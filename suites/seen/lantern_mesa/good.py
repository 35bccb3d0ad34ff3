"""Cross-entropy method for planning: steer a point mass through wind with a sequence of thrusts."""
import logging
import time

import torch

torch.set_num_threads(1)
logging.basicConfig(level=logging.INFO, format="%(asctime)s %(name)s %(levelname)s %(message)s")
log = logging.getLogger("planner")

HORIZON, POPULATION, ELITES = 24, 256, 32


class WindField:
    """A smooth stationary wind made of a few vortices."""

    def __init__(self, vortices=6, seed=3):
        gen = torch.Generator().manual_seed(seed)
        self.centres = torch.rand(vortices, 2, generator=gen) * 10.0
        self.strength = torch.randn(vortices, generator=gen)

    def __call__(self, position):
        offset = position.unsqueeze(1) - self.centres
        weight = self.strength / (1.0 + offset.square().sum(-1))
        swirl = torch.stack([-offset[..., 1], offset[..., 0]], dim=-1)
        return (weight.unsqueeze(-1) * swirl).sum(1)


def rollout_cost(plans, start, goal, wind, dt=0.25):
    """Cost of every plan (population, horizon, 2) from the same start."""
    position = start[:2].expand(len(plans), 2)
    velocity = start[2:].expand(len(plans), 2)
    cost = torch.zeros(len(plans))
    for t in range(plans.shape[1]):
        velocity = velocity + dt * (plans[:, t] + wind(position) - 0.2 * velocity)
        position = position + dt * velocity
        cost = cost + (position - goal).square().sum(-1) + 0.05 * plans[:, t].square().sum(-1)
    return cost


class CrossEntropyPlanner:
    def __init__(self, wind, smoothing=0.3):
        self.wind = wind
        self.smoothing = smoothing
        self.mean = torch.zeros(HORIZON, 2)
        self.std = torch.ones(HORIZON, 2)

    def reset(self):
        self.mean = torch.cat([self.mean[1:], torch.zeros(1, 2)])
        self.std = torch.ones(HORIZON, 2)

    def iterate(self, start, goal):
        noise = torch.randn(POPULATION, HORIZON, 2)
        plans = self.mean + self.std * noise
        cost = rollout_cost(plans, start, goal, self.wind)
        best = cost.topk(ELITES, largest=False)
        elite = plans[best.indices]
        self.mean = self.smoothing * self.mean + (1 - self.smoothing) * elite.mean(0)
        self.std = self.smoothing * self.std + (1 - self.smoothing) * elite.std(0)
        log.debug("start %s goal %s best %.4f", start, goal, best.values[0])
        log.debug("mean %s std %s cost %s elites %s", self.mean, self.std, cost, elite)
        return best.values[0]


def control(planner, state, goal, iterations, dt=0.25):
    """Plan, apply the first thrust to the true system, shift the plan."""
    for _ in range(iterations):
        value = planner.iterate(state, goal)
    thrust = planner.mean[0]
    velocity = state[2:] + dt * (thrust + planner.wind(state[None, :2])[0] - 0.2 * state[2:])
    position = state[:2] + dt * velocity
    planner.reset()
    return torch.cat([position, velocity]), value


@torch.no_grad()
def main(steps=140, iterations=5):
    torch.manual_seed(0)
    goal = torch.tensor([8.0, 6.0])
    planner = CrossEntropyPlanner(WindField())
    state = torch.tensor([1.0, 1.0, 0.0, 0.0])
    state, value = control(planner, state, goal, iterations)

    path = []
    begin = time.perf_counter()
    for step in range(steps):
        state, value = control(planner, state, goal, iterations)
        path.append(state)
        if step % 25 == 0:
            log.info("step %d cost %.3f distance %.3f", step, value, torch.dist(state[:2], goal))
    elapsed = time.perf_counter() - begin
    print(f"{steps} steps in {elapsed:.2f} s")
    path = torch.stack(path)
    print(f"checksum {path.mean().item():.5f} {path.norm().item():.5f}")


if __name__ == "__main__":
    main()
