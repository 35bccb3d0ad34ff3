"""Recognise bird calls in short field recordings kept on disk."""
import os
import tempfile
import time

import numpy as np
import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset, Sampler
import torch.nn.functional as F

EPOCHS = 45
CLIPS = 192
BATCH = 32
SAMPLES = 8192
WINDOW = 512
HOP = 256
BIRDS = 8


def record_clips(path, seed):
    """Chirps with a sweep that depends on the bird, written as 16-bit samples."""
    rng = np.random.default_rng(seed)
    bird = rng.integers(0, BIRDS, CLIPS)
    clock = np.arange(SAMPLES) / 16000.0
    audio = np.empty((CLIPS, SAMPLES), dtype=np.int16)
    for row in range(CLIPS):
        pitch = 1500.0 + 500.0 * bird[row] + rng.normal(0.0, 80.0)
        sweep = 900.0 * (bird[row] % 3 - 1)
        tone = np.sin(2 * np.pi * (pitch + sweep * clock) * clock)
        envelope = np.exp(-((clock - rng.uniform(0.15, 0.35)) / 0.08) ** 2)
        sound = tone * envelope + 0.2 * rng.standard_normal(SAMPLES)
        audio[row] = np.clip(8000.0 * sound, -32000, 32000)
    audio.tofile(path)
    return bird.astype(np.int64)


class ShuffledShifts(Sampler):
    """Every clip once per epoch, each time with a fresh shift and gain."""

    def __init__(self, seed):
        self.rng = np.random.default_rng(seed)

    def __len__(self):
        return CLIPS

    def __iter__(self):
        order = self.rng.permutation(CLIPS).tolist()
        shift = self.rng.integers(0, 800, CLIPS).tolist()
        gain = self.rng.uniform(0.6, 1.4, CLIPS).tolist()
        return zip(order, shift, gain)


class FieldClips(Dataset):
    """Log spectrograms of shifted and scaled clips."""

    def __init__(self, path, bird):
        self.audio = np.memmap(path, dtype=np.int16, mode="r", shape=(CLIPS, SAMPLES))
        self.bird = bird
        self.taper = np.hanning(WINDOW).astype(np.float32)

    def __len__(self):
        return len(self.bird)

    def __getitem__(self, key):
        row, shift, gain = key
        sound = self.audio[row].astype(np.float32) * np.float32(gain / 32768.0)
        sound = np.roll(sound, shift)
        frames = np.lib.stride_tricks.sliding_window_view(sound, WINDOW)[::HOP]
        power = np.abs(np.fft.rfft(frames * self.taper, axis=1)) ** 2
        picture = np.log1p(1e3 * power[:, : WINDOW // 4]).astype(np.float32)
        return torch.from_numpy(picture.T[None].copy()), int(self.bird[row])


def make_model():
    return nn.Sequential(
        nn.Conv2d(1, 8, 5, stride=2, padding=2), nn.ReLU(),
        nn.Conv2d(8, 16, 3, stride=2, padding=1), nn.ReLU(),
        nn.AdaptiveAvgPool2d((8, 1)), nn.Flatten(),
        nn.Linear(128, BIRDS),
    )


def run_epoch(model, optimizer, loader):
    total = torch.zeros(())
    for picture, bird in loader:
        loss = F.cross_entropy(model(picture), bird)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        total += loss.detach()
    return total / len(loader)


def main():
    torch.set_num_threads(1)
    torch.manual_seed(13)
    model = make_model()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "clips.i16")
        clips = FieldClips(path, record_clips(path, 17))
        sampler = ShuffledShifts(18)
        loader = DataLoader(clips, batch_size=BATCH, sampler=sampler, num_workers=2)

        run_epoch(model, optimizer, loader)
        start = time.perf_counter()
        losses = [run_epoch(model, optimizer, loader) for _ in range(EPOCHS)]
        elapsed = time.perf_counter() - start
        steps = EPOCHS * len(loader)

    weight = sum(p.detach().abs().sum() for p in model.parameters())
    print(f"{steps} steps in {elapsed:.2f} s")
    print(f"checksum {torch.stack(losses).mean().item():.5f} {weight.item():.4f}")


if __name__ == "__main__":
    main()
