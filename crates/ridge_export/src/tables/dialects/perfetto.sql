-- Tables of Perfetto's trace processor. Streams and lanes of devices are threads, and devices are processes, as in its own
-- import of PyTorch's traces. Categories are Kineto's.

CREATE VIEW perfetto.slice AS
SELECT row AS id, 'internal_slice' AS type, start_ns AS ts, dur_ns AS dur, track_id,
  CASE kind
    WHEN 'host range' THEN 'host' WHEN 'annotation' THEN 'user_annotation' WHEN 'step' THEN 'user_annotation'
    WHEN 'Python call' THEN 'python_function' WHEN 'launch' THEN 'cuda_runtime' WHEN 'thread pool region' THEN 'thread_pool'
    WHEN 'operator' THEN 'cpu_op' WHEN 'kernel' THEN 'kernel' WHEN 'device operation' THEN 'kernel' WHEN 'graph' THEN 'kernel'
    WHEN 'memset' THEN 'gpu_memset' WHEN 'device memory' THEN 'device_memory' WHEN 'profiler overhead' THEN 'overhead'
    WHEN 'synchronization' THEN 'cuda_sync' WHEN 'range on a device' THEN 'gpu_user_annotation'
    WHEN 'compile' THEN 'compile' WHEN 'instant' THEN 'instant' ELSE 'gpu_memcpy' END AS category,
  name, depth, parent AS parent_id, row AS arg_set_id, CAST(NULL AS BIGINT) AS thread_ts, CAST(NULL AS BIGINT) AS thread_dur
FROM raw.event;

CREATE VIEW perfetto.slices AS SELECT * FROM perfetto.slice;

CREATE VIEW perfetto.thread AS
SELECT track_id AS id, track_id AS utid, native_id AS tid, name,
  CASE WHEN device_id IS NULL THEN process_id ELSE 1000000 + device_id END AS upid, CAST(NULL AS BIGINT) AS is_main_thread
FROM raw.track WHERE kind <> 'derived';

CREATE VIEW perfetto.process AS
SELECT process_id AS id, process_id AS upid, pid, name FROM raw.process
UNION ALL SELECT 1000000 + device_id AS id, 1000000 + device_id AS upid, 1000000 + device_id AS pid, name FROM raw.device;

CREATE VIEW perfetto.thread_track AS
SELECT track_id AS id, name, 'thread_track' AS type, track_id AS utid, CAST(NULL AS BIGINT) AS parent_id
FROM raw.track WHERE kind <> 'derived';

CREATE VIEW perfetto.gpu_track AS
SELECT track_id AS id, name, 'gpu_track' AS type, device_id AS context_id FROM raw.track
WHERE kind IN ('stream', 'lane');

CREATE VIEW perfetto.counter AS
SELECT CAST(row_number() OVER () AS BIGINT) - 1 AS id, time_ns AS ts, (metric_id + 1) * 1000000 + coalesce(device_id + 1, 0) AS track_id,
  value, CAST(NULL AS BIGINT) AS arg_set_id
FROM raw.counter
UNION ALL SELECT 1000000000 + allocation_id, time_ns, (allocator_id + 1) * 1000000 + 999999, CAST(in_use_bytes AS DOUBLE),
  CAST(NULL AS BIGINT)
FROM raw.allocation;

CREATE VIEW perfetto.counter_track AS
SELECT DISTINCT (metric_id + 1) * 1000000 + coalesce(device_id + 1, 0) AS id, metric AS name, 'counter_track' AS type,
  CAST(NULL AS VARCHAR) AS unit, device_id AS gpu_id
FROM raw.counter
UNION ALL SELECT DISTINCT (allocator_id + 1) * 1000000 + 999999, allocator || ' in use, bytes' AS metric, 'counter_track' AS type, 'bytes' AS unit,
  CAST(NULL AS BIGINT) AS gpu_id
FROM raw.allocation;

CREATE VIEW perfetto.track AS
SELECT id, name, type, parent_id FROM perfetto.thread_track
UNION ALL SELECT id, name, type, CAST(NULL AS BIGINT) FROM perfetto.counter_track;

CREATE VIEW perfetto.process_track AS
SELECT id, name, type, CAST(NULL AS BIGINT) AS upid, parent_id FROM perfetto.track WHERE type = 'process_track';

