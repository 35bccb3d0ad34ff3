"""Model-predictive path integral control of many drones in wind, in one batch."""
import time

import torch

torch.set_num_threads(1)


class Drone:
    """Planar quadrotor; leading axes are (x, y, tilt, vx, vy, spin) and (lift, torque)."""

    dt = 0.05
    gravity = 9.81

    def __init__(self, drag=0.15):
        self.drag = drag

    def step(self, state, control, wind=0.0):
        x, y, tilt, vx, vy, spin = state.unbind(0)
        lift, torque = control.unbind(0)
        thrust = self.gravity + lift
        ax = -thrust * tilt.sin() - self.drag * (vx - wind)
        ay = thrust * tilt.cos() - self.gravity - self.drag * vy
        dt = self.dt
        vx, vy, spin = vx + dt * ax, vy + dt * ay, spin + dt * (8.0 * torque - 0.5 * spin)
        return torch.stack([x + dt * vx, y + dt * vy, tilt + dt * spin, vx, vy, spin])


class PathIntegral:
    def __init__(self, drone, drones, samples, horizon, generator, temperature=0.3):
        self.drone = drone
        self.samples = samples
        self.generator = generator
        self.temperature = temperature
        self.plan = torch.zeros(horizon, 2, drones)
        self.spread = torch.tensor([1.5, 0.5])[:, None, None]
        self.limit = torch.tensor([6.0, 2.0])[:, None, None]
        self.weight = torch.tensor([1.0, 1.0, 0.3, 0.1, 0.1, 0.05])

    def penalty(self, state, goal):
        return torch.tensordot(self.weight, (state - goal).square(), dims=1)

    def rollout_cost(self, state, goal, controls):
        state = state[:, None].expand(-1, self.samples, -1)
        goal = goal[:, None]
        cost = torch.zeros(state.shape[1:])
        for control in controls:
            state = self.drone.step(state, control)
            cost += self.penalty(state, goal)
        return cost + 5.0 * self.penalty(state, goal)

    def act(self, state, goal):
        horizon, _, drones = self.plan.shape
        noise = torch.randn(horizon, 2, self.samples, drones, generator=self.generator)
        controls = noise.mul_(self.spread).add_(self.plan[:, :, None])
        controls.clamp_(-self.limit, self.limit)
        cost = self.rollout_cost(state, goal, controls)
        weight = torch.softmax(-cost / (self.temperature * cost.std(0)), dim=0)
        self.plan = torch.einsum("sd,hcsd->hcd", weight, controls)
        action = self.plan[0]
        self.plan = torch.cat([self.plan[1:], self.plan[-1:]])
        return action


@torch.inference_mode()
def main(steps=90, drones=64, samples=512, horizon=20):
    generator = torch.Generator().manual_seed(27)
    drone = Drone()
    controller = PathIntegral(drone, drones, samples, horizon, generator)
    state = torch.zeros(6, drones)
    state[:2] = 2.0 * torch.randn(2, drones, generator=generator)
    goal = torch.zeros(6, drones)
    gusts = 1.5 * torch.randn(steps, drones, generator=generator)

    distance = torch.empty(steps)
    begin = time.perf_counter()
    for step in range(steps):
        action = controller.act(state, goal)
        state = drone.step(state, action, gusts[step])
        distance[step] = (state[:2] - goal[:2]).norm(dim=0).mean()
    elapsed = time.perf_counter() - begin

    print(f"mean distance {distance[0]:.3f} -> {distance[-1]:.3f}")
    print(f"{steps} steps in {elapsed:.3f} s")
    print(f"checksum {distance.sum():.4f} {state.abs().sum():.4f}")


if __name__ == "__main__":
    main()
