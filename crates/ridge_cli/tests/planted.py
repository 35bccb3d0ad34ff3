"""Plants private things in every format, lets `ridgeline` take them out, and looks for what survived.

    python3 planted.py RIDGELINE FOLDER

Nothing of Ridgeline is used to write the captures or to look into the copies, so that no mistake is shared with what is checked.
Prints one line per survivor, `format: name`, and a last line with how many things were looked for.
"""

from __future__ import annotations

import base64
import gzip
import html
import io
import json
import pickle
import re
import sqlite3
import subprocess
import sys
import urllib.parse
import zipfile
import zlib
from pathlib import Path

# What is looked for, by a name: none of these letters may be found in a copy.
SECRETS = {
    "host": "kestrel7", "host of a pair": "osprey9", "host by its domain": "merlin4", "domain": "aviary.birdlab.example",
    "user": "hildegard", "user of a pair": "leonora_k", "user of a login": "wendel3", "user of a home": "marguerite",
    "full name": "Ottilie Grasshof", "password": "hunter2", "password of a pair": "s3cr3t!pie", "scratch": "quincy5",
    "lustre": "rosalind", "mount": "tobias_w", "macos": "qx81kk2n_private", "tilde": "ursulina", "slack": "T0AB/B0CD/x1Y2z3W4",
    "discord": "998877/zzYYxx-11", "s3": "0a1b2c3d4e5f6071", "azure": "aB3c4D5e6F7g8H9i", "telegram": "AAabcdefghijklmnopqrstuvwxyz0123456",
    "curl": "cr0codile", "mac": "b8:59:9f:03:00:d4", "uuid": "8a9f1c02-1111-2222-3333-0123456789ab", "email": "gil@birdlab.example",
    "address": "10.11.12.13", "token": "hf_abcdefghijklmnopqrstuvwx0123",
}
S = SECRETS

# Documents that say names, as parts of JSON.
SAY = [
    {"user": {"name": S["user"], "id": 7}, "hostname": {"value": f"{S['host']}.{S['domain']}"}},
    {"attributes": [{"key": "host.name", "value": {"stringValue": S["host of a pair"]}}, {"value": S["user of a pair"], "name": "user"}]},
    {"users": [{"name": S["full name"]}], "db_password": S["password"]},
    {"settings": [{"value": S["password of a pair"], "key": "password"}], "args": ["--password", S["password"]]},
]
# The same where there are only texts.
SAY_IN_TEXT = [
    f"USER={S['user']} HOSTNAME={S['host']}.{S['domain']}", f"hostname: {S['host of a pair']}", f"username={S['user of a pair']}",
    f'{{"user": {{"name": "{S["full name"]}"}}}}', f"--password={S['password']}", f"DB_PASSWORD='{S['password of a pair']}'",
]
# Texts that hold private things, in any format.
TEXTS = [
    f"step of {S['user']} on {S['host']}", f"{S['host'].upper()} by {S['full name']}", f"on {S['host of a pair']} for {S['user of a pair']}",
    f"peer {S['host by its domain']}.{S['domain']}:80 and {S['host by its domain']} again", f"login {S['password']} or {S['password of a pair']}",
    f"ssh://{S['user of a login']}@{S['host']}/x, then {S['user of a login']}", f"/home/{S['user of a home']}/a.py by {S['user of a home']}",
    f"/data/{S['user of a home']}/x", f"/scratch/{S['scratch']}/a.py", f"/lustre/fsw/users/{S['lustre']}/x", f"/mnt/{S['mount']}/x.npy",
    f"/private/var/folders/zz/{S['macos']}/T/x", f"cd ~{S['tilde']}/x", f"https://hooks.slack.com/services/{S['slack']}",
    f"https://discord.com/api/webhooks/{S['discord']}", f"https://b.s3.amazonaws.com/k?X-Amz-Signature={S['s3']}",
    f"https://a.blob.core.windows.net/c?sv=2022-11-02&sig={S['azure']}&se=2027", f"https://api.telegram.org/bot123456789:{S['telegram']}/send",
    f"curl -s -u ada:{S['curl']} https://x.example", f"mlx5_0 {S['mac']} up", f"on GPU-{S['uuid']}", f"by {S['email']}", f"to {S['address']}:80",
    f"with {S['token']}", f"<password>{S['password']}</password>", f"password => '{S['password']}'",
]


