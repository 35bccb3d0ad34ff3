-- Tables of Nsight Systems' SQLite export. A correlation id is the row of the call: the trace keeps who launched what, not the
-- driver's numbers. Calls of the CUDA API are known by their names.

CREATE VIEW nsys.StringIds AS SELECT string_id AS id, coalesce(value, '') AS value FROM raw.string;

CREATE VIEW nsys.CUPTI_ACTIVITY_KIND_KERNEL AS
SELECT start_ns AS start, end_ns AS "end", device_number AS deviceId, CAST(NULL AS BIGINT) AS contextId, native_id AS streamId,
  caused_by AS correlationId, coalesce(pid, process_id) * 16777216 AS globalPid, name_id AS demangledName, short_name_id AS shortName,
  CAST(NULL AS BIGINT) AS mangledName, registers AS registersPerThread, grid_x AS gridX, grid_y AS gridY, grid_z AS gridZ,
  block_x AS blockX, block_y AS blockY, block_z AS blockZ, static_shared_bytes AS staticSharedMemory,
  dynamic_shared_bytes AS dynamicSharedMemory, CAST(NULL AS BIGINT) AS localMemoryPerThread,
  CAST(NULL AS BIGINT) AS graphNodeId, CAST(NULL AS BIGINT) AS graphId
FROM raw.event WHERE kind_id IN (16, 17);

CREATE VIEW nsys.CUPTI_ACTIVITY_KIND_MEMCPY AS
SELECT start_ns AS start, end_ns AS "end", device_number AS deviceId, CAST(NULL AS BIGINT) AS contextId, native_id AS streamId,
  caused_by AS correlationId, coalesce(pid, process_id) * 16777216 AS globalPid, bytes,
  CASE kind_id WHEN 18 THEN 1 WHEN 19 THEN 2 WHEN 20 THEN 8 WHEN 21 THEN 10 ELSE 0 END AS copyKind,
  CASE source_memory WHEN 'pageable' THEN 0 WHEN 'pinned' THEN 1 WHEN 'device' THEN 2 WHEN 'array' THEN 3
    WHEN 'managed' THEN 4 ELSE 7 END AS srcKind,
  CASE destination_memory WHEN 'pageable' THEN 0 WHEN 'pinned' THEN 1 WHEN 'device' THEN 2 WHEN 'array' THEN 3
    WHEN 'managed' THEN 4 ELSE 7 END AS dstKind,
  CAST(NULL AS BIGINT) AS srcDeviceId, CAST(NULL AS BIGINT) AS dstDeviceId, CAST(NULL AS BIGINT) AS graphNodeId
FROM raw.event WHERE kind_id BETWEEN 18 AND 22;

CREATE VIEW nsys.CUPTI_ACTIVITY_KIND_MEMSET AS
SELECT start_ns AS start, end_ns AS "end", device_number AS deviceId, CAST(NULL AS BIGINT) AS contextId, native_id AS streamId,
  caused_by AS correlationId, coalesce(pid, process_id) * 16777216 AS globalPid, CAST(NULL AS BIGINT) AS value, bytes,
  CASE destination_memory WHEN 'pageable' THEN 0 WHEN 'pinned' THEN 1 WHEN 'device' THEN 2 WHEN 'array' THEN 3
    WHEN 'managed' THEN 4 ELSE 7 END AS memKind
FROM raw.event WHERE kind_id = 23;

CREATE VIEW nsys.CUPTI_ACTIVITY_KIND_SYNCHRONIZATION AS
SELECT start_ns AS start, end_ns AS "end", device_number AS deviceId, native_id AS streamId, caused_by AS correlationId,
  coalesce(pid, process_id) * 16777216 AS globalPid
FROM raw.event WHERE kind_id = 28;

CREATE VIEW nsys.CUPTI_ACTIVITY_KIND_RUNTIME AS
SELECT start_ns AS start, end_ns AS "end", CAST(0 AS BIGINT) AS eventClass,
  CASE WHEN native_id >= 16777216 THEN native_id ELSE coalesce(pid, process_id) * 16777216 + native_id END AS globalTid, row AS correlationId,
  name_id AS nameId, CAST(0 AS BIGINT) AS returnValue, CAST(NULL AS BIGINT) AS callchainId
