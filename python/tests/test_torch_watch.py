"""What is watched of a PyTorch program: inputs that come again, padding, gradients that no optimizer reads. Needs torch."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from textwrap import dedent
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[2]


def watched(program: str) -> dict[str, Any]:
    """What is told of `program`, which has `torch` and `watch`, in a process of its own: the hooks are for good."""
    pytest.importorskip("torch")
    head = """
        import json, sys
        import torch
        from ridgeline.torch_watch import TorchWatch
        watch = TorchWatch(torch)
        watch.start()
        torch.manual_seed(0)
    """
    text = dedent(head) + dedent(program) + "\nprint(json.dumps(watch.told()))\n"
    done = subprocess.run([sys.executable, "-c", text], cwd=ROOT / "python", capture_output=True, text=True, check=True)

    return json.loads(done.stdout.splitlines()[-1])


ENCODER = """
    model = torch.nn.Sequential(torch.nn.Linear(64, 64), torch.nn.ReLU()).eval()
    pictures = torch.randn(40, 64)
"""


def test_the_same_input_again_is_seen_and_another_is_not() -> None:
    again = watched(
        ENCODER
        + """
    with torch.no_grad():
        for _ in range(10):
            model(pictures[:20])
            model(torch.randn(20, 64))
    """
    )
    (entry,) = again["repeated"]
    # Each line of the program is an entry; the fresh inputs of the second have none again.
    assert (entry["module"], entry["calls"], entry["again"], entry["frame"][1]) == ("Sequential", 10, 9, 14)


def test_inputs_in_dictionaries_and_other_values_are_compared_too() -> None:
    told = watched(
        """
    class Scaled(torch.nn.Module):
        def forward(self, outputs, targets, factor):
            return ((outputs["head"] - targets) * factor).sum()

    class Same(torch.nn.Module):
        def forward(self, outputs):
            return outputs["head"].sum()

    loss, same = Scaled(), Same()
    outputs, targets = {"head": torch.randn(20, 64)}, torch.randn(20, 64)
    for step in range(10):
        loss({"head": torch.randn(20, 64)}, targets, 1.0)
        loss(outputs, targets, float(step))
        same(outputs)
    """
    )
    assert [(entry["module"], entry["again"]) for entry in told["repeated"]] == [("Same", 9)]


def test_examples_that_a_frozen_module_had_in_other_batches() -> None:
    told = watched(
        ENCODER
        + """
    head = torch.nn.Linear(64, 4)
    optimizer = torch.optim.SGD(head.parameters(), lr=0.1)
    for _ in range(5):
        for rows in torch.randperm(40).split(10):
            with torch.no_grad():
                features = model(pictures[rows])
            optimizer.zero_grad()
            head(features).sum().backward()
            optimizer.step()
    """
    )
    (entry,) = told["repeated"]
    # Every pass after the first.
    assert (entry["module"], entry["calls"], entry["again"]) == ("Sequential", 20, 16)


@pytest.mark.parametrize(
    "change",
    ["pictures = pictures + 1", "next(model.parameters()).data.add_(1)", "pictures.normal_()"],
)
def test_examples_or_weights_that_change_are_not_had_before(change: str) -> None:
    told = watched(
        ENCODER
        + f"""
    with torch.no_grad():
        for _ in range(5):
            for rows in torch.randperm(40).split(10):
                model(pictures[rows])
            {change}
    """
    )
    assert "repeated" not in told


@pytest.mark.parametrize(
    "between",
    ["pictures.add_(1)", "pictures.data[0] += 1", "next(model.parameters()).data[0] += 1"],
)
def test_an_input_or_weight_that_changes_is_not_the_same(between: str) -> None:
    told = watched(
        ENCODER
        + f"""
    with torch.no_grad():
        for _ in range(10):
            model(pictures)
            {between}
    """
    )
    assert told == {}


SYSTEM = """
    matrix = torch.randn(80, 80) + 80 * torch.eye(80)
