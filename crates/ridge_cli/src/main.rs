//! The program `ridgeline`. Everything it does is in the library beside it.

fn main() {
    ridge_cli::main(std::env::args_os().collect())
}
