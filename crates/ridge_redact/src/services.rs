//! Secrets by the way that services and programs write them: webhooks, signed addresses, bots, `curl -u`; and the numbers
//! that tell one device from all others.

use crate::found::Found;
use crate::removed::What;
use crate::shapes::is_hidden;
use regex::Regex;
use std::sync::LazyLock;

/// Addresses that whoever knows them may write to: Slack, Discord, Teams, Power Automate, Google Chat, Feishu and Lark, Zapier.
const WEBHOOKS: &str = concat!(
    r#"hooks\.slack\.com/(?:services|workflows|triggers)/([0-9A-Za-z/_-]+)"#,
    r#"|discord(?:app)?\.com/api/(?:v[0-9]+/)?webhooks/([0-9A-Za-z/_-]+)"#,
    r#"|[0-9A-Za-z-]+\.webhook\.office\.com/([^ \t\r\n"'<>\\]+)"#,
    r#"|[0-9A-Za-z.-]+\.logic\.azure\.com(?::443)?/([^ \t\r\n"'<>\\]+)"#,
    r#"|chat\.googleapis\.com/v1/([^ \t\r\n"'<>\\]+)"#,
    r#"|open\.(?:feishu\.cn|larksuite\.com)/open-apis/bot/v2/hook/([0-9A-Za-z-]+)"#,
    r#"|hooks\.zapier\.com/hooks/catch/([0-9A-Za-z/]+)"#,
);
/// Signed addresses of S3 (AWS's Signature Version 2 and 4), Google's storage, and Azure's shared access signatures.
const SIGNATURES: &str = concat!(
    r#"(?i-u:x-(?:amz|goog)-(?:signature|credential|security-token)|awsaccesskeyid|googleaccessid|[?&;]signature|[?&;]sig)"#,
    r#"(?:=|\\?":[ \t]*\\?"|:[ \t]*)([^& \t\r\n"'<>\\]{6,})"#,
);
/// The token of a Telegram bot.
const BOTS: &str = r"[0-9]{8,10}:[0-9A-Za-z_-]{35}";
/// Name and password for `curl`; a password for `sshpass`, in `.netrc`, in prose, and in XML.
const LOGINS: &str = concat!(
    r#"curl(?-u:\b)[^\n]*?[ \t](?:-u|-U|--user|--proxy-user)[ =]*["']?([^ \t\r\n"':]+:[^ \t\r\n"']+)"#,
    r#"|sshpass[ \t]+-p[ \t]*["']?([^ \t\r\n"']+)"#,
    r#"|(?-u:\b)login[ \t]+[^ \t\r\n"']+[ \t]+password[ \t]+([^ \t\r\n"']+)"#,
    r#"|(?-u:\b)(?i-u:(?:password|passphrase|passwd)[ \t]+(?:is[ \t]+)?)["']?([^ \t\r\n"',;=:()]*[0-9][^ \t\r\n"',;=:()]*)"#,
    r#"|<[0-9A-Za-z_:-]*(?i-u:password|passwd|secret|apikey)[0-9A-Za-z_:-]*>([^<]+)<"#,
);
/// UUIDs of GPUs and of their parts as `nvidia-smi -L` writes them.
const UUIDS: &str = r"(?:MIG-)?(?:GPU|MIG)-[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}";
/// Addresses of network devices: 6 pairs, 8 of InfiniBand's, 20 of IP over it.
const DEVICES: &str = r"[0-9a-fA-F]{2}(?:(?::[0-9a-fA-F]{2}){5,19}|(?:-[0-9a-fA-F]{2}){5,7})";

/// What all of these have in them, for the quick search.
pub(crate) const PARTS: &str = concat!(
    r"hooks\.|webhook|logic\.azure|chat\.googleapis|open-apis/bot|(?i-u:x-amz-|x-goog-|awsaccesskeyid|googleaccessid|[?&;]sig)",
    r"|[0-9]{8}:[0-9A-Za-z_-]{35}|curl |sshpass|(?:GPU|MIG)-[0-9a-fA-F]{8}-|[0-9a-fA-F]{2}(?::[0-9a-fA-F]{2}){5}",
    r"|[0-9a-fA-F]{2}(?:-[0-9a-fA-F]{2}){5}|scratch[0-9]*/|/lustre|/gpfs|/beegfs|/mnt/|/var/folders|~[A-Za-z_]"
);

