#!/usr/bin/env bash
# `make demo`: from a fresh checkout to an answer, with everything it makes inside the checkout.
set -euo pipefail
cd "$(dirname "$0")/.."

say() { printf '\n== %s\n' "$*"; }

install() {
    if [ ! -x .venv/bin/python ]; then
        "${PYTHON:-python3}" -m venv .venv
    fi
    if ! .venv/bin/python -c 'import jax, mbirjax' 2>/dev/null; then
        .venv/bin/python -m pip install --disable-pip-version-check jax mbirjax
    fi
}

# Downloading waits for the network and compiling does not, so they run side by side.
log=demo-install.log
say "installing jax and mbirjax into .venv meanwhile (its words are in $log)"
install >"$log" 2>&1 &
installing=$!
trap 'kill "$installing" 2>/dev/null || true' EXIT

say "building ridgeline (release, without the page and PNG)"
cargo build --release -p ridge_cli --no-default-features
ridgeline="$PWD/${CARGO_TARGET_DIR:-target}/release/ridgeline"
case "${CARGO_TARGET_DIR:-}" in /*) ridgeline="$CARGO_TARGET_DIR/release/ridgeline" ;; esac

if kill -0 "$installing" 2>/dev/null; then
    say "waiting for jax and mbirjax"
fi
if ! wait "$installing"; then
    tail -n 30 "$log" >&2
    echo "demo: jax and mbirjax could not be installed; all of it is in $log" >&2
    exit 1
fi
trap - EXIT

say "recording MBIRJAX operations at size $DEMO_SIZES: $DEMO_OPS"
rm -rf demo-run
"$ridgeline" bench mbirjax --python .venv/bin/python --sizes "$DEMO_SIZES" --ops "$DEMO_OPS" --runs 3 -o demo-run

say "ridgeline stats demo-run"
"$ridgeline" stats demo-run

say "what holds it back"
"$ridgeline" check demo-run --fail-on never

say "more to ask"
cat <<'TEXT'
target/release/ridgeline info demo-run
target/release/ridgeline stats demo-run --by source --top 20
target/release/ridgeline explain recompilation
target/release/ridgeline hlo demo-run
target/release/ridgeline calibrate          # then `roofline demo-run` says how far each operation is from what this machine allows
target/release/ridgeline record -- .venv/bin/python your_program.py
TEXT
