"""Writes the small databases that the tests of the SQLite reader read, with Python's own sqlite3.

    python3 make.py

Every row follows from its number, so the tests know what must be read without another reader.
"""

from __future__ import annotations

import sqlite3
from pathlib import Path

HERE = Path(__file__).resolve().parent
# Every width of integer that a record can have, and both constants.
INTEGERS = (0, 1, -1, 127, -128, 32767, -32768, 8388607, -8388608, 2**31 - 1, -(2**31), 2**47 - 1, -(2**47), 2**63 - 1)
# `gone` is computed and not stored; `late` is added after the first rows were written.
TABLE = """CREATE TABLE "a b" (
    first INTEGER NOT NULL, -- a comment, with a comma (and more)
    id INTEGER PRIMARY KEY, /* the row id */
    [text] TEXT DEFAULT 'x,y(',
    gone INTEGER GENERATED ALWAYS AS (first + 1) VIRTUAL,
    real REAL CHECK (real > -1e9),
    blob BLOB,
    UNIQUE (first, id)
)"""


def write(name: str, page_bytes: int, encoding: str, rows: int, longest: int) -> None:
    """One database: `rows` rows whose texts grow up to `longest` letters."""
    path = HERE / name
    path.unlink(missing_ok=True)
    with sqlite3.connect(path) as database:
        database.execute(f"PRAGMA page_size = {page_bytes}")
        database.execute(f"PRAGMA encoding = '{encoding}'")
        database.execute(TABLE)
        database.execute("CREATE TABLE plain (value INTEGER)")
        database.execute("CREATE TABLE keyed (key TEXT PRIMARY KEY, value INTEGER) WITHOUT ROWID")
        database.executemany("INSERT INTO plain VALUES (?)", [(value,) for value in INTEGERS])
        insert = 'INSERT INTO "a b" (id, first, text, real, blob) VALUES (?, ?, ?, ?, ?)'
        half = rows // 2
        values = [(10 * row, -row, "é" * (row * longest // rows), row / 4, None) for row in range(rows)]
        database.executemany(insert, values[:half])
        database.execute('ALTER TABLE "a b" ADD COLUMN late INTEGER')
        database.executemany(insert, values[half:])
    database.close()


write("small_pages.sqlite", 512, "UTF-8", 60, 700)
write("wide_text.sqlite", 1024, "UTF-16le", 12, 900)