static SECRETS: LazyLock<[Regex; 3]> =
    LazyLock::new(|| [WEBHOOKS, SIGNATURES, LOGINS].map(|pattern| Regex::new(pattern).expect("a sound pattern")));
static BOT: LazyLock<Regex> = LazyLock::new(|| Regex::new(BOTS).expect("a sound pattern"));
static UUID: LazyLock<Regex> = LazyLock::new(|| Regex::new(UUIDS).expect("a sound pattern"));
static DEVICE: LazyLock<Regex> = LazyLock::new(|| Regex::new(DEVICES).expect("a sound pattern"));

/// Adds what is private in `text` by the way that a service or program writes it.
pub(crate) fn find(text: &str, found: &mut Vec<Found>) {
    let before = |at: usize| text[..at].chars().next_back();
    let after = |at: usize| text[at..].chars().next();
    for pattern in SECRETS.iter() {
        let groups = pattern.captures_iter(text).filter_map(|found| found.iter().skip(1).flatten().next());
        let told = groups.filter(|secret| !is_hidden(secret.as_str()) && !secret.as_str().starts_with(['$', '%', '{']));
        found.extend(told.map(|secret| Found { place: secret.range(), what: What::Secret }));
    }
    for bot in BOT.find_iter(text) {
        let begins = before(bot.start()).is_none_or(|c| !c.is_alphanumeric()) || text[..bot.start()].ends_with("bot");
        if begins && after(bot.end()).is_none_or(|c| !c.is_alphanumeric()) {
            found.push(Found { place: bot.range(), what: What::Secret });
        }
    }
    found.extend(UUID.find_iter(text).map(|uuid| Found { place: uuid.range(), what: What::Machine }));
    for device in DEVICE.find_iter(text) {
        let pairs = device.len().div_ceil(3);
        let goes_on = |c: Option<char>| c.is_some_and(|c| c.is_alphanumeric() || ":-_.".contains(c));
        // Numbers alone are times and dates.
        let is_one = matches!(pairs, 6 | 8 | 20) && device.as_str().bytes().any(|byte| byte.is_ascii_alphabetic());
        if is_one && !goes_on(before(device.start())) && !goes_on(after(device.end())) {
            found.push(Found { place: device.range(), what: What::Machine });
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::removed::Removed;
    use crate::words::Words;

    #[test]
    fn services_write_secrets_in_their_own_ways() {
        for (text, expected) in [
            (
                "post https://hooks.slack.com/services/T0A/B0B/x1Y2z3",
                "post https://hooks.slack.com/services/<redacted>",
            ),
            ("https://discord.com/api/webhooks/123/ab-C_d", "https://discord.com/api/webhooks/<redacted>"),
            (
                "https://b.s3.amazonaws.com/k?X-Amz-Credential=AK/2026&X-Amz-Signature=0a1b2c3d",
                "https://b.s3.amazonaws.com/k?X-Amz-Credential=<redacted>&X-Amz-Signature=<redacted>",
            ),
            (
                "https://a.blob.core.windows.net/c?sv=2022&sig=a%2Fb3c4d%3D&se=2026",
                "https://a.blob.core.windows.net/c?sv=2022&sig=<redacted>&se=2026",
            ),
            (
                "api.telegram.org/bot123456789:AAabcdefghijklmnopqrstuvwxyz0123456/send",
                "api.telegram.org/bot<redacted>/send",
            ),
            ("curl -s -u ada:hunter2 https://x", "curl -s -u <redacted> https://x"),
            ("the password is hunter2, and a password field", "the password is <redacted>, and a password field"),
            ("<dbPassword>hunter2</dbPassword>", "<dbPassword><redacted></dbPassword>"),
            ("GPU-8a9f1c02-1111-2222-3333-0123456789ab on b8:59:9f:03:00:d4", "<redacted> on <redacted>"),
            (
                "12:34:56:07:08:09 0000:3b:00.0 2024-11-15-12-30-59",
                "12:34:56:07:08:09 0000:3b:00.0 2024-11-15-12-30-59",
            ),
        ] {
            assert_eq!(Words::default().clean(text, &mut Removed::default()), expected);
        }
    }
}
