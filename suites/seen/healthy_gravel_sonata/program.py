"""Ensemble of spectral graph networks on one citation-like graph, trained with torch.func."""
import time

import torch
import torch.nn.functional as F
from torch import nn

torch.set_num_threads(1)

CLASSES = 6


def community_graph(nodes, generator, inside=9, outside=3):
    """Random undirected graph with planted communities, as a normalised CSR matrix."""
    label = torch.randint(0, CLASSES, (nodes,), generator=generator)
    order = label.argsort()
    counts = torch.bincount(label, minlength=CLASSES)
    first = counts.cumsum(0) - counts
    source = torch.arange(nodes).repeat_interleave(inside)
    own = label[source]
    draw = torch.rand(len(source), generator=generator)
    near = order[first[own] + (draw * counts[own]).long()]
    far_source = torch.arange(nodes).repeat_interleave(outside)
    far = torch.randint(0, nodes, (len(far_source),), generator=generator)
    loops = torch.arange(nodes)
    row = torch.cat([source, near, far_source, far, loops])
    column = torch.cat([near, source, far, far_source, loops])
    pattern = torch.sparse_coo_tensor(
        torch.stack([row, column]), torch.ones(len(row)), (nodes, nodes), check_invariants=True
    ).coalesce()
    row, column = pattern.indices()
    root = torch.bincount(row, minlength=nodes).float().rsqrt()
    values = root[row] * root[column]
    matrix = torch.sparse_coo_tensor(
        pattern.indices(), values, (nodes, nodes), is_coalesced=True, check_invariants=True
    )
    return matrix.to_sparse_csr(), label


def propagate(matrix, features, hops):
    """Features after 0..hops rounds of smoothing; they don't depend on any weights."""
    stages = [features]
    for _ in range(hops):
        stages.append(matrix @ stages[-1])
    return torch.cat(stages, dim=1)


class Head(nn.Module):
    def __init__(self, inputs, hidden=192):
        super().__init__()
        self.first = nn.Linear(inputs, hidden)
        self.second = nn.Linear(hidden, CLASSES)

    def forward(self, x):
        return self.second(F.relu(self.first(x)))


class Committee:
    """Members share the data and differ in their initial weights; one batched pass each."""

    def __init__(self, members, inputs):
        heads = [Head(inputs) for _ in range(members)]
        self.params, _ = torch.func.stack_module_state(heads)
        self.template = heads[0]
        self.batched = torch.vmap(self.single, in_dims=(0, None))

    def single(self, params, x):
        return torch.func.functional_call(self.template, params, (x,))

    def __call__(self, x):
        return self.batched(self.params, x)


def main(steps=300, nodes=6000, members=6, batch_size=512):
    torch.manual_seed(15)
    generator = torch.Generator().manual_seed(16)
    matrix, label = community_graph(nodes, generator)
    features = 0.4 * F.one_hot(label, CLASSES) + torch.randn(nodes, CLASSES, generator=generator)
    inputs = propagate(matrix, torch.cat([features, features.square()], 1), hops=3)
    inputs = (inputs - inputs.mean(0)) / inputs.std(0)
    split = torch.randperm(nodes, generator=generator)
    train, held_out = split[:4000], split[4000:]
    committee = Committee(members, inputs.shape[1])
    optimizer = torch.optim.Adam(committee.params.values(), lr=5e-3, fused=True)

    total = torch.zeros(())
    begin = time.perf_counter()
    for step in range(steps):
        rows = train[torch.randint(0, len(train), (batch_size,), generator=generator)]
        logits = committee(inputs[rows])
        target = label[rows].expand(members, -1)
        loss = F.cross_entropy(logits.flatten(0, 1), target.flatten())
        optimizer.zero_grad(set_to_none=True)
        loss.backward()
        optimizer.step()
        total += loss.detach()
    with torch.inference_mode():
        vote = committee(inputs[held_out]).softmax(-1).mean(0)
        accuracy = (vote.argmax(1) == label[held_out]).float().mean()
    elapsed = time.perf_counter() - begin

    print(f"held-out accuracy {accuracy:.3f}")
    print(f"{steps} steps in {elapsed:.3f} s")
    print(f"checksum {total:.4f} {vote.amax(1).sum():.3f}")


if __name__ == "__main__":
    main()
