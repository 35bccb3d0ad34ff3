"""Deep Q-learning on camera frames of a marble maze, with a replay of past moves."""

import random
import time
from collections import deque

import numpy as np
import torch
from torch import nn

FRAME = 48
MOVES = 5
BATCH = 32


class MarbleMaze:
    """A marble on a tilted board; the frame shows the marble and the goal."""

    def __init__(self, seed):
        self.rng = np.random.default_rng(seed)
        self.rows, self.cols = np.mgrid[0:FRAME, 0:FRAME].astype(np.float32)
        self.reset()

    def reset(self):
        self.place = self.rng.uniform(8, FRAME - 8, 2)
        self.goal = self.rng.uniform(8, FRAME - 8, 2)
        return self.render()

    def spot(self, centre):
        return np.exp(-((self.rows - centre[0]) ** 2 + (self.cols - centre[1]) ** 2) / 8.0)

    def render(self):
        return np.stack([self.spot(self.place), self.spot(self.goal)]).astype(np.float32)

    def step(self, move):
        shift = np.array([[0, 0], [2, 0], [-2, 0], [0, 2], [0, -2]])[move]
        self.place = np.clip(self.place + shift, 2, FRAME - 3)
        gap = np.abs(self.place - self.goal).sum()
        return self.render(), -gap / FRAME, gap < 4.0


class Replay:
    def __init__(self, size):
        self.moves = deque(maxlen=size)

    def push(self, *move):
        self.moves.append(move)

    def sample(self):
        frames, actions, rewards, following, ends = zip(*random.sample(self.moves, BATCH))
        return (
            torch.tensor(frames),
            torch.tensor(actions),
            torch.tensor(rewards, dtype=torch.float32),
            torch.tensor(following),
            torch.tensor(ends, dtype=torch.float32),
        )


def make_network():
    return nn.Sequential(
        nn.Conv2d(2, 12, 5, stride=3), nn.ReLU(), nn.Conv2d(12, 16, 3, stride=2), nn.ReLU(), nn.Flatten(),
        nn.Linear(16 * 49, 64), nn.ReLU(), nn.Linear(64, MOVES),
    )


def learn(network, target, optimizer, batch):
    frames, actions, rewards, following, ends = batch
    value = network(frames).gather(1, actions[:, None]).squeeze(1)
    with torch.no_grad():
        aim = rewards + 0.95 * (1.0 - ends) * target(following).amax(dim=1)
    loss = nn.functional.smooth_l1_loss(value, aim)
    optimizer.zero_grad(set_to_none=True)
    loss.backward()
    optimizer.step()
    return loss.detach()


def main():
    torch.set_num_threads(1)
    torch.manual_seed(0)
    random.seed(0)
    maze, replay = MarbleMaze(0), Replay(1500)
    network, target = make_network(), make_network()
    target.load_state_dict(network.state_dict())
    optimizer = torch.optim.Adam(network.parameters(), lr=1e-3)
    frame = maze.reset()
    losses = []
    start = None
    for tick in range(460):
        move = random.randrange(MOVES)
        following, reward, end = maze.step(move)
        replay.push(frame, move, reward, following, float(end))
        frame = maze.reset() if end else following
        if tick == 400:
            start = time.perf_counter()
        if tick >= 400:
            losses.append(learn(network, target, optimizer, replay.sample()))
    losses = torch.stack(losses)
    print(f"{len(losses)} steps in {time.perf_counter() - start:.3f} s")
    print(f"checksum {losses.mean().item():.5f} {losses[-20:].mean().item():.5f}")


if __name__ == "__main__":
    main()
