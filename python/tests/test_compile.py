"""What compiling for a GPU that is not there reads and is given, as far as it needs no compiler."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from ridgeline import compile_assembler, compile_device, compile_function, compile_source, modules


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("f64[6,96,96]", (None, ("float64", (6, 96, 96)))),
        ("i32[]", (None, ("int32", ()))),
        ("mask=pred[8]", ("mask", ("bool", (8,)))),
        ("n=3", ("n", 3)),
        ("0.5", (None, 0.5)),
        ("'same'", (None, "same")),
        ("(2, 3)", (None, [2, 3])),
    ],
)
def test_arguments(text: str, expected: object) -> None:
    assert compile_function._argument(text) == expected


@pytest.mark.parametrize("text", ["f32[6,96", "f7[3]", "x", "n=", "f32[a]"])
def test_arguments_that_are_none(text: str) -> None:
    with pytest.raises(compile_function.Refused, match="expected a shape"):
        compile_function._argument(text)


FAILING = """
import math

def needs_two(a, b):
    return a + b

def deep(a):
    return helper(a)

def helper(a):
    raise ValueError("\\nthe reason\\nand more of it")

def unsaid(a):
    raise KeyError

def missing(a):
    import no_such_module_here
"""


@pytest.mark.parametrize(
    ("function", "status", "said"),
    [
        # JAX ends its own traces with remarks, which are not the reason.
        ("needs_two", 1, "TypeError: needs_two() missing 1 required positional argument: 'b'"),
        ("deep", 1, "ValueError: the reason (program.py:11)"),
        ("unsaid", 1, "KeyError (program.py:14)"),
        ("missing", 3, "ModuleNotFoundError: No module named 'no_such_module_here' (program.py:17)"),
        ("none", 1, "has no function `none`; it has deep, helper, missing, needs_two, unsaid"),
    ],
)
def test_a_function_that_cannot_be_lowered_says_why_in_its_last_line(
    tmp_path: Path, capsys: pytest.CaptureFixture, function: str, status: int, said: str
) -> None:
    pytest.importorskip("jax")
    program = tmp_path / "program.py"
    program.write_text(FAILING)
    assert compile_function.main([str(program), function, str(tmp_path / "out"), "f32[4]"]) == status
    assert said in capsys.readouterr().err.splitlines()[-1]


def test_constants_that_were_left_out_get_values_that_differ() -> None:
    text, count = compile_source._made_up(
        "%c = stablehlo.constant dense_resource<__elided__> : tensor<2x3xf32>\n"
        "%d = stablehlo.constant dense<1> : tensor<i32>\n"
        "%e = stablehlo.constant dense_resource<__elided__> : tensor<4xi16>"
    )
    assert count == 2
    first, second, third = text.splitlines()
    assert first.endswith('dense<"0x0000003F0100003F0200003F0300003F0400003F0500003F"> : tensor<2x3xf32>')
    assert second.endswith("dense<1> : tensor<i32>")
    assert third.endswith('dense<"0x0000010002000300"> : tensor<4xi16>')


def test_constants_that_cannot_be_made_up_are_refused() -> None:
    with pytest.raises(ValueError, match="its type is f8E4M3FN"):
        compile_source._made_up("dense_resource<__elided__> : tensor<8xf8E4M3FN>")
    with pytest.raises(ValueError, match="more than 256 MiB"):
        compile_source._made_up("dense_resource<__elided__> : tensor<99999999999xf64>")


def test_portable_bytecode_is_read_as_what_was_lowered_and_calls_back_as_a_gpu_does(tmp_path: Path) -> None:
    jax = pytest.importorskip("jax")
    mlir = pytest.importorskip("jax._src.interpreters.mlir")

    def program(x: object) -> object:
        jax.debug.callback(print, x.sum())
        return x + 1

    mesh = jax.sharding.Mesh(jax.devices()[:1], ("devices",))
    sharding = jax.sharding.NamedSharding(mesh, jax.sharding.PartitionSpec("devices"))
    lowered = jax.jit(program).lower(jax.ShapeDtypeStruct((4, 4), "float32", sharding=sharding)).compiler_ir()
    before = lowered.operation.get_asm()
    (tmp_path / "portable.mlirbc").write_bytes(modules._portable(lowered))
    (tmp_path / "stablehlo.mlir").write_text(before)
    assert lowered.operation.get_asm() == before, "what JAX compiles is left as it is"
    for name in ("portable.mlirbc", "stablehlo.mlir"):
        with mlir.make_ir_context():
            module, notes = compile_source.read_source(tmp_path / name)
            text = module.operation.get_asm()
        assert notes == ["1 callbacks to Python were lowered for a CPU, and are compiled as calls from a GPU"]
        assert "@xla_ffi_python_gpu_callback" in text
        assert "cpu_callback" not in text
        assert "sdy.mesh @mesh" in text


def test_what_a_dump_holds_is_kept_under_names_that_do_not_depend_on_it(tmp_path: object) -> None:
    dump, folder = tmp_path / "dump", tmp_path / "made"
    dump.mkdir()
    folder.mkdir()
    for name in (
        "module_0001.jit_f.before_optimizations.txt",
        "module_0001.jit_f.sm_9.0a_gpu_after_optimizations.txt",
        "module_0001.jit_f.sm_9.0a_gpu_after_optimizations-buffer-assignment.txt",
        "module_0001.jit_f.thunk_sequence.txt",
        "module_0001.jit_f.10.ptx",
        "module_0001.jit_f.2.ptx",
        "module_0001.jit_f.2.ir-with-opt.ll",
    ):
        (dump / name).write_text(name)
    (dump / "module_0001.jit_f.1.ptx").write_text("")
    step = 'fusion_steps {\n  %s {\n    producer_name: "a.1"\n  }\n}\n'
    steps = step % "update_priority" + step % "producer_ineligible" + step % "update_priority"
    (dump / "module_0001.jit_f.priority_fusion_dump.txt").write_text(steps)
    number, kept = compile_device._keep(dump, folder)
    assert number == 1
    assert kept == ["before.txt", "after.txt", "thunks.txt", "fusion_steps.txt", "kernels/0.ptx", "kernels/1.ptx"]
    assert (folder / "fusion_steps.txt").read_text() == step % "producer_ineligible"
    assert (folder / "kernels/0.ptx").read_text().endswith(".2.ptx")
    assert (folder / "after.txt").read_text().endswith("optimizations.txt")


def test_what_the_assembler_says_is_kept_of_the_run_that_xla_makes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    real = tmp_path / "cuda/bin/ptxas"
    real.parent.mkdir(parents=True)
    (tmp_path / "cuda/nvvm").mkdir()
    calls = tmp_path / "calls"
    real.write_text(
        "#!/bin/sh\n"
        f'echo "$@" >> {calls}\n'
        'if [ "$1" = --version ]; then echo release 12; exit 0; fi\n'
        "for word in \"$@\"; do case $word in *.ptx) program=$word ;; *.out|*.cubin) code=$word ;; esac; done\n"
        'if grep -q broken "$program"; then echo "ptxas fatal: no" >&2; exit 3; fi\n'
        'echo "Used 8 registers of $(cat "$program")" >&2\n'
        'cat "$program" > "$code"\n'
    )
    real.chmod(0o755)
    monkeypatch.setattr(compile_assembler, "ptxas", lambda: str(real))
    monkeypatch.setattr(compile_assembler.tempfile, "tempdir", str(tmp_path))
    assembler = compile_assembler.Assembler()
    ((option, shown),) = assembler.options()
    assert (option, (Path(shown) / "nvvm").is_dir()) == ("xla_gpu_cuda_data_dir", True)

    def as_xla_does(text: str) -> subprocess.CompletedProcess:
        program = tmp_path / "xla.ptx"
        program.write_text(text)
        command = [f"{shown}/bin/ptxas", str(program), "-o", str(tmp_path / "xla.out"), "-arch=sm_90a"]
        return subprocess.run(command, capture_output=True, text=True, check=False)

    assert subprocess.run([f"{shown}/bin/ptxas", "--version"], capture_output=True, check=False).stdout == b"release 12\n"
    assert "Used 8 registers" in as_xla_does("first").stderr
    broken = as_xla_does("broken")
    assert (broken.returncode, broken.stderr) == (3, "ptxas fatal: no\n")

    kernels = tmp_path / "made/kernels"
    kernels.mkdir(parents=True)
    (kernels / "0.ptx").write_text("first")
    (kernels / "1.ptx").write_text("second")
    assert assembler.reports(tmp_path / "made") == ["kernels/ptxas.txt", "kernels/0.cubin", "kernels/1.cubin"]
    assert (kernels / "ptxas.txt").read_text() == "Used 8 registers of first\nUsed 8 registers of second\n"
    assert (kernels / "0.cubin").read_text() == "first"
    # The version, two of XLA's, and one for the program that XLA did not have assembled.
    assert len(calls.read_text().splitlines()) == 4
