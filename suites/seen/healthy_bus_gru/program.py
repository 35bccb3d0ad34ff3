"""When does the bus arrive?  A GRU reads the delays at the stops so far."""

import time

import torch
from torch import nn

TRIPS = 4000
STOPS = 30
FEATURES = 5
HIDDEN = 64
BATCH = 64


def make_trips(generator):
    """Delays that build up along the line, with traffic and riders as features."""
    traffic = torch.rand(TRIPS, 1, generator=generator).expand(TRIPS, STOPS)
    riders = torch.rand(TRIPS, STOPS, generator=generator)
    pace = 0.6 * traffic + 0.3 * riders - 0.4
    delay = (pace + 0.1 * torch.randn(TRIPS, STOPS, generator=generator)).cumsum(dim=1)
    place = torch.linspace(0.0, 1.0, STOPS).expand(TRIPS, STOPS)
    holiday = (torch.rand(TRIPS, 1, generator=generator) < 0.1).float().expand(TRIPS, STOPS)
    features = torch.stack([delay, traffic, riders, place, holiday], dim=-1)
    return features[:, :-1].contiguous(), delay[:, 1:].contiguous()


class ArrivalNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.gru = nn.GRU(FEATURES, HIDDEN, batch_first=True)
        self.head = nn.Linear(HIDDEN, 1)

    def forward(self, features):
        hidden, _ = self.gru(features)
        return features[..., 0] + self.head(hidden).squeeze(-1)


def train_epoch(model, optimizer, loss_fn, features, delays, generator):
    losses = []
    for rows in torch.randperm(len(features), generator=generator).split(BATCH):
        optimizer.zero_grad(set_to_none=True)
        loss = loss_fn(model(features[rows]), delays[rows])
        loss.backward()
        optimizer.step()
        losses.append(loss.detach())
    return torch.stack(losses)


@torch.inference_mode()
def evaluate(model, loss_fn, features, delays):
    return loss_fn(model(features), delays).item()


def main():
    torch.set_num_threads(1)
    torch.manual_seed(0)
    generator = torch.Generator().manual_seed(1)
    features, delays = make_trips(generator)
    split = TRIPS - 500
    model = ArrivalNet()
    optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)
    loss_fn = nn.SmoothL1Loss()

    start = time.perf_counter()
    losses = torch.cat(
        [train_epoch(model, optimizer, loss_fn, features[:split], delays[:split], generator) for _ in range(3)]
    )
    print(f"{len(losses)} steps in {time.perf_counter() - start:.3f} s")
    held_out = evaluate(model, loss_fn, features[split:], delays[split:])
    print(f"checksum {losses.mean().item():.5f} {held_out:.5f}")


if __name__ == "__main__":
    main()
