"""Times the steady part of a program: `with clock(steps): ...` prints seconds per step for `make rules` to read."""

import contextlib
import time


@contextlib.contextmanager
def clock(steps):
    start = time.perf_counter()
    yield
    print(f"seconds per step: {(time.perf_counter() - start) / steps:.9f}")
