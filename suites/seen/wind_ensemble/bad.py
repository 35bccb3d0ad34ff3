"""Where to measure the wind next: at the place on which many networks disagree most."""

import time

import torch
from torch import nn

torch.set_num_threads(1)

MEMBERS, CANDIDATES, WIDTH, ROUNDS = 48, 64, 24, 500


class WindNet(nn.Module):
    """Wind at a place, from its position and height."""

    def __init__(self):
        super().__init__()
        self.layers = nn.Sequential(
            nn.Linear(3, WIDTH),
            nn.Tanh(),
            nn.Linear(WIDTH, WIDTH),
            nn.Tanh(),
            nn.Linear(WIDTH, 2),
        )

    def forward(self, places):
        return self.layers(places)


class Ensemble:
    def __init__(self, members):
        self.members = members

    def predict(self, places):
        """Wind by every member at every place."""
        return torch.stack([member(places) for member in self.members])


def disagreement(winds):
    """Spread of the members at each place, over both components."""
    return winds.var(dim=0).sum(dim=1).sqrt()


@torch.inference_mode()
def plan(ensemble, generator, rounds):
    """The chosen places, one after the other, with a penalty near earlier ones."""
    chosen, spreads = torch.zeros(0, 3), []
    for _ in range(rounds):
        places = torch.rand((CANDIDATES, 3), generator=generator)
        spread = disagreement(ensemble.predict(places))
        if len(chosen):
            nearest = torch.cdist(places, chosen).min(dim=1).values
            spread = spread * (1.0 - torch.exp(-nearest / 0.1))
        best = spread.argmax()
        chosen = torch.cat([chosen, places[best : best + 1]])[-50:]
        spreads.append(spread[best])
    return chosen, torch.stack(spreads)


def main():
    torch.manual_seed(0)
    ensemble = Ensemble([WindNet() for _ in range(MEMBERS)])
    generator = torch.Generator().manual_seed(1)
    plan(ensemble, generator, 5)
    start = time.perf_counter()
    chosen, spreads = plan(ensemble, generator, ROUNDS)
    print(f"{ROUNDS} steps in {time.perf_counter() - start:.4f} s")
    print("checksum", float(spreads.mean()), float(chosen.mean()))


if __name__ == "__main__":
    main()
