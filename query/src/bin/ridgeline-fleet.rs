//! See `ridge_query::cluster`.

fn main() -> std::process::ExitCode {
    ridge_query::cluster::main()
}