def escaped(text: str) -> list[str]:
    """`text` in other clothes."""
    every = "".join(f"\\u{ord(c):04x}" for c in text)
    plain = base64.b64encode(text.encode()).decode()
    return [
        urllib.parse.quote(text, safe=""), urllib.parse.quote(urllib.parse.quote(text, safe=""), safe=""), every,
        json.dumps(json.dumps({"x": text})), html.escape(text).replace("/", "&#47;"),
        "data:" + plain, "x=" + base64.b64encode(gzip.compress(text.encode())).decode(),
        "x=" + base64.b64encode(zlib.compress(text.encode())).decode(), text.encode().hex(),
        base64.b64encode(("..." + text).encode("utf-16-le")).decode(),
    ]


# In base64, homes and known names are promised, and not what is private by another shape.
DRESSED = [f"/home/{S['user of a home']}/a.py", f"run of {S['user']} on {S['host']}", f"say {S['full name']} at {S['host of a pair']}"]
EVERY = TEXTS + [dressed for text in DRESSED for dressed in escaped(text)]


def chrome() -> bytes:
    events = [{"ph": "X", "pid": 1, "tid": 1, "ts": at, "dur": 1, "name": text, "cat": "kernel", "args": {"text": text}} for at, text in enumerate(EVERY)]
    events += [{"ph": "X", "pid": 1, "tid": 1, "ts": 999, "dur": 1, "name": "last", "cat": "kernel", "args": said} for said in SAY]
    return json.dumps({"schemaVersion": 1, "traceEvents": events}).encode()


def varint(value: int) -> bytes:
    out = b""
    while value >= 0x80:
        out += bytes([value & 0x7F | 0x80])
        value >>= 7
    return out + bytes([value])


def field(number: int, value: bytes | str | int) -> bytes:
    if isinstance(value, int):
        return varint(number << 3) + varint(value)
    data = value.encode() if isinstance(value, str) else value
    return varint(number << 3 | 2) + varint(len(data)) + data


def xplane() -> bytes:
    texts = EVERY + SAY_IN_TEXT + [json.dumps(said) for said in SAY]
    metadata = b"".join(field(4, field(1, at + 1) + field(2, field(1, at + 1) + field(2, text))) for at, text in enumerate(texts))
    stat = field(5, field(1, 1) + field(2, field(1, 1) + field(2, "packed")))
    packed = gzip.compress(f"/home/{S['user of a home']}/x".encode())
    events = b"".join(field(4, field(1, at + 1) + field(2, at * 1000) + field(3, 500)) for at in range(len(texts)))
    held = field(4, field(1, 1) + field(2, 1) + field(3, 1) + field(4, field(1, 1) + field(6, packed)))
    plane = field(1, 1) + field(2, "/device:GPU:0") + field(3, field(1, 1) + field(2, "Stream #1") + events + held) + metadata + stat
    return field(1, plane) + field(4, S["host"])


def hlo() -> bytes:
    texts = SAY_IN_TEXT + EVERY
    lines = [f'  p{at} = f32[] parameter({at}), metadata={{op_name="{json.dumps(text)[1:-1]}"}}' for at, text in enumerate(texts)]
    return ("HloModule f\n\nENTRY main {\n" + "\n".join(lines) + "\n  ROOT r = f32[] add(p0, p1)\n}\n").encode()


