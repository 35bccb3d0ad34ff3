"""Plans the motions of a gripper by the cross-entropy method, in a learned model of its dynamics."""

import time

import torch
from torch import nn

STATE, ACTION, HORIZON, CANDIDATES, ELITES = 10, 4, 25, 256, 32


class Dynamics(nn.Module):
    """Several networks that each predict the change of the state; their mean is used."""

    def __init__(self, members=3, width=96):
        super().__init__()
        self.members = nn.ModuleList(
            nn.Sequential(nn.Linear(STATE + ACTION, width), nn.SiLU(), nn.Linear(width, width), nn.SiLU(), nn.Linear(width, STATE))
            for _ in range(members)
        )

    def forward(self, state, action):
        inputs = torch.cat([state, action], dim=-1)
        changes = torch.stack([member(inputs) for member in self.members])
        return state + 0.1 * changes.mean(dim=0)


def returns(model, state, actions, goal):
    state = state.expand(actions.shape[0], -1)
    total = torch.zeros(actions.shape[0])
    for t in range(HORIZON):
        state = model(state, actions[:, t])
        total = total - (state - goal).square().sum(dim=-1) - 0.01 * actions[:, t].square().sum(dim=-1)
    return total


def plan(model, state, goal, noise, rounds=3):
    mean, std = torch.zeros(HORIZON, ACTION), torch.ones(HORIZON, ACTION)
    for i in range(rounds):
        actions = mean + std * noise[i]
        scores = returns(model, state, actions, goal)
        elites = actions[scores.topk(ELITES).indices]
        mean, std = elites.mean(dim=0), elites.std(dim=0) + 0.05
    return mean[0]


def main():
    torch.set_num_threads(1)  # The machine is shared.
    torch.manual_seed(1)
    model = Dynamics().eval()
    state, goal = torch.zeros(1, STATE), torch.linspace(-1, 1, STATE)
    noise = torch.randn(3, CANDIDATES, HORIZON, ACTION)
    state = model(state, plan(model, state, goal, noise)[None]).detach()
    steps = 12
    start = time.perf_counter()
    for _ in range(steps):
        action = plan(model, state, goal, noise)
        state = model(state, action[None]).detach()
    print(f"{steps} steps in {time.perf_counter() - start:.4f} s")
    print("checksum", (state - goal).norm().item())


if __name__ == "__main__":
    main()
