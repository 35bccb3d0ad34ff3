-- Perfetto's prelude: how long the trace is
SELECT end_ts - start_ts AS dur FROM trace_bounds
