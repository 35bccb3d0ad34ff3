"""Has XLS make Verilog of kernel.x beside this file: `pip install xls-python`, then `python make.py`.

Prints one line of JSON: what `ran` with its version, or `why` nothing was made.
"""

import json
import os
import time

here = os.path.dirname(os.path.abspath(__file__))


def main():
    try:
        import xls
        from importlib.metadata import version
    except ImportError:
        return {"why": "XLS is not in this Python; `pip install xls-python` has it"}
    began = time.perf_counter()
    with open(os.path.join(here, "kernel.x"), encoding="utf-8") as file:
        code = file.read()
    top = xls.mangle_dslx_name("kernel", "kernel")
    package = xls.parse_ir_package(xls.optimize_ir(xls.convert_dslx_to_ir(code, "kernel.x", "kernel"), top))
    package.set_top(top)
    # The same without stages beside it, so that both can be proven to be one function.
    for file_name, stages in (("kernel.v", CLOCKS), ("plain.v", 1)):
        made = package.schedule_and_codegen(
            generator="pipeline", module_name="kernel", pipeline_stages=stages, delay_model="unit", with_delay_model=True,
            flop_inputs=False, flop_outputs=True, use_system_verilog=False, output_port_name="y")
        with open(os.path.join(here, file_name), "w", encoding="utf-8") as file:
            file.write(made.get_verilog_text())
    return {"ran": "kernel.x", "version": f"xls-python {version('xls-python')}", "seconds": time.perf_counter() - began}


if __name__ == "__main__":
    try:
        said = main()
    except Exception as error:  # noqa: BLE001 - whatever it says is the reason
        said = {"why": f"{type(error).__name__}: {str(error)[:300]}"}
    print(json.dumps(said))
