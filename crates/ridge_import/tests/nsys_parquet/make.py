"""Writes the Parquet files beside it from `fixtures/nsys/two_processes.sqlite`: a file for each table, called after it.

That is what `nsys export --type parquetdir` makes of a report. Needs pyarrow; it was 26.
"""

import pathlib
import sqlite3

import pyarrow as pa
import pyarrow.parquet as pq

here = pathlib.Path(__file__).parent
database = sqlite3.connect(here / "../../../../fixtures/nsys/two_processes.sqlite")
for (table,) in database.execute("SELECT name FROM sqlite_master WHERE type = 'table'").fetchall():
    cursor = database.execute(f"SELECT * FROM {table}")
    names = [column[0] for column in cursor.description]
    columns = list(zip(*cursor.fetchall(), strict=True)) or [()] * len(names)
    arrays = {name: pa.array(list(values)) for name, values in zip(names, columns, strict=True)}
    pq.write_table(pa.table(arrays), here / f"{table}.parquet")
