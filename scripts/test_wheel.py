"""Installs a wheel into a fresh environment, away from the checkout, and uses it: `python scripts/test_wheel.py [WHEEL]`.

Records, checks and views a program; reads tables with pandas, polars, pyarrow and DuckDB; runs a notebook in a real kernel; asks the server
for agents with the official client. Without a wheel it takes the newest in `target/wheels`; without any it is skipped.
Packages come from PyPI. `--quick` installs nothing but the wheel, and so leaves out what needs other packages.
"""

from __future__ import annotations

import argparse
import os
import re
import subprocess
import sys
import tempfile
import textwrap
import urllib.request
import venv
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PACKAGES = ("jax", "pandas>=3", "polars", "pyarrow", "duckdb", "pytest", "mypy", "nbclient", "ipykernel", "mcp")

PROGRAM = """
import jax, ridgeline
from jax import numpy as jnp

@ridgeline.region
def step(x):
    return jnp.tanh(x @ x)

x = jnp.ones((256, 256))
for number in range(10):
    with jax.profiler.StepTraceAnnotation("step", step_num=number):
        x = step(x).block_until_ready()
"""

TABLES = """
import duckdb, pandas, polars, pyarrow, ridgeline
table = ridgeline.open("run").tables["op"]
arrow = pyarrow.table(table)
sums = {
    int(arrow["self_ns"].to_pandas().sum()),
    int(pandas.DataFrame.from_arrow(table)["self_ns"].sum()),
    int(polars.DataFrame(table)["self_ns"].sum()),
    int(duckdb.sql("select sum(self_ns) from arrow").fetchall()[0][0]),
    sum(row["self_ns"] for row in table.rows()),
}
assert len(sums) == 1 and sums.pop() > 0, sums
"""

TYPED = """
import ridgeline
run: ridgeline.Run = ridgeline.open("run")
reveal_type(run.check().causes[0].saving)
reveal_type(run.tables["op"])
"""

AGENT = """
import asyncio, sys
from mcp import ClientSession, StdioServerParameters
from mcp.client.stdio import stdio_client

async def main():
    async with stdio_client(StdioServerParameters(command=sys.argv[1], args=["mcp"])) as (read, write):
        async with ClientSession(read, write) as session:
            await session.initialize()
            tools = (await session.list_tools()).tools
            assert len(tools) == 8, tools
            opened = await session.call_tool("open", {"path": "run"})
            assert opened.content[0].text.startswith("id: c1\\n"), opened
            table = await session.call_tool("table", {"id": "c1", "view": "op", "top": 1})
            assert "self_ns [ns, measured]" in table.content[0].text, table

asyncio.run(main())
"""

CELLS = (
    "import ridgeline\nrun = ridgeline.open('run')\nrun",
    "run.timeline()",
    "run.tables['op']",
    "with ridgeline.record('block', framework='jax') as recording:\n"
    "    import jax\n    jax.numpy.ones((64, 64)).sum().block_until_ready()\nrecording.run.tables['op']",
)

NOTEBOOK = """
import nbformat, sys
from nbclient import NotebookClient
notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(cell) for cell in {cells!r}])
NotebookClient(notebook, timeout=300, kernel_name="python3").execute()
shown = [output["data"].get("text/html", "") for cell in notebook.cells for output in cell.outputs if "data" in output]
assert len(shown) == 4 and all(shown), [len(html) for html in shown]
assert "<iframe srcdoc=" in shown[0] and "<iframe srcdoc=" in shown[1] and "<table>" in shown[2]
nbformat.write(notebook, "shown.ipynb")
"""


