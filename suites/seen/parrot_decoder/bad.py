"""Calls of parrots written down: a network over spectral frames, and the best path of its CTC output."""

import time

import torch
import torch.nn as nn

CALLS = 28
FRAMES = 900
BANDS = 40
SYLLABLES = 12
BLANK = 0


def make_calls(generator):
    """Frames that dwell on one syllable for a while; each syllable has its own spectrum."""
    spectra = torch.randn(SYLLABLES, BANDS, generator=generator)
    spectra[BLANK] = 0.0
    turns = torch.randint(SYLLABLES, (CALLS, FRAMES // 6), generator=generator)
    sung = turns.repeat_interleave(6, dim=1)
    frames = spectra[sung] + 2.5 * torch.randn(CALLS, FRAMES, BANDS, generator=generator)
    written = []
    for row in turns.tolist():
        kept = [s for i, s in enumerate(row) if s != BLANK and (i == 0 or row[i - 1] != s)]
        written.append(kept)
    return frames, spectra, written


class Listener(nn.Module):
    """Smooths the frames and compares them with the spectra of the syllables."""

    def __init__(self, spectra):
        super().__init__()
        self.smooth = nn.Conv1d(BANDS, BANDS, 3, padding=1, groups=BANDS, bias=False)
        self.compare = nn.Linear(BANDS, SYLLABLES)
        with torch.no_grad():
            self.smooth.weight.copy_(torch.tensor([0.25, 0.5, 0.25]).expand_as(self.smooth.weight))
            self.compare.weight.copy_(spectra)
            self.compare.bias.copy_(-0.5 * spectra.square().sum(dim=1))

    def forward(self, frames):
        smoothed = self.smooth(frames.transpose(1, 2)).transpose(1, 2)
        return self.compare(smoothed).log_softmax(dim=-1)


def best_path(log_probs):
    """The likeliest symbol of each frame, without repetitions and blanks, and its confidence."""
    score, symbol = log_probs.max(dim=-1)
    syllables, confidence = [], 0.0
    last = BLANK
    for s, p in zip(symbol, score):
        if s != last and s != BLANK:
            syllables.append(int(s))
            confidence += float(p)
        last = s
    return syllables, confidence / max(len(syllables), 1)


def edit_distance(a, b):
    """Number of syllables to change, add or leave out."""
    row = list(range(len(b) + 1))
    for i, x in enumerate(a, 1):
        above, row[0] = row[0], i
        for j, y in enumerate(b, 1):
            above, row[j] = row[j], min(row[j] + 1, row[j - 1] + 1, above + (x != y))
    return row[-1]


@torch.inference_mode()
def transcribe(model, frames, rounds):
    """Every call with a little gain more in each round, as the microphones differ."""
    transcripts, confidences = [], []
    for number in range(rounds):
        for log_probs in model((1.0 + 0.02 * number) * frames):
            syllables, confidence = best_path(log_probs)
            transcripts.append(syllables)
            confidences.append(confidence)
    return transcripts, confidences


def main():
    torch.set_num_threads(1)
    generator = torch.Generator().manual_seed(27)
    frames, spectra, written = make_calls(generator)
    model = Listener(spectra).eval()
    transcribe(model, frames[:1], 1)

    rounds = 18
    start = time.perf_counter()
    transcripts, confidences = transcribe(model, frames, rounds)
    print(f"{len(transcripts)} steps in {time.perf_counter() - start:.3f} s")
    errors = sum(edit_distance(t, w) for t, w in zip(transcripts[:CALLS], written))
    length = sum(len(t) for t in transcripts) / len(transcripts)
    print(f"checksum {length:.4f} {sum(confidences) / len(confidences):.5f} {errors / CALLS:.3f}")


if __name__ == "__main__":
    main()
