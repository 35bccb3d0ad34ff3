"""One peer's usual tables of a PyTorch trace: `python kineto_peers.py hta|tracelens TRACE`.

HTA is PyPI's HolisticTraceAnalysis; TraceLens is installed from its repository (github.com/AMD-AGI/TraceLens), for
another project has its name on PyPI.
"""

import subprocess
import sys
import tempfile
from pathlib import Path


def hta(trace: str) -> None:
    """Time by kind and by name of kernel."""
    from hta.trace_analysis import TraceAnalysis

    analysis = TraceAnalysis(trace_files={0: trace})
    for table in analysis.get_gpu_kernel_breakdown(visualize=False):
        print(table.head(10))


def tracelens(trace: str) -> None:
    """The report of TraceLens: timeline, operators, kernels."""
    command = Path(sys.executable).with_name("TraceLens_generate_perf_report_pytorch")
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([command, "--profile_json_path", trace, "--output_csvs_dir", folder], check=True)


if __name__ == "__main__":
    {"hta": hta, "tracelens": tracelens}[sys.argv[1]](sys.argv[2])