def main() -> int:
    """Runs every part; an exception ends it."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("wheel", nargs="?", type=Path)
    parser.add_argument("--quick", action="store_true")
    asked = parser.parse_args()
    wheel = asked.wheel or newest()
    if wheel is None:
        print("skipped: wheel: none in target/wheels; `make wheel` builds it")
        return 0
    with tempfile.TemporaryDirectory() as folder:
        used = Use(Path(folder), wheel.resolve(), () if asked.quick else PACKAGES)
        parts = [used.has_all_files, used.reads_a_capture]
        if not asked.quick:
            parts += [used.records, used.views, used.tables, used.types, used.notebook, used.agent]
        for part in parts:
            part()
            print(f"ok: {part.__name__.replace('_', ' ')}", flush=True)
    print(f"{len(parts)} passed in 0.0s")
    return 0


def newest() -> Path | None:
    """The newest wheel for this machine."""
    folder = Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target")) / "wheels"
    wheels = sorted(folder.glob(f"ridgeline-*{os.uname().machine}.whl"), key=lambda wheel: wheel.stat().st_mtime)
    return wheels[-1] if wheels else None


class Use:
    """An environment with the wheel, and a folder that is no checkout."""

    def __init__(self, folder: Path, wheel: Path, packages: tuple[str, ...]) -> None:
        self.folder = folder
        self.bin = folder / "venv" / "bin"
        venv.create(folder / "venv", with_pip=True)
        self.run(str(self.bin / "python"), "-m", "pip", "install", "-q", "--disable-pip-version-check", str(wheel), *packages)

    def run(self, *command: str, status: int = 0) -> str:
        """What a command prints; nothing of this process's Python or checkout reaches it."""
        kept = {key: value for key, value in os.environ.items() if not key.startswith(("PYTHON", "VIRTUAL_ENV", "RIDGELINE"))}
        environment = {**kept, "PATH": f"{self.bin}{os.pathsep}{os.environ['PATH']}", "JAX_PLATFORMS": "cpu"}
        ended = subprocess.run(command, cwd=self.folder, env=environment, capture_output=True, text=True, check=False)
        if ended.returncode != status:
            sys.exit(f"expected {command} to end with {status}, found {ended.returncode}\n{ended.stdout}\n{ended.stderr}")
        return ended.stdout

    def python(self, text: str, *arguments: str) -> str:
        """Runs a program."""
        (self.folder / "part.py").write_text(textwrap.dedent(text))
        return self.run(str(self.bin / "python"), "part.py", *arguments)

    def has_all_files(self) -> None:
        """Program, completions and manual are where the system looks for them."""
        share = self.folder / "venv" / "share"
        for name in ("bash-completion/completions/ridgeline", "man/man1/ridgeline.1", "man/man1/ridgeline-record.1"):
            assert (share / name).stat().st_size > 0, name
        assert re.match(r"ridgeline \d", self.run("ridgeline", "--version"))

    def reads_a_capture(self) -> None:
        """The module and the program say the same."""
        capture = str(ROOT / "fixtures" / "real" / "xplane" / "nvidia_like.xplane.pb")
        found = self.python(f"import ridgeline; print(ridgeline.open({capture!r}).check().headline)").strip()
        assert found and found in self.run("ridgeline", "check", capture, "--fail-on", "never"), found

    def records(self) -> None:
        """A program is recorded and judged."""
        (self.folder / "program.py").write_text(PROGRAM)
        self.run("ridgeline", "record", "-o", "run", "--", "python", "program.py")
        assert "step" in self.run("ridgeline", "stats", "run", "--by", "op")
        self.run("ridgeline", "check", "run", "--fail-on", "never")

    def views(self) -> None:
        """The page is served."""
        server = subprocess.Popen(
            [self.bin / "ridgeline", "view", "run", "--no-open"], cwd=self.folder, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
        )
        try:
            address = (server.stdout.readline() if server.stdout else "").strip()
            with urllib.request.urlopen(address, timeout=60) as page:
                assert page.status == 200 and b"<html" in page.read().lower()
        finally:
            server.terminate()
            server.wait()

    def tables(self) -> None:
        """Every library takes the same table."""
        self.python(TABLES)

    def types(self) -> None:
        """The package's types are found."""
        (self.folder / "typed.py").write_text(TYPED)
        said = self.run(str(self.bin / "mypy"), "--strict", "typed.py")
        assert "ridgeline.api.findings.Saving | None" in said.replace("Union[", "").replace(", None]", " | None"), said

    def notebook(self) -> None:
        """Cells show what they should in a real kernel."""
        self.python(NOTEBOOK.format(cells=CELLS))

    def agent(self) -> None:
        """The official client of the Model Context Protocol understands the server."""
        self.python(AGENT, str(self.bin / "ridgeline"))


if __name__ == "__main__":
    sys.exit(main())
