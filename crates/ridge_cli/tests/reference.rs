//! `docs/cli.md` says what the program says. `UPDATE_EXPECT=1` writes it anew.

use expect_test::expect_file;

#[test]
fn the_reference_page_is_current() {
    expect_file!["../../../docs/cli.md"].assert_eq(&ridge_cli::reference());
}
