#!/usr/bin/env bash
# `make fuzz`: each target for some seconds with libFuzzer, which follows coverage.
#
# The flags are those of cargo-fuzz without a sanitizer; they are stable, so no nightly compiler is needed.
# What is found is under fuzz/artifacts/<target>/, and the inputs that reached new code under fuzz/corpus/<target>/.
set -euo pipefail
cd "$(dirname "$0")/.."
seconds="${1:-3600}"
host="$(rustc -vV | sed -n 's/^host: //p')"

export CARGO_TARGET_DIR=fuzz/target
RUSTFLAGS="--cfg fuzzing -Cpasses=sancov-module -Cllvm-args=-sanitizer-coverage-level=4 \
-Cllvm-args=-sanitizer-coverage-inline-8bit-counters -Cllvm-args=-sanitizer-coverage-pc-table \
-Cllvm-args=-sanitizer-coverage-trace-compares -Cdebug-assertions -Coverflow-checks=yes" \
    cargo build --quiet --release --target "$host" -p ridge_fuzz \
    --features libfuzzer --bin xplane --bin chrome --bin nsys --bin ncu --bin pprof --bin torch_snapshot --bin memory_timeline --bin hlo_proto --bin hlo_text --bin summary --bin redact

fuzz_one() {
    local target="$1" ending="$2" seeds
    seeds="fuzz/target/seeds/$target"
    mkdir -p "$seeds" "fuzz/corpus/$target" "fuzz/artifacts/$target"
    find fixtures ../shared/corpus/xplane -name "*$ending" -size -512k -exec cp -f {} "$seeds/" \; 2>/dev/null || true
    "fuzz/target/$host/release/$target" "fuzz/corpus/$target" "$seeds" -max_total_time="$seconds" -max_len=262144 \
        -timeout=60 -rss_limit_mb=4000 -malloc_limit_mb=1000 -print_final_stats=1 \
        -artifact_prefix="fuzz/artifacts/$target/"
}

fuzz_one xplane .xplane.pb
fuzz_one chrome .json
fuzz_one nsys .sqlite
fuzz_one ncu .ncu-rep
fuzz_one pprof _arrays.pb
fuzz_one summary .summary.json
fuzz_one torch_snapshot .pickle
fuzz_one memory_timeline .raw.json
fuzz_one hlo_proto .hlo.pb
fuzz_one hlo_text .txt
fuzz_one redact ""
