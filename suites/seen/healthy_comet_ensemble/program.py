"""Orbits of comets from short arcs: an ensemble of nets trained side by side with torch.func."""

import copy
import time

import torch
from torch import nn
from torch.func import functional_call, grad_and_value, stack_module_state, vmap

MEMBERS = 8
INPUTS = 18
ELEMENTS = 6
BATCH = 256


def short_arcs(generator, count):
    """Six sightings of three numbers each, from elements of the orbit."""
    elements = torch.rand(count, ELEMENTS, generator=generator) * 2.0 - 1.0
    when = torch.linspace(0.0, 1.0, 6)
    phase = elements[:, 3:4] + when * (2.0 + elements[:, :1])
    sky = torch.cat(
        [torch.cos(phase) * (1.2 + elements[:, 1:2]), torch.sin(phase + elements[:, 2:3]), elements[:, 4:5] * when + elements[:, 5:6]],
        dim=1,
    )
    return sky + 0.01 * torch.randn(count, INPUTS, generator=generator), elements


def make_member():
    return nn.Sequential(
        nn.Linear(INPUTS, 192), nn.SiLU(), nn.Linear(192, 192), nn.SiLU(), nn.Linear(192, 192), nn.SiLU(),
        nn.Linear(192, ELEMENTS),
    )


class Ensemble:
    def __init__(self, rate=1e-3):
        members = [make_member() for _ in range(MEMBERS)]
        self.params, _ = stack_module_state(members)
        self.skeleton = copy.deepcopy(members[0]).to("meta")
        self.optimizer = torch.optim.Adam(self.params.values(), lr=rate, fused=True)
        self.gradients = vmap(grad_and_value(self.member_loss), in_dims=(0, 0, 0))

    def member_loss(self, params, sky, elements):
        guess = functional_call(self.skeleton, params, (sky,))
        return nn.functional.mse_loss(guess, elements)

    def step(self, sky, elements):
        detached = {name: value.detach() for name, value in self.params.items()}
        grads, losses = self.gradients(detached, sky, elements)
        for name, value in self.params.items():
            value.grad = grads[name]
        self.optimizer.step()
        return losses


def main():
    torch.set_num_threads(1)
    torch.manual_seed(0)
    generator = torch.Generator().manual_seed(1)
    sky, elements = short_arcs(generator, 20_000)
    ensemble = Ensemble()
    rows = torch.randint(0, len(sky), (61, MEMBERS, BATCH), generator=generator)
    ensemble.step(sky[rows[0]], elements[rows[0]])

    start = time.perf_counter()
    losses = torch.stack([ensemble.step(sky[part], elements[part]) for part in rows[1:]])
    print(f"{len(losses)} steps in {time.perf_counter() - start:.3f} s")
    print(f"checksum {losses.mean().item():.4f} {losses[-1].mean().item():.4f}")


if __name__ == "__main__":
    main()
