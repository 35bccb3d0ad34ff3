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


def _refuse(config, why):
    """Leave word beside the pieces of the manifest that this process has none, and why."""
    try:
        with open(os.path.join(os.path.dirname(config), "pieces", "refused-%d" % os.getpid()), "w") as file:
            file.write(why)
    except Exception:
        # The manifest will say that no harness was loaded.
        pass


def _attach(here, module, config):
    if sys.version_info < (3, 10):
        _refuse(config, "it needs Python 3.10 or newer, found %d.%d" % sys.version_info[:2])
        return
    from importlib import import_module

    sys.path.insert(0, here)
    try:
        harness = import_module("_ridgeline_harness." + module)
    finally:
        sys.path.remove(here)
    harness.attach(config)


def _main():
    here = os.path.dirname(os.path.abspath(__file__))
    sys.path[:] = [entry for entry in sys.path if entry != here]
    ours = (("attach", "RIDGELINE_RECORD"), ("emulate", "RIDGELINE_EMULATE"), ("experiment", "RIDGELINE_EXPERIMENT"))
    for module, variable in ours:
        config = os.environ.get(variable)
        if config:
            try:
                _attach(here, module, config)
            except Exception as error:
                _refuse(config, "%s: %s" % (type(error).__name__, error))
    _chain(here)


if sys.version_info >= (3, 4):
    _main()