FROM raw.event WHERE device_id IS NULL AND kind_id IN (0, 4) AND (kind_id = 4
  OR name LIKE 'cuda%' OR name LIKE 'hip%' OR name LIKE 'cuMem%' OR name LIKE 'cuStream%' OR name LIKE 'cuEvent%'
  OR name LIKE 'cuLaunch%' OR name LIKE 'cuCtx%' OR name LIKE 'cuModule%' OR name LIKE 'cuGraph%' OR name LIKE 'cuDevice%'
  OR name LIKE 'cuFunc%' OR name LIKE 'cuLibrary%' OR name LIKE 'cuKernel%' OR name LIKE 'cuInit%');

CREATE VIEW nsys.NVTX_EVENTS AS
SELECT start_ns AS start, end_ns AS "end", CAST(59 AS BIGINT) AS eventType, CAST(NULL AS BIGINT) AS rangeId,
  CAST(NULL AS BIGINT) AS category, CAST(NULL AS BIGINT) AS color, name AS text,
  CASE WHEN native_id >= 16777216 THEN native_id ELSE coalesce(pid, process_id) * 16777216 + native_id END AS globalTid,
  CAST(NULL AS BIGINT) AS endGlobalTid, CAST(NULL AS BIGINT) AS textId, CAST(0 AS BIGINT) AS domainId
FROM raw.event WHERE device_id IS NULL AND kind_id IN (1, 2, 8);

CREATE VIEW nsys.TARGET_INFO_GPU AS
SELECT device_number AS id, model AS name, cores AS smCount, clock_khz * 1000 AS clockRate, memory_bytes AS totalMemory,
  memory_bytes_per_sec AS memoryBandwidth
FROM raw.device WHERE plane NOT LIKE '/device:CPU%';

CREATE VIEW nsys.PROCESSES AS SELECT coalesce(pid, process_id) * 16777216 AS globalPid, pid, name FROM raw.process;

CREATE VIEW nsys.ThreadNames AS
SELECT name_id AS nameId, CAST(NULL AS BIGINT) AS priority,
  CASE WHEN native_id >= 16777216 THEN native_id ELSE coalesce(pid, process_id) * 16777216 + native_id END AS globalTid
FROM raw.track WHERE kind = 'thread';

CREATE VIEW nsys.ENUM_CUDA_MEMCPY_OPER AS
SELECT * FROM (VALUES (0, 'CUDA_MEMCPY_KIND_UNKNOWN', 'Unknown'), (1, 'CUDA_MEMCPY_KIND_HTOD', 'Host-to-Device'),
  (2, 'CUDA_MEMCPY_KIND_DTOH', 'Device-to-Host'), (8, 'CUDA_MEMCPY_KIND_DTOD', 'Device-to-Device'),
  (10, 'CUDA_MEMCPY_KIND_PTOP', 'Peer-to-Peer')) AS kinds (id, name, label);

CREATE VIEW nsys.ENUM_CUDA_MEM_KIND AS
SELECT * FROM (VALUES (0, 'CUDA_MEMOPR_MEMORY_KIND_PAGEABLE', 'Pageable'), (1, 'CUDA_MEMOPR_MEMORY_KIND_PINNED', 'Pinned'),
  (2, 'CUDA_MEMOPR_MEMORY_KIND_DEVICE', 'Device'), (3, 'CUDA_MEMOPR_MEMORY_KIND_ARRAY', 'Array'),
  (4, 'CUDA_MEMOPR_MEMORY_KIND_MANAGED', 'Managed'), (7, 'CUDA_MEMOPR_MEMORY_KIND_UNKNOWN', 'Unknown')) AS kinds (id, name, label);

CREATE VIEW nsys.CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL AS SELECT * FROM nsys.CUPTI_ACTIVITY_KIND_KERNEL;
