"""Word error rate of a small acoustic model: greedy CTC decoding and edit distance."""
import time

import torch
import torch.nn as nn

torch.set_num_threads(1)
torch.manual_seed(7)

BATCH = 16
FRAMES = 200
MELS = 40
SYMBOLS = 30
BLANK = 0
BATCHES = 18


class AcousticModel(nn.Module):
    def __init__(self, mels=MELS, hidden=160, symbols=SYMBOLS):
        super().__init__()
        self.front = nn.Sequential(
            nn.Conv1d(mels, hidden, 5, padding=2),
            nn.ReLU(),
            nn.Conv1d(hidden, hidden, 5, stride=2, padding=2),
            nn.ReLU(),
        )
        self.rnn = nn.GRU(hidden, hidden, num_layers=2, batch_first=True, bidirectional=True)
        self.out = nn.Linear(2 * hidden, symbols)

    def forward(self, mel):
        x = self.front(mel).transpose(1, 2)
        x, _ = self.rnn(x)
        return self.out(x)


def load_model():
    """Stands for a checkpoint: random weights with the spread of a trained network."""
    model = AcousticModel().eval()
    with torch.no_grad():
        for p in model.parameters():
            p.mul_(5.0)
    return model


def greedy_decode(logits):
    """Best path, repeated symbols merged, blanks dropped."""
    best = logits.argmax(-1)
    hypotheses = []
    for path in best:
        merged = torch.unique_consecutive(path)
        hypotheses.append(merged[merged != BLANK])
    return hypotheses


def edit_distance(hyp, ref):
    previous = list(range(len(ref) + 1))
    for i, h in enumerate(hyp, start=1):
        current = [i]
        for j, r in enumerate(ref, start=1):
            cost = 0 if h == r else 1
            current.append(min(previous[j] + 1, current[j - 1] + 1, previous[j - 1] + cost))
        previous = current
    return previous[-1]


def make_batch(gen):
    mel = torch.randn(BATCH, MELS, FRAMES, generator=gen)
    lengths = torch.randint(60, 120, (BATCH,), generator=gen).tolist()
    refs = [torch.randint(1, SYMBOLS, (n,), generator=gen) for n in lengths]
    return mel, refs


class ErrorRate:
    def __init__(self):
        self.errors = 0
        self.symbols = 0

    def update(self, hypotheses, references):
        for hyp, ref in zip(hypotheses, references):
            self.errors += edit_distance(hyp.tolist(), ref.tolist())
            self.symbols += len(ref)

    def value(self):
        return self.errors / self.symbols


@torch.inference_mode()
def evaluate(model, batches):
    rate = ErrorRate()
    entropy = torch.zeros(())
    for mel, refs in batches:
        logits = model(mel)
        logp = logits.log_softmax(-1)
        entropy += -(logp.exp() * logp).sum(-1).mean()
        rate.update(greedy_decode(logits), refs)
    return rate, entropy.item() / len(batches)


def main():
    gen = torch.Generator().manual_seed(19)
    batches = [make_batch(gen) for _ in range(BATCHES)]
    model = load_model()
    with torch.inference_mode():
        model(batches[0][0])

    start = time.perf_counter()
    rate, entropy = evaluate(model, batches)
    elapsed = time.perf_counter() - start
    print(f"{BATCHES} steps in {elapsed:.2f} s")
    print(f"checksum {rate.value():.5f} {rate.errors} {entropy:.4f}")


if __name__ == "__main__":
    main()
