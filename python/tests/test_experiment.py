"""Changes made from outside: each applies where it should, gives the same results, and leaves alone what it cannot change."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from experimenting import run

HEAD = "import jax, jax.numpy as jnp, numpy as np\n"


CASES = {
    "donate": "f = jax.jit(lambda x: x.at[0].set(1.0))\nx = jnp.zeros((64, 64))\nfor i in range(6):\n    x = f(x)\nprint(x.sum())\n",
    "late": "x = jnp.ones(8)\nlog = []\nfor i in range(6):\n    x = x * 2\n    log.append(float(x[0]))\n    print(i, log[-1])\nprint(sum(log))\n",
    "device-loop": "f = jax.jit(lambda x: x * 0.5 + 1)\nx = jnp.ones(8)\nfor i in range(40):\n    x = f(x)\nprint(x[0])\n",
    "jit-function": "def f(x, k=2):\n    y = jnp.sin(x) * k\n    return y + x\nx = jnp.ones(8)\nfor i in range(6):\n    x = f(x)\nprint(round(float(x[0]), 4))\n",
    "jit-line": "x = jnp.ones(8)\nfor i in range(6):\n    x = jnp.sin(x) * 2 + x\nprint(round(float(x[0]), 4))\n",
    "constants-kept": "a = np.ones(8)\nx = jnp.zeros(8)\nfor i in range(9):\n    b = jnp.asarray(a.astype(np.float32))\n    x = x + b\nprint(x[0])\n",
    "arrays-kept": "a = np.ones(80)\nx = jnp.zeros(80)\nfor i in range(9):\n    x = x + jnp.asarray(a * 2)\nprint(x[0])\n",
    "hoist-jit": "x = jnp.ones(8)\nc = 3\nfor i in range(4):\n    f = jax.jit(lambda y: y * c)\n    x = f(x)\nprint(x[0])\n",
    "traced-numbers": "from functools import partial\n@partial(jax.jit, static_argnames='t')\ndef f(x, t):\n    return x * t\n"
    "x = jnp.ones(8)\nfor i in range(5):\n    x = f(x, 1.0 + i)\nprint(x[0])\n",
    "pad": "f = jax.jit(lambda x: (x * 2).sum())\nt = 0.0\nfor n in (9, 4, 7, 5):\n    t += float(f(jnp.ones(n)))\nprint(t)\n",
    "prefetch": "def items():\n    for i in range(5):\n        yield np.full(8, i, np.float32)\nt = jnp.zeros(8)\nfor x in items():\n    t = t + x\nprint(t[0])\n",
    "no-checkpoint": "@jax.checkpoint\ndef f(x):\n    return jnp.sin(x)\ng = jax.jit(jax.grad(lambda x: f(x).sum()))\nx = jnp.ones(8)\nfor i in range(4):\n    x = g(x)\nprint(x[0])\n",
    "batched-map": "f = jax.jit(lambda x: jax.lax.map(lambda y: y * 2 + 1, x))\nx = jnp.ones(8)\nfor i in range(4):\n    x = f(x)\nprint(x[0])\n",
    "algebra": "f = jax.jit(lambda x: jnp.sort(jnp.power(x, 4.0).reshape(4, 512), axis=0).reshape(-1) * 0.5)\nx = jnp.linspace(0, 1, 2048)\nfor i in range(3):\n    x = f(x)\nprint(round(float(x.sum()), 3))\n",
    "twice": "x = jnp.ones(8)\nf = jax.jit(lambda x: x + 1)\nfor i in range(4):\n    x = f(x)\nprint(x[0])\n",
}


@pytest.mark.parametrize("change", CASES)
def test_a_change_applies_and_gives_the_same(tmp_path: Path, change: str) -> None:
    pytest.importorskip("jax")
    program = HEAD + CASES[change]
    line = program.splitlines().index("    x = f(x)") + 1 if change == "twice" else None
    expected, as_it_is = run(tmp_path, program, None)
    printed, report = run(tmp_path, program, change, line)
    assert printed == expected
    assert report["applied"], report["failed"]
    assert not as_it_is["applied"]
    of_loop = lambda found: [(loop["line"], loop["iterations"]) for loop in found["loops"]]  # noqa: E731 - one line says it
    assert of_loop(report)[:1] == of_loop(as_it_is)[:1]


REFUSALS = {
    # Another name still has the array.
    "donate": "f = jax.jit(lambda x: x + 1)\nx = jnp.ones(8)\nfirst = []\nfor i in range(4):\n    first.append(x)\n    x = f(x)\nprint(float(sum(first)[0]))\n",
    # The value decides.
    "jit-function": "def f(x):\n    return x * 2 if x[0] > 0 else x\nx = jnp.ones(8)\nfor i in range(4):\n    x = f(x)\nprint(x[0])\n",
    # Another value each time.
    "constants-kept": "rng = np.random.default_rng(0)\nt = 0.0\nfor i in range(9):\n    a = rng.random(8)\n    t += a[0]\nprint(t)\n",
    # A shape.
    "traced-numbers": "from functools import partial\n@partial(jax.jit, static_argnames='n')\ndef f(x, n):\n    return jnp.zeros(n) + x\n"
    "for n in range(2, 5):\n    print(f(1.0, n).shape)\n",
}


@pytest.mark.parametrize("change", REFUSALS)
def test_what_cannot_be_changed_runs_as_it_is(tmp_path: Path, change: str) -> None:
    pytest.importorskip("jax")
    program = HEAD + REFUSALS[change]
    expected, _ = run(tmp_path, program, None)
    printed, report = run(tmp_path, program, change)
    assert printed == expected
    assert not report["applied"] and report["failed"], report


def test_a_line_in_a_compiled_function_is_computed_twice(tmp_path: Path) -> None:
    pytest.importorskip("jax")
    body = "@jax.jit\ndef f(x):\n    y = jnp.sin(x) @ jnp.cos(x)\n    return y / y.max()\nx = jnp.ones((64, 64))\nfor i in range(3):\n    x = f(x)\n"
    program = HEAD + body + "print(f.lower(x).compile().as_text().count(' dot('))\n"
    once, _ = run(tmp_path, program, None)
    again, report = run(tmp_path, program, "twice", 4)
    assert report["applied"]
    assert int(again) == 2 * int(once) > 0


def test_the_main_file_runs_as_python_runs_it(tmp_path: Path) -> None:
    (tmp_path / "beside.py").write_text("NAME = __name__\n")
    program = (
        '"""A text."""\nfrom __future__ import annotations\nimport sys, beside\n'
        "print(__name__, __file__, __spec__, sys.argv, sys.path[0] == sys.path[0], beside.NAME, __doc__)\n"
        "def fails():\n    for i in range(3):\n        raise ValueError('here')\n"
        "try:\n    fails()\nexcept ValueError as error:\n    print(error.__traceback__.tb_next.tb_lineno)\n"
    )
    (tmp_path / "program.py").write_text(program)
    plain = subprocess.run([sys.executable, "program.py"], cwd=tmp_path, capture_output=True, text=True, check=True).stdout
    printed, report = run(tmp_path, program, "late")
    assert printed == plain
    assert not report["has_library"]
