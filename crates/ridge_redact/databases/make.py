"""Writes small databases as exports of Nsight Systems that were worked in: rows deleted, tables dropped, long texts.

    python3 make.py

Every private text in them holds `ada` or `secret`; Python's own sqlite3 writes them.
"""

from __future__ import annotations

import sqlite3
from pathlib import Path

HERE = Path(__file__).resolve().parent
MAIN = 1 << 56 | 501 << 24 | 501


def write(name: str, *, page_bytes: int, encoding: str, vacuum: int) -> None:
    """One database; `vacuum` is SQLite's `auto_vacuum`, which decides whether it has pages that map pointers."""
    path = HERE / name
    path.unlink(missing_ok=True)
    database = sqlite3.connect(path)
    for pragma in [f"page_size = {page_bytes}", f"encoding = '{encoding}'", f"auto_vacuum = {vacuum}", "secure_delete = OFF"]:
        database.execute(f"PRAGMA {pragma}")
    database.execute("CREATE TABLE StringIds (id INTEGER NOT NULL PRIMARY KEY, value TEXT NOT NULL)")
    strings = ["saxpy(int)", "cudaLaunchKernel_v7000", "secret-program", "secret output " * 200, "/home/ada/lib.so", "worker",
               "a range", "secret-range", "secret-short-lived"]
    database.executemany("INSERT INTO StringIds VALUES (?, ?)", enumerate(strings))
    tables = {
        "META_DATA_CAPTURE": ("name TEXT, value TEXT", [
            ("PROCESS_0:ENVIRONMENT_VARIABLE", "HOME=/home/ada\nA_TOKEN=secret\n" * 100),
            ("PROCESS_0:ARGUMENT_0", "secret.py"), ("SAMPLE_ALL_TASKS", "false"), ("RATE_HZ", "1000")]),
        "META_DATA_EXPORT": ("name TEXT, value TEXT", [
            ("EXPORT_SCHEMA_VERSION", "3.13.2"), ("EXPORT_HOST", "ada-box.lab"), ("EXPORT_USER", "ada")]),
        "PROCESSES": ("globalPid INTEGER, pid INTEGER, name TEXT", [(MAIN, 501, "/opt/secret-program"), (7, 7, "secret-range")]),
        "ThreadNames": ("nameId INTEGER, priority INTEGER, globalTid INTEGER", [(2, 0, MAIN), (5, 0, MAIN + 1), (7, 0, 7),
                         (8, 0, 502 << 24 | 502)]),
        "ProcessStreams": ("globalPid INTEGER, filenameId INTEGER, contentId INTEGER", [(MAIN, 4, 3)]),
        "DIAGNOSTIC_EVENT": ("timestamp INTEGER, severity INTEGER, text TEXT", [(1, 2, "Not read: /srv/secret NAME=secret")]),
        "TARGET_INFO_GPU": ("id INTEGER, name TEXT, uuid TEXT", [(0, "NVIDIA H100", "GPU-secret-0123")]),
        "NVTX_EVENTS": ("start INTEGER, end INTEGER, eventType INTEGER, text TEXT, globalTid INTEGER, textId INTEGER, binaryData BLOB", [
            (10, 90, 59, "train ada/model on ada-box", MAIN, None, b"path /home/ada/x"), (20, 30, 59, None, MAIN, 6, None),
            (30, 40, 59, "adagrad", MAIN, None, b"\x00\x01"), (40, 50, 59, None, MAIN, 7, None)]),
        "CUPTI_ACTIVITY_KIND_KERNEL": ("start INTEGER, end INTEGER, deviceId INTEGER, streamId INTEGER, correlationId INTEGER, "
                                       "globalPid INTEGER, shortName INTEGER",
                                       [(100 * row, 100 * row + 50, 0, 7, row, MAIN - 501, 0) for row in range(40)]),
    }
    for table, (columns, rows) in tables.items():
        database.execute(f"CREATE TABLE {table} ({columns})")
        database.executemany(f"INSERT INTO {table} VALUES ({', '.join('?' * len(rows[0]))})", rows)
    database.execute("CREATE INDEX by_id ON CUPTI_ACTIVITY_KIND_KERNEL (correlationId)")
    database.execute("CREATE TABLE Scratch (text TEXT)")
    database.executemany("INSERT INTO Scratch VALUES (?)", [("secret note " * row,) for row in range(60)])
    database.execute("INSERT INTO NVTX_EVENTS VALUES (1, 2, 59, 'a secret that was deleted', 0, NULL, NULL)")
    database.commit()
    database.execute("DELETE FROM NVTX_EVENTS WHERE start = 1")
    database.execute("DELETE FROM META_DATA_CAPTURE WHERE name = 'PROCESS_0:ARGUMENT_0'")
    database.execute("DROP TABLE Scratch")
    database.commit()
    database.close()


def write_indexed() -> None:
    """The names of processes in an index."""
    path = HERE / "indexed.sqlite"
    path.unlink(missing_ok=True)
    database = sqlite3.connect(path)
    database.execute("PRAGMA page_size = 512")
    database.execute("CREATE TABLE NVTX_EVENTS (start INTEGER, text TEXT)")
    database.execute("CREATE TABLE PROCESSES (pid INTEGER, name TEXT)")
    database.execute("INSERT INTO PROCESSES VALUES (1, 'secret-program')")
    database.execute("CREATE INDEX by_name ON PROCESSES (name)")
    database.commit()
    database.close()


write_indexed()
write("small_pages.sqlite", page_bytes=512, encoding="UTF-8", vacuum=2)
write("wide_text.sqlite", page_bytes=1024, encoding="UTF-16le", vacuum=0)
