"""Writes the small Parquet files beside it with pyarrow 26: every type, page version and compression that is read."""

import pyarrow as pa
import pyarrow.parquet as pq

table = pa.table(
    {
        "id": pa.array([1, -2, 3, 3], pa.int64()),
        "small": pa.array([7, None, -9, 7], pa.int32()),
        "wide": pa.array([4294967295, 0, None, 1], pa.uint32()),
        "rate": pa.array([0.5, None, -2.0, 0.5], pa.float64()),
        "half": pa.array([1.5, 2.5, 3.5, None], pa.float32()),
        "is_last": pa.array([False, False, None, True], pa.bool_()),
        "text": pa.array(["a", "b\u00e9", None, "a"], pa.string()),
        "nested": pa.array([[1], [], None, [2, 3]], pa.list_(pa.int64())),
        "after": pa.array([10, 20, 30, 40], pa.int16()),
    }
)
for name, options in {
    "snappy": {"compression": "snappy"},
    "plain_v2": {"compression": "none", "use_dictionary": False, "data_page_version": "2.0"},
    "gzip_groups": {"compression": "gzip", "row_group_size": 2},
    "zstd_v2": {"compression": "zstd", "data_page_version": "2.0"},
    "brotli": {"compression": "brotli"},
}.items():
    pq.write_table(table, f"{name}.parquet", **options)
