"""Runs the tests that record and change real PyTorch programs, in an environment of their own.

PyPI's torch for Linux brings gigabytes of CUDA libraries, so `make test` leaves these tests out and says so.
Needs Rust and Python 3.11; everything else is installed into `.venv-torch`.
"""

from __future__ import annotations

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
        subprocess.run([*pip, "torch", "numpy", "pytest"], check=True)
    tests = [str(VENV_PYTHON), "-m", "pytest", "-q", "-rs", "python/tests/test_record_torch.py", "python/tests/test_experiment_torch.py"]
    return subprocess.run(tests, cwd=ROOT).returncode


if __name__ == "__main__":
    sys.exit(main())
