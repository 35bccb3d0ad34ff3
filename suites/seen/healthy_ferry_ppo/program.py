"""Proximal policy optimisation of ferries that cross a river with a changing current."""

import time

import torch
import torch.nn as nn
import torch.nn.functional as F

FERRIES = 128
HORIZON = 64
ACTIONS = 5
SENSORS = 24
HIDDEN = 256
EPOCHS = 3
MINIBATCHES = 4
ROUNDS = 12
GAMMA, LAMBDA, CLIP = 0.98, 0.95, 0.2


class River:
    """All ferries move at once; each row is one ferry."""

    def __init__(self, generator):
        self.rng = generator
        self.angle = torch.linspace(0.0, 3.0, SENSORS - 3)
        self.position = torch.zeros(FERRIES, 2)
        self.current = torch.zeros(FERRIES, 1)
        self.age = torch.zeros(FERRIES)

    def observe(self):
        echo = torch.cos(self.angle * (1.0 + self.position[:, :1]))
        return torch.cat([self.position, self.current, echo], dim=1)

    def move(self, action):
        rudder = (action.float() - ACTIONS // 2) / (ACTIONS // 2)
        draw = torch.randn(FERRIES, 1, generator=self.rng)
        self.current = 0.95 * self.current + 0.1 * draw
        drift = 0.1 * (rudder + self.current.squeeze(1))
        self.position = self.position + torch.stack([drift, torch.full_like(drift, 0.05)], dim=1)
        self.age = self.age + 1.0
        offset = self.position[:, 0].abs()
        done = (offset > 1.5) | (self.position[:, 1] > 1.0)
        reward = 1.0 - offset - 3.0 * (offset > 1.5).float()
        self.position = self.position.masked_fill(done.unsqueeze(1), 0.0)
        return self.observe(), reward, done.float()


class ActorCritic(nn.Module):
    def __init__(self):
        super().__init__()
        self.trunk = nn.Sequential(nn.Linear(SENSORS, HIDDEN), nn.ReLU(), nn.Linear(HIDDEN, HIDDEN), nn.ReLU())
        self.heads = nn.Linear(HIDDEN, ACTIONS + 1)

    def forward(self, sensed):
        out = self.heads(self.trunk(sensed))
        return F.log_softmax(out[..., :ACTIONS], dim=-1), out[..., ACTIONS]


@torch.no_grad()
def collect(model, river, sensed):
    """One stretch of play of all ferries, with advantages and returns."""
    kept = {name: [] for name in ("sensed", "action", "chance", "value", "reward", "going")}
    for _ in range(HORIZON):
        log_chance, value = model(sensed)
        action = torch.multinomial(log_chance.exp(), 1, generator=river.rng)
        following, reward, done = river.move(action.squeeze(1))
        chance = log_chance.gather(1, action).squeeze(1)
        row = (sensed, action, chance, value, reward, 1.0 - done)
        for name, entry in zip(kept, row):
            kept[name].append(entry)
        sensed = following
    kept = {name: torch.stack(entries) for name, entries in kept.items()}
    values = torch.cat([kept["value"], model(sensed)[1].unsqueeze(0)])
    surprise = kept["reward"] + GAMMA * kept["going"] * values[1:] - values[:-1]
    advantage, running = torch.empty_like(surprise), torch.zeros(FERRIES)
    for moment in reversed(range(HORIZON)):
        running = surprise[moment] + GAMMA * LAMBDA * kept["going"][moment] * running
        advantage[moment] = running
    batch = (kept["sensed"], kept["action"], kept["chance"], advantage, advantage + kept["value"])
    return tuple(part.flatten(0, 1) for part in batch), sensed, kept["reward"].mean()


def update(model, optimizer, batch, generator):
    total = torch.zeros(())
    for _ in range(EPOCHS):
        for rows in torch.randperm(len(batch[0]), generator=generator).chunk(MINIBATCHES):
            sensed, action, old, advantage, target = (part[rows] for part in batch)
            log_chance, value = model(sensed)
            advantage = (advantage - advantage.mean()) / (advantage.std() + 1e-6)
            ratio = torch.exp(log_chance.gather(1, action).squeeze(1) - old)
            gain = torch.minimum(ratio * advantage, ratio.clamp(1.0 - CLIP, 1.0 + CLIP) * advantage)
            loss = 0.5 * F.mse_loss(value, target) - gain.mean()
            optimizer.zero_grad(set_to_none=True)
            loss.backward()
            optimizer.step()
            total += loss.detach()
    return total / (EPOCHS * MINIBATCHES)


def main():
    torch.set_num_threads(1)
    torch.manual_seed(13)
    generator = torch.Generator().manual_seed(31)
    river, model = River(generator), ActorCritic()
    optimizer = torch.optim.Adam(model.parameters(), lr=5e-4, fused=True)
    batch, sensed, _ = collect(model, river, river.observe())
    update(model, optimizer, batch, generator)

    start = time.perf_counter()
    losses, rewards = [], []
    for _ in range(ROUNDS):
        batch, sensed, reward = collect(model, river, sensed)
        losses.append(update(model, optimizer, batch, generator))
        rewards.append(reward)
    print(f"{ROUNDS} steps in {time.perf_counter() - start:.3f} s")
    print(f"checksum {torch.stack(losses).mean().item():.3f} {torch.stack(rewards).mean().item():.3f}")


if __name__ == "__main__":
    main()
