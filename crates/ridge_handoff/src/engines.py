"""Runs the region's module by engines that share no code with its generator, and writes what comes out beside the vectors.

usage: python engines.py BUNDLE

`xla` is the compiler's processor backend, `stablehlo` the reference interpreter in jaxlib.
Prints one line of JSON: for each engine what it `ran`, on which `sets`, or why it did not, with versions.
"""

import json
import os
import re
import sys
import time

WIDTHS = {"f32": "float32", "f64": "float64", "pred": "bool", "s8": "int8", "s16": "int16", "s32": "int32", "s64": "int64",
          "u8": "uint8", "u16": "uint16", "u32": "uint32", "u64": "uint64"}


# The reference interpreter takes seconds for what a processor does in milliseconds: no further set is begun after this.
PATIENCE_S = 15


def falls(layout):
    """Whether dimensions lie in memory as they count, the last fastest."""
    dims = [int(dim) for dim in layout.split(",")]
    return dims == sorted(dims, reverse=True)


def stablehlo_of(bundle):
    """The module as StableHLO: JAX's own where the recording kept it, else made from the HLO that XLA ran."""
    own = os.path.join(bundle, "spec", "module.stablehlo.mlir")
    if os.path.exists(own):
        with open(own, encoding="utf-8") as file:
            return file.read(), "StableHLO of the recording"
    with open(os.path.join(bundle, "spec", "region.hlo.txt"), encoding="utf-8") as file:
        text = file.read()
    if "bitcast(" in text and any(not falls(one) for one in re.findall(r"\]\{([\d,]+)\}", text)):
        raise ValueError("a bitcast between layouts has no StableHLO")
    try:
        from jaxlib._hlo import hlo_module_from_text
    except ImportError:
        from jaxlib._jax import hlo_module_from_text
    from jaxlib import _jax
    return _jax.mlir.hlo_to_stablehlo(hlo_module_from_text(text).as_serialized_hlo_module_proto()), "HLO text of the region"


def main(bundle):
    os.environ["JAX_PLATFORMS"] = "cpu"
    said = {"xla": {}, "stablehlo": {}}
    try:
        import jax
        jax.config.update("jax_enable_x64", True)
        import jaxlib
        import numpy as np
        from jax._src.lib import xla_client as xc
        from jax._src.interpreters import mlir as jax_mlir
        from jaxlib.mlir import ir
    except Exception as error:  # noqa: BLE001
        for engine in said.values():
            engine["why"] = f"no JAX in this Python: {error}"
        print(json.dumps(said))
        return
    with open(os.path.join(bundle, "spec", "interface.json"), encoding="utf-8") as file:
        interface = json.load(file)
    with open(os.path.join(bundle, "golden", "vectors.json"), encoding="utf-8") as file:
        sets = [one["name"] for one in json.load(file)["sets"]]
    ports = interface["inputs"]

    def inputs(name):
        folder = os.path.join(bundle, "golden", name)
        read = [np.fromfile(os.path.join(folder, f"in{at}.bin"), dtype=WIDTHS[port["element_type"]]) for at, port in enumerate(ports)]
        return [values.reshape(port["dims"]) for values, port in zip(read, ports)]

    def write(name, engine, outputs):
        if len(outputs) != len(interface["outputs"]):
            raise ValueError(f"{len(outputs)} outputs where {len(interface['outputs'])} were expected")
        for at, values in enumerate(outputs):
            np.ascontiguousarray(values).tofile(os.path.join(bundle, "golden", name, f"{engine}.out{at}.bin"))

    for engine in said.values():
        engine["version"] = f"jaxlib {jaxlib.__version__}"
    try:
        text, origin = stablehlo_of(bundle)
        context = jax_mlir.make_ir_context()
        from jaxlib.mlir.dialects import stablehlo
        with context:
            module = ir.Module.parse(text)
    except Exception as error:  # noqa: BLE001
        for engine in said.values():
            engine["why"] = f"the module cannot be read: {str(error)[:300]}"
        print(json.dumps(said))
        return

    # For other tools, in the oldest form that holds it.
    for version in (stablehlo.get_minimum_version(), stablehlo.get_current_version()):
        try:
            # A module of its own: what is written is changed on the way.
            with context:
                portable = stablehlo.serialize_portable_artifact(ir.Module.parse(text), version)
            with open(os.path.join(bundle, "spec", "module.vhlo.mlirbc"), "wb") as file:
                file.write(portable)
            said["stablehlo"]["portable"] = f"StableHLO {version}, from {origin}"
            break
        except Exception as error:  # noqa: BLE001
            said["stablehlo"]["not_portable"] = str(error)[:300]

    # By the compiler.
    began = time.perf_counter()
    try:
        client = jax.local_devices(backend="cpu")[0].client
        device = jax.local_devices(backend="cpu")[0]
        from jax._src import compiler
        with context:
            options = compiler.get_compile_options(num_replicas=1, num_partitions=1)
            from jaxlib import _jax
            loaded = client.compile_and_load(module, _jax.DeviceList((device,)), options)
        for name in sets:
            buffers = [jax.device_put(values, device) for values in inputs(name)]
            results = loaded.execute_sharded(buffers).disassemble_into_single_device_arrays()
            write(name, "xla", [np.asarray(part[0]) for part in results])
        said["xla"].update(ran=origin, sets=sets, seconds=time.perf_counter() - began)
    except Exception as error:  # noqa: BLE001
        said["xla"]["why"] = f"{type(error).__name__}: {str(error)[:300]}"

    # By the interpreter.
    began = time.perf_counter()
    try:
        register = getattr(stablehlo, "register_interpreter_dialect", None)
        done = []
        with context:
            if register:
                register(context)
            for name in sets:
                if done and time.perf_counter() - began > PATIENCE_S:
                    break
                arguments = []
                for port, values in zip(ports, inputs(name)):
                    values = np.ascontiguousarray(values)
                    kind = {"f32": ir.F32Type.get, "f64": ir.F64Type.get}.get(port["element_type"])
                    if port["element_type"] == "pred":
                        packed = np.packbits(values.reshape(-1), bitorder="little")
                        arguments.append(ir.DenseElementsAttr.get(packed, type=ir.IntegerType.get_signless(1), shape=list(values.shape)))
                    elif kind:
                        arguments.append(ir.DenseElementsAttr.get(values, type=kind(), shape=list(values.shape)))
                    else:
                        bits = values.dtype.itemsize * 8
                        made = ir.IntegerType.get_unsigned if port["element_type"][0] == "u" else ir.IntegerType.get_signless
                        arguments.append(ir.DenseElementsAttr.get(values, type=made(bits), shape=list(values.shape)))
                results = stablehlo.eval_module(module, arguments)
                shaped = []
                for port, result in zip(interface["outputs"], results):
                    values = np.array(result)
                    if values.size == 1:
                        values = np.broadcast_to(values.reshape(-1)[0], port["dims"])
                    shaped.append(values.astype(WIDTHS[port["element_type"]]))
                write(name, "stablehlo", shaped)
                done.append(name)
        said["stablehlo"].update(ran=origin, sets=done, seconds=time.perf_counter() - began)
    except Exception as error:  # noqa: BLE001
        said["stablehlo"]["why"] = f"{type(error).__name__}: {str(error)[:300]}"
    print(json.dumps(said))


if __name__ == "__main__":
    main(sys.argv[1])
