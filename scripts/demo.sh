#!/usr/bin/env bash
# `make demo`: from a fresh checkout to an answer, with everything it makes inside the checkout.
set -euo pipefail
cd "$(dirname "$0")/.."

say() { printf '\n== %s\n' "$*"; }

say "building ridgeline (release, without PNG)"
cargo build --release -p ridge_cli --no-default-features
ridgeline="$PWD/${CARGO_TARGET_DIR:-target}/release/ridgeline"
case "${CARGO_TARGET_DIR:-}" in /*) ridgeline="$CARGO_TARGET_DIR/release/ridgeline" ;; esac

if [ ! -x .venv/bin/python ]; then
    say "making a Python environment in .venv"
    "${PYTHON:-python3}" -m venv .venv
fi
if ! .venv/bin/python -c 'import jax, mbirjax' 2>/dev/null; then
    say "installing jax and mbirjax into .venv"
    .venv/bin/python -m pip install --disable-pip-version-check jax mbirjax
fi

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
target/release/ridgeline explain host-bound-dispatch
target/release/ridgeline hlo demo-run
target/release/ridgeline calibrate          # then `roofline demo-run` says how far each operation is from what this machine allows
target/release/ridgeline record -- .venv/bin/python your_program.py
TEXT
