-- Perfetto, docs/analysis/trace-processor: slices with their threads and processes
SELECT thread.name AS thread_name, COUNT(*) AS slices, SUM(slice.dur) AS total
FROM slice
JOIN thread_track ON slice.track_id = thread_track.id
JOIN thread USING (utid)
LEFT JOIN process USING (upid)
GROUP BY thread.name
