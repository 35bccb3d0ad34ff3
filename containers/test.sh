#!/usr/bin/env bash
# Builds the image for CPUs on a base of Debian's packages, without a registry of images, and records a program in it.
# Needs root, buildah and debootstrap. RIDGELINE is the executable, WORK a folder for 3 GB; STORAGE=vfs where the system has no
# overlays takes several times as much.
set -euo pipefail
root=$(cd "$(dirname "$0")/.." && pwd)
work=${WORK:-$(mktemp -d)}
binary=${RIDGELINE:-$root/target/dist/ridgeline}
b() { buildah --storage-driver "${STORAGE:-overlay}" --root "$work/storage" --runroot "$work/run" "$@"; }

[ -d "$work/rootfs" ] || debootstrap --variant=minbase bookworm "$work/rootfs" http://deb.debian.org/debian
base=$(b from scratch)
b add -q "$base" "$work/rootfs" /
b commit -q --rm "$base" localhost/debian:bookworm

mkdir -p "$work/context/bin" "$work/output" "$work/program"
cp "$binary" "$work/context/bin/ridgeline"
# What this machine trusts, a proxy's certificate among it, is trusted while the image is built.
b bud -q -v /etc/ssl/certs/ca-certificates.crt:/host-certificates.crt:ro --build-arg PIP_CERT=/host-certificates.crt --isolation chroot --network host --build-arg BASE_IMAGE=localhost/debian:bookworm --build-arg RIDGELINE=bin/ridgeline \
  -t ridgeline:cpu -f "$root/containers/Dockerfile" "$work/context"

cat > "$work/program/program.py" <<'PROGRAM'
import jax, jax.numpy as jnp
step = jax.jit(lambda x: jnp.sin(x @ x))
x = jnp.ones((256, 256))
for number in range(5):
    with jax.profiler.StepTraceAnnotation("train", step_num=number):
        x = step(x).block_until_ready()
PROGRAM
inside=$(b from ridgeline:cpu)
r() { b run --isolation chroot --network host -v "$work/output:/output" -v "$work/program:/workspace" "$inside" -- "$@"; }
r ridgeline record -o /output/run -- python program.py
r ridgeline stats /output/run --by op --top 3 -o /output/stats.txt
r xprof --help > /dev/null
grep -q '"complete": true' "$work/output/run/manifest.json"
# The names of operations are the compiler's and change with it; the program's is its own.
grep -q jit__lambda "$work/output/stats.txt"
echo "passed: the image for CPUs recorded a program"
