"""Let a program under Ridgeline import `ridgeline` where the package is not installed.

Its hooks do nothing without Ridgeline, so a program that falls back where the package is absent would lose them exactly where they
count.
Whatever the program finds under that name itself goes first.
"""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from typing import Any

_NAME = "ridgeline"


def provide() -> None:
    """Have `import ridgeline` find this package if nothing else is called so."""
    sys.meta_path.append(_Last())


class _Last:
    def find_spec(self, name: str, path: Any = None, target: Any = None) -> Any:
        if name != _NAME:
            return None
        here = Path(__file__).parent
        return importlib.util.spec_from_file_location(_NAME, here / "__init__.py", submodule_search_locations=[str(here)])
