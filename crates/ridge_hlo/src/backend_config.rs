//! Backend configurations: what the backend decided for one instruction, in whatever form it wrote it.
//!
//! They are JSON for most instructions, MLIR attributes for typed custom calls, and sometimes neither. The text is
//! kept as it came and JSON is read on demand and leniently: keys this crate does not know are left alone.

use serde_json::Value;

/// A backend configuration, as text.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct BackendConfig {
    /// As the file has it: JSON, MLIR attributes (`{uplo = 76 : ui8}`) or other text; empty if there is none.
    pub raw: String,
}

impl BackendConfig {
    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.raw.is_empty()
    }

    /// It as JSON; `None` if it is none.
    ///
    /// A broken tail is cut off where what stands before it is whole.
    pub fn json(&self) -> Option<Value> {
        let text = self.raw.trim_start();
        if !text.starts_with(['{', '[']) {
            return None;
        }
        serde_json::Deserializer::from_str(text).into_iter::<Value>().next()?.ok()
    }

    /// The JSON value at `pointer`, `/known_trip_count/n`, wherever a backend nests it.
    ///
    /// GPU configurations keep their parts under one key more than others, so a first key that is not found is looked
    /// for one level deeper.
    pub fn value(&self, pointer: &str) -> Option<Value> {
        let first = pointer.strip_prefix('/')?.split('/').next()?;
        if !self.raw.contains(first) {
            return None;
        }
        let json = self.json()?;
        if let Some(found) = json.pointer(pointer) {
            return Some(found.clone());
        }
        json.as_object()?.values().find_map(|inner| inner.pointer(pointer)).cloned()
    }

    /// The non-negative integer at `pointer`; protobuf's JSON writes 64-bit ones as strings.
    pub fn integer(&self, pointer: &str) -> Option<u64> {
        match self.value(pointer)? {
            Value::Number(number) => number.as_u64(),
            Value::String(text) => text.parse().ok(),
            _ => None,
        }
    }

    /// The text at `pointer`.
    pub fn string(&self, pointer: &str) -> Option<String> {
        match self.value(pointer)? {
            Value::String(text) => Some(text),
            _ => None,
        }
    }

    /// The entry `key` of an MLIR attribute dictionary, as text: `76 : ui8` for `uplo`.
    pub fn attribute(&self, key: &str) -> Option<&str> {
        let inner = self.raw.trim().strip_prefix('{')?.strip_suffix('}')?;
        crate::text::split_list(inner).into_iter().find_map(|entry| {
            let (name, value) = entry.split_once('=')?;
            (name.trim() == key).then(|| value.trim())
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn config(raw: &str) -> BackendConfig {
        BackendConfig { raw: raw.to_owned() }
    }

    #[test]
    fn unknown_keys_cost_nothing() {
        let gemm = config(r#"{"mx_mode":7,"gemm_backend_config":{"alpha_real":1,"epilogue":"BIAS","future":[{}]}}"#);
        assert_eq!(gemm.string("/gemm_backend_config/epilogue").as_deref(), Some("BIAS"));
        assert_eq!(gemm.string("/epilogue").as_deref(), Some("BIAS"));
        assert_eq!(config(r#"{"known_trip_count":{"n":"17"}}"#).integer("/known_trip_count/n"), Some(17));
        assert_eq!(config(r#"{"known_trip_count":{"n":17}} trailing"#).integer("/known_trip_count/n"), Some(17));
        assert_eq!(config("known_trip_count").integer("/known_trip_count/n"), None);
        assert_eq!(config("{uplo = 76 : ui8, x = [1, 2]}").attribute("x"), Some("[1, 2]"));
    }

    #[test]
    fn deep_json_is_refused_rather_than_recursed_into() {
        assert_eq!(config(&"[".repeat(100_000)).json(), None);
    }
}
