"""What pip calls to build the package from a checkout: the program first, then maturin for everything else.

maturin packs either programs or an extension module; the wheel has both, so the program goes in as data.
`RIDGELINE_PROFILE=dev` builds in a minute what runs slower.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Any

import maturin

sys.path.insert(0, str(Path(__file__).resolve().parent))

from wheel import DATA, USUAL_PROFILE, program, stage  # noqa: E402 - beside this file

get_requires_for_build_wheel = maturin.get_requires_for_build_wheel
get_requires_for_build_sdist = maturin.get_requires_for_build_sdist
build_sdist = maturin.build_sdist


def prepare_metadata_for_build_wheel(folder: str, config_settings: dict[str, Any] | None = None) -> str:
    """The package's metadata, for which nothing has to be built."""
    # maturin wants to see the folder, whatever is in it.
    DATA.mkdir(parents=True, exist_ok=True)
    return str(maturin.prepare_metadata_for_build_wheel(folder, config_settings))


def build_wheel(folder: str, config_settings: dict[str, Any] | None = None, metadata: str | None = None) -> str:
    """The wheel of this machine."""
    profile = os.environ.get("RIDGELINE_PROFILE", USUAL_PROFILE)
    built = program(profile)
    stage(built, runs_here=built)
    arguments = os.environ.get("MATURIN_PEP517_ARGS", "")
    os.environ["MATURIN_PEP517_ARGS"] = f"{arguments} --profile {profile}".strip()
    return str(maturin.build_wheel(folder, config_settings, metadata))
