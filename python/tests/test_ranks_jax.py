"""Jobs of `jax.distributed` on processors, every rank under the same `ridgeline record`: their collectives meet."""

from __future__ import annotations

from pathlib import Path

import pytest

from ranks import rows, run_job

pytest.importorskip("jax")

SUM = """
import os
import jax
import jax.numpy as jnp
from jax.sharding import Mesh, NamedSharding, PartitionSpec as P
rank, count = int(os.environ["RANK"]), int(os.environ["WORLD_SIZE"])
jax.distributed.initialize(f"127.0.0.1:{os.environ['MASTER_PORT']}", count, rank)
mesh = Mesh(jax.devices(), ("x",))
total = jax.jit(lambda x: (x @ x.T).sum(), out_shardings=NamedSharding(mesh, P()))
whole = jax.make_array_from_callback((count * 8, 64), NamedSharding(mesh, P("x")), lambda index: jnp.ones((8, 64)))
for number in range(3):
    with jax.profiler.StepTraceAnnotation("train", step_num=number):
        found = total(whole).block_until_ready()
print("rank", jax.process_index(), "has", int(found))
"""


def test_collectives_meet_on_four_ranks(ridgeline: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("JAX_PLATFORMS", "cpu")
    # Each process has one device, whatever the flags of whoever runs the tests.
    monkeypatch.delenv("XLA_FLAGS", raising=False)
    assert run_job(ridgeline, tmp_path, SUM) == [f"rank {rank} has {32 * 32 * 64}" for rank in range(4)]
    collectives = rows(ridgeline, tmp_path, "collective")
    assert {row["ranks"] for row in collectives} == {4}
    names = [row["collective"] for row in collectives]
    # A step gathers the other ranks' rows and adds up what each rank found.
    assert (names.count("all-gather"), names.count("all-reduce")) == (3, 3)
    assert {row["bytes"] for row in collectives if row["collective"] == "all-reduce"} == {4}
    ranks = rows(ridgeline, tmp_path, "rank")
    assert [(row["rank"], row["collectives"]) for row in ranks] == [(rank, 6) for rank in range(4)]
