"""Runs the tests that record and change real PyTorch programs, in an environment of their own.

PyPI's torch for Linux brings gigabytes of CUDA libraries, so `make test` leaves these tests out and says so; `TORCH_INDEX` names an
index with other wheels.
Needs Rust and Python 3.11; everything else is installed into `.venv-torch`.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
VENV_PYTHON = ROOT / ".venv-torch" / "bin" / "python"


def main() -> int:
    """Installs what is missing, runs the tests, and ends with their status."""
    if not VENV_PYTHON.exists():
        subprocess.run([sys.executable, "-m", "venv", str(ROOT / ".venv-torch")], check=True)
    if subprocess.run([str(VENV_PYTHON), "-c", "import torch, pytest"], stderr=subprocess.DEVNULL).returncode != 0:
        pip = [str(VENV_PYTHON), "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
        # Another index, such as https://download.pytorch.org/whl/cpu, has wheels without CUDA.
        index = os.environ.get("TORCH_INDEX")
        subprocess.run([*pip, "torch", *(["--index-url", index] if index else [])], check=True)
        subprocess.run([*pip, "numpy", "pytest"], check=True)
    subprocess.run(["cargo", "build", "--quiet", "--workspace", "--bin", "ridgeline"], cwd=ROOT, check=True)
    names = ("test_record_torch.py", "test_experiment_torch.py", "test_torch_programs.py", "test_torch_watch.py",
             "test_ranks_torch.py")
    tests = [str(VENV_PYTHON), "-m", "pytest", "-q", "-rs", *(f"python/tests/{name}" for name in names)]
    return subprocess.run(tests, cwd=ROOT).returncode


if __name__ == "__main__":
    sys.exit(main())
