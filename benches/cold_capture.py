"""Makes a large capture of a program that compiles: an MBIRJAX cone beam reconstruction with the Python tracer on.

    python cold_capture.py FOLDER [SIZE]

Compilation inside the capture is what makes CPU captures large: hundreds of modules, and every pass of the compiler as an event.
"""

from __future__ import annotations

import sys

import jax
import mbirjax
import numpy as np


def main(folder: str, size: int) -> None:
    """Captures projecting and reconstructing a volume of `size`^3, from the first compilation on."""
    options = jax.profiler.ProfileOptions()
    options.python_tracer_level = 1
    options.host_tracer_level = 2
    angles = np.linspace(0, 2 * np.pi, size, endpoint=False)
    with jax.profiler.trace(folder, profiler_options=options):
        model = mbirjax.ConeBeamModel(
            (size, size, size), angles, source_detector_dist=4 * size, source_iso_dist=2 * size
        )
        model.set_params(verbose=0)
        phantom = np.ones(model.get_params("recon_shape"), dtype=np.float32)
        sinogram = model.forward_project(phantom)
        reconstruction, _ = model.recon(sinogram, max_iterations=2)
        jax.block_until_ready(reconstruction)


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 64)