def nsys() -> bytes:
    path = FOLDER / "made.sqlite"
    database = sqlite3.connect(path)
    database.execute("CREATE TABLE StringIds (id INTEGER PRIMARY KEY, value TEXT)")
    texts = EVERY + SAY_IN_TEXT + [json.dumps(said) for said in SAY]
    database.executemany("INSERT INTO StringIds VALUES (?, ?)", list(enumerate(texts)))
    database.execute("CREATE TABLE NVTX_EVENTS (start INTEGER, end INTEGER, eventType INTEGER, text TEXT, textId INTEGER, globalTid INTEGER)")
    database.executemany("INSERT INTO NVTX_EVENTS VALUES (?, ?, 59, ?, NULL, 1)", [(at * 10, at * 10 + 5, text) for at, text in enumerate(EVERY)])
    database.execute("CREATE TABLE META_DATA_EXPORT (name TEXT, value TEXT)")
    database.executemany("INSERT INTO META_DATA_EXPORT VALUES (?, ?)", [("EXPORT_USER", S["user"]), ("EXPORT_HOST", S["host"])])
    database.execute("CREATE TABLE EXTRA (blob BLOB)")
    database.execute("INSERT INTO EXTRA VALUES (?)", [zlib.compress(f"/home/{S['user of a home']}/x".encode())])
    database.commit()
    database.close()
    return path.read_bytes()


def snapshot() -> bytes:
    entry = {"action": "alloc", "addr": 4096, "size": 512, "stream": 0, "time_us": 1}
    traces = [entry | {"time_us": at, "frames": [{"filename": text, "line": 1, "name": "f"}]} for at, text in enumerate(EVERY + SAY_IN_TEXT)]
    return pickle.dumps({"segments": [], "device_traces": [traces], "external": SAY}, protocol=4)


def monitor() -> bytes:
    def cell(text: str) -> str:
        return '"' + text.replace('"', '""') + '"'

    rows = ["timestamp, index, name, uuid, utilization.gpu [%]"]
    rows += [f"2026/01/01 00:00:{at % 60:02}.000, 0, {cell(text)}, GPU-{S['uuid']}, 5 %" for at, text in enumerate(SAY_IN_TEXT + EVERY)]
    return ("\n".join(rows) + "\n").encode()


def archive(members: dict[str, bytes]) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as made:
        for name, content in members.items():
            made.writestr(name, content)
    return out.getvalue()


RUN = re.compile(rb"[A-Za-z0-9+/_-]{12,}={0,2}")


def undressed(content: bytes, depth: int = 0) -> list[bytes]:
    """`content` and all that is packed or encoded in it."""
    found = [content]
    if depth > 3:
        return found
    inner: list[bytes] = []
    for begin in (b"\x1f\x8b\x08", b"x\x9c", b"x\x01", b"x\xda"):
        for at in (match.start() for match in re.finditer(re.escape(begin), content)):
            try:
                inner.append(zlib.decompressobj(47).decompress(content[at:], 1 << 20))
            except zlib.error:
                pass
    if content.startswith(b"PK"):
        with zipfile.ZipFile(io.BytesIO(content)) as packed:
            inner += [packed.read(name) for name in packed.namelist()] + [name.encode() for name in packed.namelist()]
    text = content.decode("utf-8", "replace")
    plain = html.unescape(urllib.parse.unquote(urllib.parse.unquote(text)))
    for _ in range(3):
        plain = re.sub(r"\\u([0-9a-f]{4})", lambda code: chr(int(code[1], 16)), plain).replace('\\"', '"').replace("\\/", "/").replace("\\\\", "\\")
    if plain != text:
        found.append(plain.encode("utf-8", "replace"))
    for run in RUN.findall(content):
        for shift in range(4):
            try:
                inner.append(base64.b64decode(run[shift:].rstrip(b"=").replace(b"-", b"+").replace(b"_", b"/") + b"==="))
            except ValueError:
                pass
        if re.fullmatch(rb"(?:[0-9a-f]{2})+", run):
            inner.append(bytes.fromhex(run.decode()))
    if content.count(b"\0") * 3 > len(content):
        found.append(content.replace(b"\0", b""))
    return found + [one for part in inner if len(part) > 4 for one in undressed(part, depth + 1)]


