# What a developer runs; CI runs the same through .ci/run.

fmt:
    cargo fmt --all

lint:
    cargo fmt --all --check
    cargo clippy --workspace --all-targets -- -D warnings
    RUSTDOCFLAGS="-D warnings" cargo doc --workspace --no-deps

test:
    cargo test --workspace

# Rewrites the committed definitions from the types.
crds:
    UPDATE=1 cargo test --test crds

# Records anew what the real Helms print: all areas of fixtures/matrix, or the named ones.
record *areas:
    cargo run -p whipstaff-test-support --bin record-fixtures -- {{areas}}

e2e:
    cargo run --example quickstart

bench:
    cargo bench --workspace