CREATE VIEW perfetto.gpu_slice AS
SELECT slice.*, event.device_id AS gpu_id, event.native_id AS hw_queue_id
FROM perfetto.slice AS slice JOIN raw.event AS event ON event.row = slice.id
WHERE event.device_id IS NOT NULL;

CREATE VIEW perfetto.thread_slice AS
SELECT slice.*, thread.utid, thread.tid, thread.name AS thread_name, process.upid, process.pid, process.name AS process_name
FROM perfetto.slice AS slice
JOIN perfetto.thread AS thread ON thread.utid = slice.track_id
JOIN perfetto.process AS process ON process.upid = thread.upid;

CREATE VIEW perfetto.flow AS
SELECT row AS id, caused_by AS slice_out, row AS slice_in FROM raw.event WHERE caused_by IS NOT NULL;

CREATE VIEW perfetto.trace_bounds AS
SELECT min(start_ns) AS start_ts, max(end_ns) AS end_ts FROM raw.event;

CREATE VIEW perfetto.args AS
SELECT row AS id, row AS arg_set_id, key AS flat_key, key, string_value, int_value, real_value,
  CASE WHEN string_value IS NOT NULL THEN 'string' WHEN int_value IS NOT NULL THEN 'int' ELSE 'real' END AS value_type,
  coalesce(string_value, CAST(int_value AS VARCHAR), CAST(real_value AS VARCHAR)) AS display_value
FROM (
  SELECT row, 'debug.operation' AS key, operation AS string_value, CAST(NULL AS BIGINT) AS int_value, CAST(NULL AS DOUBLE) AS real_value
  FROM raw.event WHERE operation IS NOT NULL
  UNION ALL SELECT row, 'debug.module' AS key, module AS string_value, NULL AS int_value, NULL AS real_value
  FROM raw.event WHERE module IS NOT NULL
  UNION ALL SELECT row, 'debug.scope' AS key, scope AS string_value, NULL AS int_value, NULL AS real_value
  FROM raw.event WHERE scope IS NOT NULL
  UNION ALL SELECT row, 'debug.event kind' AS key, kind AS string_value, NULL AS int_value, NULL AS real_value
  FROM raw.event WHERE kind IS NOT NULL
  UNION ALL SELECT row, 'debug.step_num' AS key, NULL AS string_value, step AS int_value, NULL AS real_value
  FROM raw.event WHERE kind = 'step' AND step IS NOT NULL
  UNION ALL SELECT row, 'debug.registers per thread' AS key, NULL AS string_value, registers AS int_value, NULL AS real_value
  FROM raw.event WHERE registers IS NOT NULL
  UNION ALL SELECT row, 'debug.static shared memory' AS key, NULL AS string_value, static_shared_bytes AS int_value, NULL AS real_value
  FROM raw.event WHERE static_shared_bytes IS NOT NULL
  UNION ALL SELECT row, 'debug.dynamic shared memory' AS key, NULL AS string_value, dynamic_shared_bytes AS int_value, NULL AS real_value
  FROM raw.event WHERE dynamic_shared_bytes IS NOT NULL
  UNION ALL SELECT row, 'debug.theoretical occupancy %' AS key, NULL AS string_value, NULL AS int_value, occupancy_pct AS real_value
  FROM raw.event WHERE occupancy_pct IS NOT NULL
  UNION ALL SELECT row, 'debug.Input Dims' AS key, input_dims AS string_value, NULL AS int_value, NULL AS real_value
  FROM raw.event WHERE input_dims IS NOT NULL
  UNION ALL SELECT row, 'debug.Input type' AS key, input_types AS string_value, NULL AS int_value, NULL AS real_value
  FROM raw.event WHERE input_types IS NOT NULL
  UNION ALL SELECT row, 'debug.bytes' AS key, NULL AS string_value, bytes AS int_value, NULL AS real_value
  FROM raw.event WHERE bytes IS NOT NULL
  UNION ALL SELECT row, 'debug.source' AS key, source_memory AS string_value, NULL AS int_value, NULL AS real_value
  FROM raw.event WHERE source_memory IS NOT NULL
  UNION ALL SELECT row, 'debug.destination' AS key, destination_memory AS string_value, NULL AS int_value, NULL AS real_value
  FROM raw.event WHERE destination_memory IS NOT NULL
) AS args;
