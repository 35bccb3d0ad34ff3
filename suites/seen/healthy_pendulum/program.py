"""Advantage actor-critic for swinging up a pendulum, with many environments side by side.

All pendulums are simulated as one batch of tensors. Rollouts are collected without a graph; each update
then evaluates the whole rollout at once and makes a single policy-gradient step.
"""
import math
import time

import torch
import torch.nn as nn
import torch.nn.functional as F

torch.set_num_threads(1)

ENVS = 256
HORIZON = 32
STEPS = 30
GAMMA = 0.97
LAMBDA = 0.95


class Pendulums:
    """A batch of torque-controlled pendulums; angle zero is upright."""

    def __init__(self, n, generator):
        self.generator = generator
        self.angle = math.pi * (2 * torch.rand(n, generator=generator) - 1)
        self.speed = 2 * torch.rand(n, generator=generator) - 1

    def observe(self):
        return torch.stack([self.angle.cos(), self.angle.sin(), self.speed / 4], dim=1)

    def step(self, action):
        torque = (action - 1) * 2.0  # three actions: left, none, right
        wrapped = torch.remainder(self.angle + math.pi, 2 * math.pi) - math.pi
        reward = -(wrapped.square() + 0.1 * self.speed.square()) / 5
        speed = self.speed + 0.05 * (15 * self.angle.sin() + 3 * torque)
        self.speed = speed.clamp(-8, 8)
        self.angle = self.angle + 0.05 * self.speed
        return reward


class ActorCritic(nn.Module):
    def __init__(self, hidden=128):
        super().__init__()
        self.body = nn.Sequential(
            nn.Linear(3, hidden), nn.Tanh(), nn.Linear(hidden, hidden), nn.Tanh()
        )
        self.policy = nn.Linear(hidden, 3)
        self.value = nn.Linear(hidden, 1)

    def forward(self, obs):
        h = self.body(obs)
        return self.policy(h), self.value(h).squeeze(-1)


@torch.no_grad()
def rollout(model, envs, generator):
    """HORIZON steps of all environments; tensors of shape (HORIZON, ENVS)."""
    observations = torch.empty(HORIZON, ENVS, 3)
    actions = torch.empty(HORIZON, ENVS, dtype=torch.long)
    rewards = torch.empty(HORIZON, ENVS)
    values = torch.empty(HORIZON + 1, ENVS)
    for t in range(HORIZON):
        observations[t] = envs.observe()
        logits, values[t] = model(observations[t])
        probabilities = logits.softmax(dim=1)
        actions[t] = torch.multinomial(probabilities, 1, generator=generator).squeeze(1)
        rewards[t] = envs.step(actions[t])
    values[HORIZON] = model(envs.observe())[1]

    # generalised advantage estimation, backwards in time
    errors = rewards + GAMMA * values[1:] - values[:-1]
    advantages = torch.empty_like(errors)
    running = torch.zeros(ENVS)
    for t in reversed(range(HORIZON)):
        running = errors[t] + GAMMA * LAMBDA * running
        advantages[t] = running
    return observations, actions, advantages, advantages + values[:-1], rewards.mean()


def update(model, optimizer, observations, actions, advantages, returns):
    logits, values = model(observations.flatten(0, 1))
    logp = F.log_softmax(logits, dim=1)
    chosen = logp.gather(1, actions.flatten()[:, None]).squeeze(1)
    normed = (advantages - advantages.mean()) / (advantages.std() + 1e-6)
    entropy = -(logp.exp() * logp).sum(dim=1).mean()
    loss = -(chosen * normed.flatten()).mean() - 0.01 * entropy
    loss = loss + 0.5 * F.mse_loss(values, returns.flatten())
    optimizer.zero_grad(set_to_none=True)
    loss.backward()
    nn.utils.clip_grad_norm_(model.parameters(), 0.5)
    optimizer.step()


def main():
    torch.manual_seed(0)
    generator = torch.Generator().manual_seed(5)
    envs = Pendulums(ENVS, generator)
    model = ActorCritic()
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)

    rewards = []
    for step in range(STEPS + 1):
        if step == 1:  # the first step is a warm-up
            start = time.perf_counter()
        *batch, reward = rollout(model, envs, generator)
        update(model, optimizer, *batch)
        rewards.append(reward)
    elapsed = time.perf_counter() - start

    rewards = torch.stack(rewards)
    print(f"{STEPS} steps in {elapsed:.2f} s")
    print(f"{rewards[0]:.5f} {rewards[-5:].mean():.5f} {model.policy.weight.norm():.5f}")


if __name__ == "__main__":
    main()
