"""Jobs of several processes on this machine, each rank under the same `ridgeline record`, and tables of their recording."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
from pathlib import Path

#: Ranks of a job.
COUNT = 4


def run_job(ridgeline: Path, folder: Path, text: str, *, recorded: int = COUNT) -> list[str]:
    """What each rank printed last; the first so many are recorded into the same folder."""
    program = folder / "train.py"
    program.write_text(text)
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    ranks = []
    for rank in range(COUNT):
        command = [sys.executable, str(program)]
        if rank < recorded:
            command = [str(ridgeline), "record", "-o", "run", "--", *command]
        # The variables that `torchrun` sets.
        job = {"RANK": rank, "LOCAL_RANK": rank, "WORLD_SIZE": COUNT, "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": port}
        env = os.environ | {name: str(value) for name, value in job.items()}
        ranks.append(subprocess.Popen(command, cwd=folder, env=env, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True))
    told = [rank.communicate(timeout=240) for rank in ranks]
    assert [rank.returncode for rank in ranks] == [0] * COUNT, told
    return [stdout.strip().splitlines()[-1] for stdout, _ in told]


def rows(ridgeline: Path, folder: Path, view: str) -> list[dict]:
    """A table of the recording."""
    command = [str(ridgeline), "stats", "run", "--by", view, "-f", "json"]
    document = json.loads(subprocess.run(command, cwd=folder, check=True, capture_output=True, text=True).stdout)
    (table,) = document["tables"].values() if isinstance(document["tables"], dict) else document["tables"]
    return table["rows"]
