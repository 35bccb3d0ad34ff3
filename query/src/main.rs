//! See `ridge_query`.

fn main() -> std::process::ExitCode {
    ridge_query::main()
}