def survivors(copy: bytes) -> list[str]:
    all_of_it = b"\n".join(undressed(copy)).lower()
    return [name for name, secret in SECRETS.items() if secret.lower().encode() in all_of_it]


# Names and passwords that only a document inside of a text says, such as JSON in an operation's name, are taken out there at most
# and not learned (docs/privacy.md). What is mended leaves this table.
IN_TEXTS = {"full name", "password of a pair"}
NOT_LEARNED = {
    "host.xplane.pb": IN_TEXTS, "module.txt": IN_TEXTS, "export.sqlite": IN_TEXTS, "snapshot.pickle": IN_TEXTS, "query.csv": {"full name"},
}
# Exports and reports learn from the captures' own words alone: a host that only its domain betrays keeps its bare name there.
NOT_LEARNED |= {f"export to {form}": {"host by its domain"} for form in ("chrome", "perfetto", "speedscope", "csv", "parquet")}
NOT_LEARNED["report"] = {"host by its domain"}


def report_on(name: str, left: list[str]) -> None:
    """A line for each survivor that is not known, and for each known one that survives no more."""
    known = NOT_LEARNED.get(name, set())
    print("".join(f"{name}: {one}\n" for one in left if one not in known), end="")
    print("".join(f"{name}: {one} survives no more\n" for one in sorted(known - set(left))), end="")


def run(*arguments: str) -> None:
    ran = subprocess.run([RIDGELINE, *arguments], capture_output=True, text=True)
    if ran.returncode != 0:
        print(f"{' '.join(arguments)}: exit {ran.returncode}: {ran.stderr.strip()}")


RIDGELINE, FOLDER = sys.argv[1], Path(sys.argv[2])
looked_for = 0
CAPTURES = {
    "trace.json": chrome(), "trace.json.gz": gzip.compress(chrome()), "host.xplane.pb": xplane(), "module.txt": hlo(), "export.sqlite": nsys(),
    "snapshot.pickle": snapshot(), "query.csv": monitor(),
}
for name, content in CAPTURES.items():
    given, copy = FOLDER / name, FOLDER / f"copy-{name}"
    given.write_bytes(content)
    planted = survivors(content)
    assert len(planted) >= len(SECRETS) - 2, f"{name}: only {planted} are planted"
    run("redact", str(given), str(copy))
    left = survivors(copy.read_bytes()) if copy.exists() else ["no copy"]
    looked_for += len(planted)
    report_on(name, left)
# What one file of a folder says, others repeat; exports and reports follow.
both = FOLDER / "both"
both.mkdir()
(both / "a.json").write_bytes(json.dumps({"traceEvents": [{"ph": "X", "pid": 1, "tid": 1, "ts": 1, "dur": 1, "cat": "kernel", "name": "f", "args": SAY[0]}]}).encode())
(both / "b.json").write_bytes(json.dumps({"traceEvents": [{"ph": "X", "pid": 1, "tid": 1, "ts": 2, "dur": 1, "cat": "kernel", "name": TEXTS[0]}]}).encode())
run("redact", str(both), str(FOLDER / "copied"))
print("".join(f"folder: {one}\n" for one in survivors(b"".join(path.read_bytes() for path in (FOLDER / "copied").rglob("*.json")))), end="")
for form in ("chrome", "perfetto", "speedscope", "csv", "parquet"):
    out = FOLDER / f"export.{form}"
    run("export", str(FOLDER / "trace.json"), "--to", form, "-o", str(out))
    report_on(f"export to {form}", survivors(out.read_bytes() if out.exists() else b""))
    looked_for += len(SECRETS)
run("report", str(FOLDER / "trace.json"), "--redact", "-o", str(FOLDER / "report.html"))
report = (FOLDER / "report.html").read_bytes()
report_on("report", survivors(report))
print(f"{looked_for + len(SECRETS)} looked for")
