//! Secrets in texts: by the shape of the value, or by the name of what it is given to.

/// Stands where something private was.
pub const GONE: &str = "<redacted>";

/// Words in the name of an argument whose value is a secret.
const SECRET_WORDS: [&str; 8] =
    ["token", "secret", "password", "passwd", "api-key", "apikey", "credential", "access-key"];

/// How the tokens of well-known services begin: Hugging Face, GitHub, GitLab, OpenAI and Anthropic, Slack, AWS, Google, NVIDIA.
pub(crate) const SECRET_PREFIXES: [&str; 12] =
    ["hf_", "ghp_", "gho_", "github_pat_", "glpat-", "sk-", "xoxb-", "xoxp-", "AKIA", "ASIA", "AIza", "nvapi-"];

/// Tokens are longer than words that begin like them.
const LEAST_LENGTH: usize = 20;

/// Whether `name`, of an argument or a key, says that its value is a secret.
///
/// The words count as parts of a name (`hf_token`, `API_KEY`), not inside other words (`tokenizer`).
pub fn is_secret_name(name: &str) -> bool {
    let name = name.to_ascii_lowercase().replace(['_', '.', ' '], "-");
    SECRET_WORDS.iter().any(|word| {
        name.match_indices(word).any(|(at, _)| {
            let rest = name[at + word.len()..].trim_start_matches('s');
            let is_part = |c: Option<char>| c.is_none_or(|c| !c.is_ascii_alphabetic());
            is_part(name[..at].chars().next_back()) && is_part(rest.chars().next())
        })
    })
}

/// A word of a command with the value of `--token=…`, `NAME=…` or a token of a well-known service taken out.
pub fn without_secret(word: &str) -> String {
    if is_token(word) {
        return GONE.to_owned();
    }
    let Some((name, value)) = word.split_once('=') else { return word.to_owned() };
    // `env NAME=value program` sets an environment value.
    let sets_environment =
        !name.is_empty() && name.chars().all(|c| c.is_ascii_uppercase() || c.is_ascii_digit() || c == '_');
    if sets_environment || is_token(value) || is_secret_name(name) { format!("{name}={GONE}") } else { word.to_owned() }
}

fn is_token(word: &str) -> bool {
    word.len() >= LEAST_LENGTH && SECRET_PREFIXES.iter().any(|prefix| word.starts_with(prefix))
}

/// The length of the token that `text` begins with, 0 if it begins with none.
///
/// A token has a digit: `sk-learn-pipeline-of-transformers` has none.
pub(crate) fn token_length(text: &str) -> usize {
    if !SECRET_PREFIXES.iter().any(|prefix| text.starts_with(prefix)) {
        return 0;
    }
    let end = text.find(|c: char| !c.is_ascii_alphanumeric() && c != '_' && c != '-').unwrap_or(text.len());
    let token = &text[..end];
    if end >= LEAST_LENGTH && token.bytes().any(|byte| byte.is_ascii_digit()) { end } else { 0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_of_names_tell_secrets() {
        for secret in ["HF_TOKEN", "--hf-token", "api_key", "tokens", "aws.secret", "wandb-api-key"] {
            assert!(is_secret_name(secret), "{secret}");
        }
        for plain in ["tokenizer", "num_tokenizers", "secretary", "stream", ""] {
            assert!(!is_secret_name(plain), "{plain}");
        }
    }

    #[test]
    fn tokens_are_long_and_have_digits() {
        assert_eq!(token_length("hf_abcdefghijklmnopqrst0123 x"), 27);
        assert_eq!(token_length("sk-learn-pipeline-of-transformers"), 0);
        assert_eq!(token_length("ASIAN languages"), 0);
    }
}
