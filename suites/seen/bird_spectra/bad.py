"""Which bird sings?  Each band of a spectrogram has its own filters in time, then the bands mix."""

import time

import torch
from torch import nn

BANDS = 96
FRAMES = 64
KERNEL = 9
BATCH = 8
BIRDS = 6


class BandFilters(nn.Module):
    """A filter in time for each band, which sees no other band."""

    def __init__(self):
        super().__init__()
        self.filters = nn.ModuleList(
            nn.Conv1d(1, 1, KERNEL, padding=KERNEL // 2, bias=False) for _ in range(BANDS)
        )

    def forward(self, x):
        bands = [f(x[:, i : i + 1]) for i, f in enumerate(self.filters)]
        return torch.cat(bands, dim=1)


class SeparableBlock(nn.Module):
    def __init__(self):
        super().__init__()
        self.in_time = BandFilters()
        self.mix = nn.Conv1d(BANDS, BANDS, 1)
        self.norm = nn.BatchNorm1d(BANDS)

    def forward(self, x):
        return x + torch.relu(self.norm(self.mix(self.in_time(x))))


class SongNet(nn.Module):
    def __init__(self, blocks=2):
        super().__init__()
        self.blocks = nn.Sequential(*(SeparableBlock() for _ in range(blocks)))
        self.head = nn.Linear(BANDS, BIRDS)

    def forward(self, spectrogram):
        return self.head(self.blocks(spectrogram).mean(dim=-1))


def make_songs(generator, count=240):
    """Sweeps whose speed and place are typical of the bird."""
    birds = torch.randint(BIRDS, (count,), generator=generator)
    frame = torch.arange(FRAMES).float()
    band = torch.arange(BANDS).float()[:, None]
    speed = 0.05 + 0.03 * birds.float()[:, None, None]
    phase = 6.28 * torch.rand(count, 1, 1, generator=generator)
    centre = BANDS / 2 + (4 + 2 * birds.float()[:, None, None]) * torch.sin(speed * frame + phase)
    songs = torch.exp(-((band - centre) ** 2) / 8.0)
    return songs + 0.3 * torch.randn(songs.shape, generator=generator), birds


def train_step(model, optimizer, loss_fn, songs, birds):
    optimizer.zero_grad(set_to_none=True)
    loss = loss_fn(model(songs), birds)
    loss.backward()
    optimizer.step()
    return loss.detach()


def main():
    torch.set_num_threads(1)
    torch.manual_seed(3)
    generator = torch.Generator().manual_seed(7)
    songs, birds = make_songs(generator)
    model = SongNet()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9)
    loss_fn = nn.CrossEntropyLoss()
    train_step(model, optimizer, loss_fn, songs[:BATCH], birds[:BATCH])

    start = time.perf_counter()
    losses = []
    for _ in range(50):
        rows = torch.randint(len(songs), (BATCH,), generator=generator)
        losses.append(train_step(model, optimizer, loss_fn, songs[rows], birds[rows]))
    losses = torch.stack(losses)
    print(f"{len(losses)} steps in {time.perf_counter() - start:.3f} s")
    print(f"checksum {losses.mean().item():.5f} {losses[-20:].mean().item():.5f}")


if __name__ == "__main__":
    main()
