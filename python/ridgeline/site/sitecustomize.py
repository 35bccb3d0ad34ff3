"""Load the recorder's harness into this Python process, after whatever `sitecustomize` it stands in front of.

This file runs in every Python process of a recorded program, whatever its version, so it uses old syntax only, and nothing that it
does may fail.
It takes its own folder off the path again: the program sees the modules that it would have seen.
"""

import os
import sys


def _chain(here):
    """Run the sitecustomize that this one shadows, as if this one had never been there."""
    from importlib import machinery, util

    spec = machinery.PathFinder.find_spec("sitecustomize", [entry for entry in sys.path if entry != here])
    if spec is None or spec.loader is None:
        return
    module = util.module_from_spec(spec)
    sys.modules["sitecustomize"] = module
    spec.loader.exec_module(module)


def _attach(here):
    config = os.environ.get("RIDGELINE_RECORD")
    if not config or sys.version_info < (3, 10):
        return
    sys.path.insert(0, here)
    try:
        from _ridgeline_harness import attach
    finally:
        sys.path.remove(here)
    attach.attach(config)


def _main():
    here = os.path.dirname(os.path.abspath(__file__))
    sys.path[:] = [entry for entry in sys.path if entry != here]
    try:
        _attach(here)
    except Exception:
        # Nothing to tell it to: the manifest will say that no harness was loaded.
        pass
    _chain(here)


if sys.version_info >= (3, 4):
    _main()
