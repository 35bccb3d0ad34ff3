"""Records for collectors: a two-tower model, judged by recall and NDCG over the whole catalogue."""

import time

import torch
import torch.nn as nn
import torch.nn.functional as F

COLLECTORS = 2000
RECORDS = 12000
FACTORS = 24
OWNED = 20
BATCH = 1024
TRAIN_STEPS = 30
CHUNK = 250
CUT = 20


def make_shelves(generator):
    """Records owned by each collector, drawn by taste; the last two are held out."""
    taste = torch.randn(COLLECTORS, 8, generator=generator)
    style = torch.randn(RECORDS, 8, generator=generator)
    owned = torch.empty(COLLECTORS, OWNED, dtype=torch.long)
    for rows in torch.arange(COLLECTORS).split(500):
        liking = taste[rows] @ style.T + 1.5 * torch.randn(len(rows), RECORDS, generator=generator)
        owned[rows] = liking.topk(OWNED, dim=1).indices
    shuffled = torch.rand(OWNED, generator=generator).argsort()
    return owned[:, shuffled[:-2]], owned[:, shuffled[-2:]], taste, style


class TwoTowers(nn.Module):
    def __init__(self):
        super().__init__()
        self.collector = nn.Sequential(nn.Linear(8, 64), nn.ReLU(), nn.Linear(64, FACTORS))
        self.record = nn.Sequential(nn.Linear(8, 64), nn.ReLU(), nn.Linear(64, FACTORS))

    def forward(self, taste, style):
        return self.collector(taste), self.record(style)


def train_step(model, optimizer, taste, style):
    """Cross entropy within the batch: each collector against the records of the others."""
    collectors, records = model(taste, style)
    loss = F.cross_entropy(collectors @ records.T, torch.arange(len(taste)))
    optimizer.zero_grad(set_to_none=True)
    loss.backward()
    optimizer.step()
    return loss.detach()


def ranking(scores, known):
    """The best records of each collector that are not on the shelf yet."""
    scores.scatter_(1, known, float("-inf"))
    order = scores.argsort(dim=1, descending=True)
    return order[:, :CUT]


@torch.inference_mode()
def evaluate(model, taste, style, known, held_out):
    """Recall and NDCG of the first CUT records."""
    discount = 1.0 / torch.log2(torch.arange(CUT) + 2.0)
    ideal = discount[: held_out.shape[1]].sum()
    collectors, records = model(taste, style)
    recall, gain = [], []
    for rows in torch.arange(COLLECTORS).split(CHUNK):
        best = ranking(collectors[rows] @ records.T, known[rows])
        hit = (best.unsqueeze(2) == held_out[rows].unsqueeze(1)).any(dim=2).float()
        recall.append(hit.sum(dim=1) / held_out.shape[1])
        gain.append((hit * discount).sum(dim=1) / ideal)
    return torch.cat(recall).mean(), torch.cat(gain).mean()


def main():
    torch.set_num_threads(1)
    torch.manual_seed(32)
    generator = torch.Generator().manual_seed(33)
    known, held_out, taste, style = make_shelves(generator)
    model = TwoTowers()
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)

    start = time.perf_counter()
    losses = []
    for step in range(TRAIN_STEPS):
        rows = torch.randint(COLLECTORS, (BATCH,), generator=generator)
        column = int(torch.randint(known.shape[1], (), generator=generator))
        losses.append(train_step(model, optimizer, taste[rows], style[known[rows, column]]))
        if step % 15 == 14:
            recall, gain = evaluate(model, taste, style, known, held_out)
    print(f"{TRAIN_STEPS} steps in {time.perf_counter() - start:.3f} s")
    losses = torch.stack(losses)
    print(f"checksum {losses.mean().item():.4f} {1.0 + recall.item():.4f} {1.0 + gain.item():.4f}")


if __name__ == "__main__":
    main()
