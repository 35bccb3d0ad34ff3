//! What the browser may run and reach: the page's own scripts, by their hashes, and this server.

use crate::INDEX;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use sha2::{Digest as _, Sha256};
use std::sync::LazyLock;

/// The content policy of every answer of the server.
pub fn content_policy() -> &'static str {
    static POLICY: LazyLock<String> =
        LazyLock::new(|| format!("{}; connect-src 'self'; frame-ancestors 'none'", inline_policy(INDEX)));
    &POLICY
}

/// The policy of a page that asks nobody: its own scripts, styles and drawings.
pub fn inline_policy(page: &str) -> String {
    let hash = |script: &str| format!("'sha256-{}'", STANDARD.encode(Sha256::digest(script.as_bytes())));
    let scripts: Vec<String> = scripts(page).map(hash).collect();
    let scripts = if scripts.is_empty() { "'none'".to_owned() } else { scripts.join(" ") };
    // Views place what they draw by style attributes, which no hash can name.
    format!(
        "default-src 'none'; script-src {scripts}; style-src 'unsafe-inline'; img-src data: blob:; font-src data:; \
         worker-src blob:; base-uri 'none'; form-action 'none'"
    )
}

/// The texts of the scripts in `page` that a browser would run; data that stands in one is not.
fn scripts(page: &str) -> impl Iterator<Item = &str> {
    let mut rest = page;
    let all = std::iter::from_fn(move || {
        let (attributes, behind) = rest[rest.find("<script")?..].split_once('>')?;
        // A script may speak of scripts: it ends at the first end alone.
        let (text, behind) = behind.split_once("</script")?;
        rest = behind;
        Some((attributes, text))
    });
    all.filter(|(attributes, _)| !attributes.contains("type=\"application/")).map(|(_, text)| text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scripts_are_named_by_what_they_say() {
        // `printf 'run()' | openssl dgst -sha256 -binary | base64`
        let page = "<script type=\"module\">run()</script><script type=\"application/octet-stream\">x</script>";
        let policy = inline_policy(page);
        assert!(policy.contains("script-src 'sha256-AvyuiL0SD1mVY3NNxR+V2uo+lhk6RMFrytWmRt6CrJQ='; "), "{policy}");
        assert!(inline_policy("<p>").contains("script-src 'none'"));
    }
}
