"""Run a suite at one size in this process, and tell the parent what happens as it happens.

The parent starts a fresh process per size, so that peak memory is honest and a crash costs one operation:
it starts another with `--after` naming the operation that this one died in.

How events travel, and how the parent ends the process, is said in `worker`.
"""

from __future__ import annotations

import argparse
import sys
import time
import traceback
from pathlib import Path

from .bench_measure import Plan, Row, measure, reason_of
from .suite import Inputs, NoMatchError, Suite, load_suite
from .worker import INTERRUPTED_STATUS, Events, interrupt_at_end_of_stdin, private_stdout

NOT_RUN_BUDGET = "not run: budget used up"
BROKEN_SUITE_STATUS = 3


def main(arguments: list[str] | None = None) -> int:
    """Run the suite and return the exit status: 0, `INTERRUPTED_STATUS` or `BROKEN_SUITE_STATUS`."""
    started = time.monotonic()
    options = _options(arguments)
    events = Events(private_stdout())
    interrupt_at_end_of_stdin()
    try:
        _run(options, events, started)
    except KeyboardInterrupt:
        events.emit("interrupted")
        return INTERRUPTED_STATUS
    except NoMatchError as error:
        events.emit("no_match", pattern=error.pattern, operations=error.operations)
        return BROKEN_SUITE_STATUS
    except Exception as error:  # noqa: BLE001 - reported to the parent, which reports it to the user
        traceback.print_exc()
        events.emit("broken", reason=reason_of(error))
        return BROKEN_SUITE_STATUS
    return 0


def _run(options: argparse.Namespace, events: Events, started: float) -> None:
    suite = load_suite(options.suite)
    names = suite.select(options.ops)
    if options.after is not None:
        names = names[names.index(options.after) + 1 :]
    variants = {name: dict(env) for name, env in suite.variants.items()}
    events.emit("plan", suite=suite.name, sizes=list(suite.sizes), variants=variants, operations=names,
                parts=suite.parts(), ratios=suite.ratios, began=time.strftime("%Y%m%d_%H%M%S"))
    if options.list:
        return
    options.out.mkdir(parents=True, exist_ok=True)
    plan = Plan(suite=suite, size=options.size, out_dir=options.out, runs=options.runs, warm_up=options.warm_up,
                formats=set(options.hlo), dump=options.dump,
                deadline=started + options.budget_s if options.budget_s is not None else float("inf"), emit=events.emit)
    inputs = Inputs(suite, options.size)
    _measure_all(suite, names, plan, inputs, events)


def _measure_all(suite: Suite, names: list[str], plan: Plan, inputs: Inputs, events: Events) -> None:
    described = False
    for name in names:
        if plan.is_over():
            events.emit("row", **Row(name, plan.size).finished("not_run", NOT_RUN_BUDGET))
            continue
        events.emit("start", operation=name, volume_size=plan.size)
        row = measure(plan, suite.operations[name], inputs)
        if not described:  # After the first operation, because describing devices would start JAX's backends.
            _describe_environment(events)
            described = True
        events.emit("row", **row)


def _describe_environment(events: Events) -> None:
    from .environment import environment  # noqa: PLC0415 - late, for the order of imports in the suite

    try:
        events.emit("environment", environment=environment())
    except Exception as error:  # noqa: BLE001 - a description must not cost the results
        events.emit("environment", environment={"failed": reason_of(error)})


def _options(arguments: list[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m ridgeline.bench_worker", description=__doc__)
    parser.add_argument("--suite", type=Path, required=True, help="the suite's Python file")
    parser.add_argument("--size", type=int, default=0, help="edge of the volume")
    parser.add_argument("--ops", action="append", default=[], help="shell pattern of operations; repeatable")
    parser.add_argument("--after", help="skip the operations up to and including this one")
    parser.add_argument("--runs", type=int, default=5, help="timed runs per operation")
    parser.add_argument("--warm-up", type=int, default=0, help="runs before the timed ones, after the first and the traced one")
    parser.add_argument("--dump", type=Path, help="folder that XLA dumps modules into, sorted by operation afterwards")
    parser.add_argument("--budget-s", type=float, help="start no operation after this many seconds")
    parser.add_argument("--hlo", action="append", default=[], help="format of the modules to write; repeatable")
    parser.add_argument("--out", type=Path, default=Path("."), help="folder of this size")
    parser.add_argument("--list", action="store_true", help="say what would run, and run nothing")
    return parser.parse_args(arguments)


if __name__ == "__main__":
    sys.exit(main())
