"""Deep Q-learning on a small gridded arcade game with uniform experience replay."""
import random
import time
from collections import namedtuple

import numpy as np
import torch
from torch import nn
import torch.nn.functional as F

STEPS = 1200
BATCH = 64
FRAME = 20
ACTIONS = 5
GAMMA = 0.97
CAPACITY = 4000

Transition = namedtuple("Transition", "state action reward next_state done")


class Arcade:
    """A paddle chases a ball over a FRAME x FRAME board."""

    def __init__(self, seed):
        self.rng = np.random.default_rng(seed)
        self.reset()

    def reset(self):
        self.ball = self.rng.integers(0, FRAME, 2)
        self.paddle = self.rng.integers(0, FRAME, 2)
        return self.render()

    def render(self):
        board = np.zeros((FRAME, FRAME), dtype=np.float32)
        board[self.ball[0], self.ball[1]] = 1.0
        board[self.paddle[0], self.paddle[1]] = -1.0
        return board.reshape(-1)

    def step(self, action):
        move = ((0, 0), (0, 1), (0, -1), (1, 0), (-1, 0))[action]
        self.paddle = np.clip(self.paddle + move, 0, FRAME - 1)
        self.ball = np.clip(self.ball + self.rng.integers(-1, 2, 2), 0, FRAME - 1)
        distance = int(np.abs(self.ball - self.paddle).sum())
        done = distance == 0
        return self.render(), 1.0 if done else -0.01 * distance, done


def make_network():
    return nn.Sequential(
        nn.Linear(FRAME * FRAME, 192), nn.ReLU(),
        nn.Linear(192, 96), nn.ReLU(),
        nn.Linear(96, ACTIONS),
    )


def fill_memory(rng):
    memory = []
    game = Arcade(3)
    state = game.reset()
    for _ in range(CAPACITY):
        action = rng.randrange(ACTIONS)
        following, reward, done = game.step(action)
        memory.append(Transition(state, action, reward, following, float(done)))
        state = game.reset() if done else following
    return memory


def to_batch(samples):
    batch = Transition(*zip(*samples))
    states = torch.from_numpy(np.stack(batch.state))
    following = torch.from_numpy(np.stack(batch.next_state))
    actions = torch.tensor(batch.action)
    rewards = torch.tensor(batch.reward)
    done = torch.tensor(batch.done)
    return states, actions, rewards, following, done


def learn(online, target, optimizer, samples):
    states, actions, rewards, following, done = to_batch(samples)
    with torch.no_grad():
        best = target(following).max(dim=1).values
        goal = rewards + GAMMA * (1.0 - done) * best
    value = online(states).gather(1, actions[:, None]).squeeze(1)
    loss = F.smooth_l1_loss(value, goal)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    return loss.detach()


def main():
    torch.set_num_threads(1)
    torch.manual_seed(0)
    rng = random.Random(1)
    memory = fill_memory(rng)
    online, target = make_network(), make_network()
    target.load_state_dict(online.state_dict())
    optimizer = torch.optim.SGD(online.parameters(), lr=0.01)

    learn(online, target, optimizer, rng.sample(memory, BATCH))
    start = time.perf_counter()
    total = torch.zeros(())
    for step in range(STEPS):
        total += learn(online, target, optimizer, rng.sample(memory, BATCH))
        if step % 200 == 199:
            target.load_state_dict(online.state_dict())
    elapsed = time.perf_counter() - start

    weight = sum(p.detach().abs().sum() for p in online.parameters())
    print(f"{STEPS} steps in {elapsed:.2f} s")
    print(f"checksum {total.item() / STEPS:.5f} {weight.item():.3f}")


if __name__ == "__main__":
    main()
