"""Clipped policy-gradient updates for a twelve-joint walking robot."""
import time

import torch
from torch import nn
from torch.distributions import MultivariateNormal

STEPS = 800
ROLLOUT = 8192
BATCH = 1024
OBSERVED = 36
JOINTS = 12
CLIP = 0.2
ENTROPY = 0.003


class Policy(nn.Module):
    def __init__(self):
        super().__init__()
        self.actor = nn.Sequential(
            nn.Linear(OBSERVED, 64), nn.Tanh(),
            nn.Linear(64, 64), nn.Tanh(),
            nn.Linear(64, JOINTS),
        )
        self.critic = nn.Sequential(
            nn.Linear(OBSERVED, 64), nn.Tanh(),
            nn.Linear(64, 64), nn.Tanh(),
            nn.Linear(64, 1),
        )
        self.log_scale = nn.Parameter(torch.full((JOINTS,), -0.5))

    def distribution(self, observation):
        mean = self.actor(observation)
        variance = (2.0 * self.log_scale).exp().expand_as(mean)
        return MultivariateNormal(mean, torch.diag_embed(variance))

    def evaluate(self, observation, action):
        distribution = self.distribution(observation)
        value = self.critic(observation).squeeze(-1)
        return distribution.log_prob(action), distribution.entropy(), value


def simulate(policy, generator):
    """Stand-in for the simulator: smooth random walks and a quadratic reward."""
    drift = torch.randn(ROLLOUT, OBSERVED, generator=generator)
    observation = torch.cumsum(0.02 * drift, dim=0)
    observation = observation - observation.mean(dim=0)
    noise = torch.randn(ROLLOUT, JOINTS, generator=generator)
    with torch.no_grad():
        mean = policy.actor(observation)
        action = mean + policy.log_scale.exp() * noise
        log_probability, _, value = policy.evaluate(observation, action)
    wish = torch.tanh(observation[:, :JOINTS] - observation[:, JOINTS:2 * JOINTS])
    reward = -(action - wish).square().mean(dim=1)
    advantage = reward - value
    advantage = (advantage - advantage.mean()) / (advantage.std() + 1e-6)
    return observation, action, log_probability, reward, advantage


def update(policy, optimizer, batch):
    observation, action, old_log_probability, returns, advantage = batch
    log_probability, entropy, value = policy.evaluate(observation, action)
    ratio = (log_probability - old_log_probability).exp()
    gain = torch.minimum(ratio * advantage, ratio.clamp(1 - CLIP, 1 + CLIP) * advantage)
    loss = 0.5 * (value - returns).square().mean() - gain.mean() - ENTROPY * entropy.mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    return loss.detach()


def main():
    torch.set_num_threads(1)
    torch.manual_seed(1)
    generator = torch.Generator().manual_seed(14)
    policy = Policy()
    optimizer = torch.optim.SGD(policy.parameters(), lr=5e-3)
    rollout = simulate(policy, generator)

    def batch(step):
        low = (step * BATCH) % ROLLOUT
        return tuple(part[low:low + BATCH] for part in rollout)

    update(policy, optimizer, batch(0))
    start = time.perf_counter()
    total = torch.zeros(())
    for step in range(STEPS):
        total += update(policy, optimizer, batch(step))
    elapsed = time.perf_counter() - start

    scale = policy.log_scale.detach()
    print(f"{STEPS} steps in {elapsed:.2f} s")
    print(f"checksum {total.item() / STEPS:.5f} {scale.mean().item():.5f} {policy.actor[4].weight.norm().item():.4f}")


if __name__ == "__main__":
    main()
