"""Loops of a program, as its text tells of them."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest
from ridgeline.loops import has_turns_apart, loop_around


def test_loops_are_known_by_what_they_go_over(tmp_path: Path) -> None:
    program = tmp_path / "program.py"
    program.write_text(
        """\
for p in model.parameters():
    for q in p:
        f(q)
    g(p)
x = [h(y) for y in zip(a, b)]
while True:
    k()
"""
    )
    found = [loop_around(str(program), line) for line in (1, 3, 4, 5, 7)]
    assert [(loop.over, around) for loop, around in found] == [
        ("", 0),
        ("p", 2),
        ("model.parameters()", 1),
        ("zip(a, b)", 1),
        ("", 1),
    ]


APART = [
    "for head in heads:\n  out.append(head(x))",
    "for i in range(n):\n  total += loss(x[i])",
    "for i in range(n):\n  total = total + loss(x[i])",
    "for i in range(n):\n  out[i] = x[i] * 2",
    "for c in range(n):\n  p = pred == c\n  t = target == c\n  ious.append((p & t).sum() / (p | t).sum())",
    "for i in range(n):\n  for j in range(n):\n    d[i, j] = (x[i] - x[j]).norm()",
    "for g in groups:\n  m = idx == g\n  if m.any():\n    out[g] = x[m].mean(0)",
    "for k in range(n):\n  p[k] = w[k] * pdf(x, mu[k])",
    "for i in range(n):\n  self.models[i], loss = self.update(self.models[i], x[i])",
    "for i, (x, y) in enumerate(pairs):\n  x = f(x)\n  self.out[i] = x - y",
]

BOUND = [
    "for layer in layers:\n  x = layer(x)",
    "for i in range(1, n):\n  u[i] = u[i - 1] + 1",
    "for t in range(n):\n  h = cell(x[:, t], h)\n  out.append(h)",
    "for t in range(n):\n  self.h = cell(x[:, t], self.h)",
    "for t in range(n):\n  out.append(cell(x[:, t], out[-1]))",
    "for t in range(n):\n  x += dt * f(x)",
    "for k in range(n):\n  s = s + x[k]\n  seen(s)",
    "for x, y in loader:\n  loss = f(x, y)\n  loss.backward()\n  opt.step()",
    "for x in xs:\n  if good(x):\n    break",
    "for x in xs:\n  while not good(x):\n    x = g(x)",
]


@pytest.mark.parametrize(("text", "expected"), [*((text, True) for text in APART), *((text, False) for text in BOUND)])
def test_turns_that_need_nothing_of_others_are_apart(text: str, expected: bool) -> None:
    loop = ast.parse(text).body[0]
    assert isinstance(loop, ast.For)
    assert has_turns_apart(loop) is expected