"""


@pytest.mark.parametrize(
    ("call", "told"),
    [
        # The matrix alone decides about a factorization, in whatever array it is.
        ("torch.linalg.solve(matrix, torch.randn(80))", [["torch.linalg.solve", 10, 9]]),
        ("torch.linalg.inv(matrix.clone())", [["torch.linalg.inv", 10, 9]]),
        ("torch.fft.rfft(matrix, n=128)", [["torch.fft.rfft", 10, 9]]),
        ("torch.linalg.solve(matrix + torch.rand(1), torch.ones(80))", []),
        ("matrix[0, 0] += 1; torch.linalg.cholesky(matrix @ matrix.T)", []),
        # A part of it, and what a gradient is wanted of.
        ("torch.linalg.inv(matrix[:20, :20])", []),
        ("torch.linalg.inv(matrix.clone().requires_grad_())", []),
    ],
)
def test_functions_that_had_their_argument_before(call: str, told: list[list[Any]]) -> None:
    found = watched(SYSTEM + f"\n    for _ in range(10):\n        {call}\n").get("repeated", [])
    assert [[entry["module"], entry["calls"], entry["again"]] for entry in found] == told


def test_scripts_and_compiled_programs_have_the_functions_themselves() -> None:
    told = watched(
        SYSTEM
        + """
    import pathlib, sys, tempfile
    folder = tempfile.mkdtemp()
    pathlib.Path(folder, "scripted.py").write_text(
        "import torch\\n\\ndef inverse(matrix: torch.Tensor) -> torch.Tensor:\\n    return torch.linalg.inv(matrix) + torch.fft.rfft(matrix).real.sum()\\n"
    )
    sys.path.insert(0, folder)
    from scripted import inverse
    expected = inverse(matrix)
    scripted, traced = torch.jit.script(inverse), torch.jit.trace(inverse, matrix)
    compiled = torch.compile(inverse, backend="eager", fullgraph=True)
    mapped = torch.func.vmap(inverse)(matrix[None])[0]
    assert all(torch.allclose(found(matrix), expected) for found in (scripted, traced, compiled)) and torch.allclose(mapped, expected)
    """
    )
    assert "repeated" not in told or all(entry["calls"] < 8 for entry in told["repeated"])


def test_functions_that_are_called_often_get_their_place_again() -> None:
    told = watched(
        SYSTEM
        + """
    wrapper = torch.linalg.inv
    for _ in range(300):
        torch.linalg.inv(matrix)
    assert torch.linalg.inv is not wrapper and torch.linalg.inv is wrapper.__wrapped__
    """
    )
    assert [entry["calls"] for entry in told["repeated"]] == [256]


def test_dropout_that_is_on_gives_other_results() -> None:
    told = watched(
        """
    model = torch.nn.Sequential(torch.nn.Linear(64, 64), torch.nn.Dropout()).train()
    pictures = torch.randn(40, 64)
    with torch.no_grad():
        for _ in range(10):
            model(pictures)
    """
    )
    assert told == {}


@pytest.mark.parametrize(("padding", "reached"), [("padding_idx=0", 24), ("", 24)])
def test_padding_beyond_the_longest_row_is_counted(padding: str, reached: int) -> None:
    told = watched(
        f"""
    table = torch.nn.Embedding(100, 8{", " + padding if padding else ""})
    for _ in range(5):
        texts = torch.zeros(8, 96, dtype=torch.long)
        for row in range(8):
            length = 24 if row == 3 else 12
            texts[row, :length] = torch.randint(1, 100, (length,))
        table(texts)
    """
    )
    found = told["padding"]
    assert (found["looks"], found["beyond_longest"]) == (5, 1 - reached / 96)
    assert found["share"] == pytest.approx(1 - (7 * 12 + 24) / (8 * 96), abs=1e-4)


def test_rows_without_padding_have_none() -> None:
    told = watched(
        """
    table = torch.nn.Embedding(100, 8)
    for _ in range(5):
        table(torch.randint(1, 100, (8, 96)))
    """
    )
    assert told == {}


TRAINING = """
    body, head = torch.nn.Linear(16, 16), torch.nn.Linear(16, 2)
    model = torch.nn.Sequential(body, head)
    optimizer = torch.optim.SGD({parameters}, lr=0.1)
    for _ in range(8):
        optimizer.zero_grad()
        model(torch.randn(4, 16)).sum().backward()
        optimizer.step()
