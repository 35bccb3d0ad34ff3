-- The data views of rocpd, AMD's database of rocprofv3. Grids count work-items, as there.

CREATE VIEW rocpd.kernels AS
SELECT row AS id, pid, device_number AS agent_abs_index, device AS agent, category, name, name_id AS kernel_id,
  row AS dispatch_id, native_id AS stream_id, native_id AS queue_id, track AS stream, track AS queue, start_ns AS start,
  end_ns AS "end", dur_ns AS duration, grid_x * block_x AS grid_x, grid_y * block_y AS grid_y, grid_z * block_z AS grid_z,
  block_x AS workgroup_x, block_y AS workgroup_y, block_z AS workgroup_z,
  coalesce(static_shared_bytes, 0) + coalesce(dynamic_shared_bytes, 0) AS lds_size, caused_by AS stack_id
FROM raw.event WHERE kind_id IN (16, 17);

CREATE VIEW rocpd.memory_copies AS
SELECT row AS id, pid, category,
  CASE kind_id WHEN 18 THEN 'MEMORY_COPY_HOST_TO_DEVICE' WHEN 19 THEN 'MEMORY_COPY_DEVICE_TO_HOST'
    WHEN 20 THEN 'MEMORY_COPY_DEVICE_TO_DEVICE' WHEN 21 THEN 'MEMORY_COPY_DEVICE_TO_DEVICE' ELSE 'MEMORY_COPY_NONE' END AS name,
  start_ns AS start, end_ns AS "end", dur_ns AS duration, native_id AS stream_id, track AS stream_name, bytes AS size,
  caused_by AS stack_id
FROM raw.event WHERE kind_id BETWEEN 18 AND 22;

CREATE VIEW rocpd.regions AS
SELECT row AS id, category, name, pid, native_id AS tid, start_ns AS start, end_ns AS "end", dur_ns AS duration,
  row AS stack_id, parent AS parent_stack_id
FROM raw.event WHERE device_id IS NULL AND kind_id <> 7;

CREATE VIEW rocpd.samples AS
SELECT row AS id, category, name, pid, native_id AS tid, start_ns AS timestamp
FROM raw.event WHERE device_id IS NULL AND kind_id = 7;

CREATE VIEW rocpd.memory_allocations AS
SELECT allocation_id AS id, CASE WHEN delta_bytes >= 0 THEN 'ALLOC' ELSE 'FREE' END AS type, time_ns AS start, time_ns AS "end",
  address, abs(delta_bytes) AS size, allocator AS agent_name
FROM raw.allocation;

CREATE VIEW rocpd.counters_collection AS
SELECT metric AS counter_name, value AS value, launch AS dispatch_id, kernel AS kernel_name
FROM raw.metric;

CREATE VIEW rocpd.processes AS
SELECT process_id AS id, pid, name AS command, first_ns AS start, last_ns AS "end" FROM raw.process;

CREATE VIEW rocpd.threads AS
SELECT track_id AS id, pid, native_id AS tid, name FROM raw.track WHERE kind = 'thread';
