"""A committee of networks for the flow through a valve, trained together."""

import time

import torch
from torch import nn
from torch.func import functional_call, grad_and_value, stack_module_state, vmap
from torch.nn import functional as F

torch.set_num_threads(1)

MEMBERS, ROWS, WIDTH, STEPS, RATE = 8, 1024, 128, 60, 0.1


def make_member():
    return nn.Sequential(
        nn.Linear(6, WIDTH), nn.SiLU(), nn.Linear(WIDTH, WIDTH), nn.SiLU(), nn.Linear(WIDTH, 1), nn.Flatten(0)
    )


def make_measurements(generator):
    """Opening, pressures and temperatures, and the flow; every member draws its own rows."""
    inputs = torch.rand((4096, 6), generator=generator)
    flow = inputs[:, 0] * (0.1 + inputs[:, 1]).sqrt() / (1.0 + inputs[:, 2]) + 0.1 * inputs[:, 3:].prod(dim=1)
    return inputs, flow + 0.01 * torch.randn(4096, generator=generator)


class Committee:
    """The parameters of all members, one behind the other, with momentum."""

    def __init__(self, count):
        members = [make_member() for _ in range(count)]
        self.template = members[0]
        params, _ = stack_module_state(members)
        self.params = {name: value.detach() for name, value in params.items()}
        self.speed = {name: torch.zeros_like(value) for name, value in self.params.items()}
        self.gradients = vmap(grad_and_value(self.loss))

    def loss(self, params, inputs, flow):
        return F.mse_loss(functional_call(self.template, params, (inputs,)), flow)

    @torch.no_grad()
    def update(self, inputs, flow):
        grads, losses = self.gradients(self.params, inputs, flow)
        for name, value in self.params.items():
            value.sub_(self.speed[name].mul_(0.9).add_(grads[name]), alpha=RATE * 0.1)
        return losses


def main():
    torch.manual_seed(0)
    generator = torch.Generator().manual_seed(1)
    inputs, flow = make_measurements(generator)
    committee = Committee(MEMBERS)
    rows = torch.randint(4096, (STEPS + 1, MEMBERS, ROWS), generator=generator)
    committee.update(inputs[rows[0]], flow[rows[0]])
    start = time.perf_counter()
    losses = [committee.update(inputs[own], flow[own]) for own in rows[1:]]
    print(f"{STEPS} steps in {time.perf_counter() - start:.4f} s")
    print("checksum", float(torch.stack(losses)[-10:].mean()))


if __name__ == "__main__":
    main()
