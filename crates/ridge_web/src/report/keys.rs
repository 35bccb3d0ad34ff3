//! The keys by which a report keeps answers: addresses as the page writes them.

/// `path?query` as the page writes it: in the order of names, encoded as browsers do.
pub(super) fn key(path: &str, query: &[(&str, &str)]) -> String {
    let pairs: Vec<String> = query.iter().map(|(name, value)| format!("{name}={}", encoded(value))).collect();
    format!("{path}?{}", pairs.join("&"))
}

/// Answers that are kept by the addresses that they are asked by.
pub(super) fn same(addresses: Vec<String>) -> Vec<(String, String)> {
    addresses.into_iter().map(|address| (address.clone(), address)).collect()
}

/// As `encodeURIComponent`.
fn encoded(text: &str) -> String {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-_.!~*'()".contains(&byte);
    text.bytes().map(|byte| if plain(byte) { char::from(byte).to_string() } else { format!("%{byte:02X}") }).collect()
}
