"""Jobs of `torch.distributed` on processors, every rank under the same `ridgeline record`: collectives meet, and who is missing is named.

The programs use real torch and its library Gloo; `make test-torch` installs torch.
"""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from ranks import rows, run_job

pytest.importorskip("torch", reason="torch is not installed; `make test-torch` installs it and runs these tests")

TRAIN = """
import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel
dist.init_process_group("gloo")
torch.set_num_threads(1)
model = DistributedDataParallel(torch.nn.Linear(256, 64))
for number in range(3):
    model(torch.ones(32, 256)).sum().backward()
    total = torch.ones(1000)
    dist.all_reduce(total)
    parts = [torch.empty(10) for _ in range(dist.get_world_size())]
    dist.all_gather(parts, torch.ones(10))
dist.barrier()
print("rank", dist.get_rank(), "has", int(total[0]))
dist.destroy_process_group()
"""


def test_collectives_meet_on_four_ranks(ridgeline: Path, tmp_path: Path) -> None:
    assert run_job(ridgeline, tmp_path, TRAIN) == [f"rank {rank} has 4" for rank in range(4)]
    assert sorted(path.name for path in (tmp_path / "run").glob("rank-*")) == [f"rank-{rank}" for rank in range(4)]
    collectives = rows(ridgeline, tmp_path, "collective")
    assert {row["ranks"] for row in collectives} == {4}
    names = [row["kernel"] for row in collectives]
    # DistributedDataParallel itself gathers and broadcasts before the first step, and adds up a gradient in each.
    assert names.count("gloo:all_reduce") == 3 + 3
    assert names.count("gloo:all_gather") >= 3
    assert names.count("gloo:barrier") == 1
    gradients = [row["bytes"] for row in collectives if row["kernel"] == "gloo:all_reduce"]
    assert sorted(gradients) == [4000] * 3 + [4 * (256 * 64 + 64)] * 3
    ranks = rows(ridgeline, tmp_path, "rank")
    assert [row["rank"] for row in ranks] == [0, 1, 2, 3]
    assert {row["collectives"] for row in ranks} == {len(collectives)}


def test_a_rank_that_left_nothing_is_named(ridgeline: Path, tmp_path: Path) -> None:
    run_job(ridgeline, tmp_path, TRAIN, recorded=3)
    manifest = json.loads((tmp_path / "run" / "manifest.json").read_text())
    assert manifest["complete"] is False
    assert [lost for lost in manifest["missing"] if lost["what"].startswith("rank")] == [
        {"what": "rank 3", "why": "it left no recording"}
    ]
    assert {row["ranks"] for row in rows(ridgeline, tmp_path, "collective")} == {3}
