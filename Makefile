# What people type. Each target says what it does in `make help`; the work is in scripts/ and benches/.

PYTHON ?= python3
SECONDS ?= 3600
DEMO_OPS ?= cone_forward_project,cone_back_project,cone_fdk_recon,parallel_fbp_recon,median_filter3d
DEMO_SIZES ?= 32

.PHONY: help demo lint test query test-query test-fleet wheel test-wheel release site ui test-ui test-torch test-container test-hardware bench instructions prove truth rules accuracy pairs fuzz faults

help: ## list the targets
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/^([a-z-]+):.*## /  make \1\t/' | expand -t 20

demo: ## build, make a Python environment, record real MBIRJAX operations, show where their time went
	@PYTHON="$(PYTHON)" DEMO_OPS="$(DEMO_OPS)" DEMO_SIZES="$(DEMO_SIZES)" bash scripts/demo.sh

test: ## Rust and Python tests, guards, a minute of damaged input
	@$(PYTHON) scripts/test.py test

query: ## build `ridgeline-query` (SQL on DataFusion) as it is handed out, into target/query/dist; takes long
	@cargo build --manifest-path query/Cargo.toml --target-dir target/query --profile dist

test-query: ## test `ridgeline-query`: its format, clippy, tests, and its answers beside those of sqlite3 and DuckDB; needs PyPI
	@cargo fmt --manifest-path query/Cargo.toml --check
	@cargo clippy --manifest-path query/Cargo.toml --target-dir target/query --all-targets -- -D warnings
	@cargo test --manifest-path query/Cargo.toml --target-dir target/query
	@cargo build --profile release -p ridge_cli --no-default-features
	@$(PYTHON) scripts/query_peers.py

test-fleet: ## build `ridgeline-fleet`, and test datasets in a bucket and queries on three machines; needs PyPI, and root for machines with addresses
	@cargo build --workspace --bin ridgeline
	@cargo build --manifest-path query/Cargo.toml --target-dir target/query --features fleet
	@$(PYTHON) scripts/test_fleet.py

wheel: ## build wheels for Linux on x86-64 and ARM64 into target/wheels; installs maturin and Zig into .venv-wheel
	@$(PYTHON) scripts/wheel.py

test-wheel: ## install the newest wheel away from the checkout and use it: record, view, tables, a notebook, an agent; needs PyPI
	@$(PYTHON) scripts/test_wheel.py

release: ## wheels, a static archive, checksums, parts list and changelog into target/release-VERSION; publishes nothing
	@$(PYTHON) scripts/release.py

lint: ## format and clippy
	@$(PYTHON) scripts/test.py lint

site: ## build the documentation site into site/; installs Zensical into .venv-site
	@$(PYTHON) scripts/site.py

ui: ## rebuild the page of `view` and `report` after a change in ui/; needs Node
	@cd ui && npm ci --no-audit --no-fund && npm run build

test-ui: ## test the page, in a browser too; installs Chromium by apt and Node's packages by npm
	@$(PYTHON) scripts/test_ui.py --install

test-torch: ## record real PyTorch programs; installs torch into .venv-torch, several gigabytes
	@$(PYTHON) scripts/test_torch.py

test-deviceless: ## compile real programs for absent GPUs; installs the compiler and the programs into .venv-deviceless, 3 GB; SIZES=32,64,128,256 for larger volumes
	@$(PYTHON) scripts/test_deviceless.py --sizes $(or $(SIZES),32)

test-hardware: ## install Verilator, Icarus Verilog and Yosys by name (Debian; needs root), and run every check of a bundle
	@apt-get install -y verilator iverilog yosys
	@RIDGELINE_HARDWARE=1 cargo test -p ridge_handoff

test-container: ## build the image for CPUs on Debian's packages, and record a program in it; needs root, buildah and debootstrap
	@cargo build --profile dist -p ridge_cli
	@bash containers/test.sh

bench: ## compare `ridgeline stats` with XProf on captures of several sizes; writes bench-out/results.json
	@cargo build --profile dist -p ridge_cli
	@$(PYTHON) benches/run.py

instructions: ## count the instructions of reading and of every analysis with callgrind, which a busy machine does not change
	@cargo build --release -p ridge_cli --no-default-features
	@$(PYTHON) benches/instructions.py target/release/ridgeline

prove: ## lay our numbers beside hardware counters, CUDA events, nvidia-smi; writes proof-out/report.md
	@cargo build --release -p ridge_cli
	@$(PYTHON) proof/prove.py

truth: ## hold the sums of `stats` and `idle` against readers of their own, to the nanosecond
	@cargo build --release -p ridge_cli --no-default-features
	@$(PYTHON) scripts/truth/truth.py target/release/ridgeline

rules: ## hold the rules of `check` against pairs of real programs; needs JAX in the Python; RULES=--write keeps the record
	@cargo build --release -p ridge_cli --no-default-features
	@$(PYTHON) scripts/rules.py $(RULES)

accuracy: ## hold `check` against programs that no rule was tuned with; needs their libraries in the Python; ACCURACY=--write keeps the record
	@cargo build --release -p ridge_cli --no-default-features
	@$(PYTHON) scripts/accuracy.py $(ACCURACY)

pairs: ## hold `diff` against pairs of programs whose change is known, and against the same program twice; needs JAX in the Python
	@cargo build --release -p ridge_cli --no-default-features
	@$(PYTHON) scripts/diff_pairs.py target/release/ridgeline $(PAIRS)

faults: ## kill every command that writes at random moments, fill the disk, take limits away, try odd names; some minutes
	@cargo build --release -p ridge_cli
	@$(PYTHON) scripts/faults.py target/release/ridgeline $(FAULTS)

fuzz: ## follow coverage with libFuzzer, SECONDS=3600 per target; needs a C++ compiler
	@bash scripts/fuzz.sh $(SECONDS)
