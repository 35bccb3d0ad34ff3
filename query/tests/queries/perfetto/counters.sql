-- Perfetto, docs/analysis/trace-processor: counters by their tracks
SELECT counter_track.name, COUNT(*) AS samples, MIN(value) AS least, MAX(value) AS most
FROM counter JOIN counter_track ON counter.track_id = counter_track.id
GROUP BY counter_track.name