"""


def test_gradients_that_no_optimizer_has_are_told() -> None:
    told = watched(TRAINING.format(parameters="head.parameters()"))
    assert told == {"unread_gradients": {"numbers": 272, "of": 306, "arrays": 2, "names": ["0.weight", "0.bias"]}}


def test_gradients_of_all_parameters_are_read() -> None:
    assert watched(TRAINING.format(parameters="model.parameters()")) == {}


def test_a_second_optimizer_has_the_rest_later() -> None:
    told = watched(
        TRAINING.format(parameters="head.parameters()")
        + """
    other = torch.optim.SGD(body.parameters(), lr=0.1)
    other.step()
    """
    )
    assert told == {}


GAN = """
    generator, critic = torch.nn.Linear(16, 8), torch.nn.Linear(8, 1)
    trains_generator = torch.optim.Adam(generator.parameters())
    trains_critic = torch.optim.Adam(critic.parameters())
    for _ in range(8):
        fake = generator(torch.randn(4, 16)){cut}
        trains_critic.zero_grad()
        critic(fake).mean().backward()
        trains_critic.step()
        trains_generator.zero_grad()
        critic.requires_grad_(False)
        (-critic(generator(torch.randn(4, 16))).mean()).backward()
        critic.requires_grad_(True)
        trains_generator.step()
    """


def test_gradients_that_are_cleared_unread_are_told() -> None:
    (told,) = watched(GAN.format(cut=""))["cleared_gradients"]
    assert told["frame"][2] == "<module>"
    assert {key: told[key] for key in ("optimizer", "numbers", "times", "of")} == {
        "optimizer": "Adam", "numbers": 136, "times": 6, "of": 6
    }


def test_a_critic_that_is_cut_off_throws_nothing_away() -> None:
    assert watched(GAN.format(cut=".detach()")) == {}


def test_a_compiled_model_is_left_alone() -> None:
    told = watched(
        """
    model = torch.compile(torch.nn.Linear(64, 64), backend="eager").eval()
    pictures = torch.randn(40, 64)
    with torch.no_grad():
        results = [model(pictures) for _ in range(3)]
    assert all(torch.equal(results[0], result) for result in results)
    """
    )
    assert set(told) <= {"repeated"}


def test_watching_leaves_no_operator_in_a_trace() -> None:
    told = watched(
        ENCODER
        + """
    table = torch.nn.Embedding(100, 8, padding_idx=0)
    texts = torch.zeros(8, 96, dtype=torch.long)
    with torch.profiler.profile() as trace, torch.no_grad():
        model(pictures)
        model(pictures.t().contiguous().t())
        table(texts)
    seen = {event.key for event in trace.key_averages()}
    assert not seen & {"aten::detach", "aten::to", "aten::resolve_neg"}, seen
    """
    )
    assert told["padding"]["share"] == 1.0


@pytest.mark.parametrize(("keeps", "told"), [("False", [[2, 3]]), ("True", [])])
def test_workers_that_each_pass_starts_are_counted(keeps: str, told: list[list[int]]) -> None:
    seen = watched(
        f"""
    table = torch.utils.data.TensorDataset(torch.arange(8.0))
    loader = torch.utils.data.DataLoader(table, batch_size=4, num_workers=2, persistent_workers={keeps})
    alone = torch.utils.data.DataLoader(table, batch_size=4)
    for _ in range(3):
        for _ in loader:
            pass
        for _ in alone:
            pass
    """
    )
    assert [[entry["workers"], entry["passes"]] for entry in seen.get("restarted_workers", [])] == told


def test_pytorch_warns_of_no_hooks_in_compiled_programs() -> None:
    watched(
        """
    import warnings
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        model = torch.compile(torch.nn.Linear(4, 4), backend="eager")
        model(torch.randn(2, 4))
    assert not [warning for warning in told if "global hooks" in str(warning.message)], told
    """
    )


def test_looking_ends_where_it_took_too_long() -> None:
    told = watched(
        ENCODER
        + """
    watch.cost_s = 1000.0
    with torch.no_grad():
        for _ in range(10):
            model(pictures)
    """
    )
    assert told == {}


def test_programs_that_are_traced_are_left_alone() -> None:
    program = """
        class Scorer(torch.nn.Module):
            def __init__(self) -> None:
                super().__init__()
                self.decoder = torch.nn.Sequential(torch.nn.Linear(64, 64), torch.nn.SiLU())
                self.noise = torch.nn.Parameter(torch.zeros(64))
            def forward(self, x):
                return self.decoder(x).square().sum(-1) + self.noise.sum()
        model = Scorer().eval()
        with torch.no_grad():
            for _ in range(8):
                x = torch.randn(3072, 64)
                torch.jit.trace(model, x)(x)
    """
    assert not watched(program).get("repeated")


def test_conversions_of_lists_are_timed_and_others_are_not() -> None:
    program = """
        import numpy as np
        pieces = [np.zeros(64, np.float32) for _ in range(64)]
        scripted = torch.jit.script(torch.nn.ReLU())
        for _ in range(10):
            scripted(torch.tensor(pieces))
            torch.tensor(3.0)
            torch.as_tensor(pieces[0])
        for _ in range(3):
            torch.tensor([1.0, 2.0])
    """
    [found] = watched(program)["conversions"]
    assert (found["of"], found["calls"], 0.0 < found["part"] <= 1.0) == ("`torch.tensor` of a list of NumPy arrays", 10, True)
