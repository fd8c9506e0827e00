//! Keys that are recognized by their format, in any context.

use base64::{Engine, engine::general_purpose::STANDARD};

/// The prefix of a key, and the minimum number of further characters. Most contain a digit, unlike words of code.
const KEYS: [(&str, usize); 45] = [
    // Our own.
    ("gh_", 12),
    ("whsec_", 16),
    // Models.
    ("sk-", 12),
    ("sk_", 20),
    ("hf_", 20),
    ("gsk_", 20),
    ("xai-", 20),
    ("pplx-", 20),
    ("r8_", 20),
    ("nvapi-", 20),
    ("AIza", 30),
    ("ya29.", 20),
    ("GOCSPX-", 20),
    ("tvly-", 16),
    // Code.
    ("ghp_", 20),
    ("gho_", 20),
    ("ghu_", 20),
    ("ghs_", 20),
    ("ghr_", 20),
    ("github_pat_", 20),
    ("glpat-", 16),
    ("gldt-", 16),
    ("npm_", 30),
    ("pypi-", 30),
    ("dckr_pat_", 16),
    ("rubygems_", 30),
    // Chat and mail.
    ("xoxb-", 12),
    ("xoxp-", 12),
    ("xoxa-", 12),
    ("xoxr-", 12),
    ("xoxs-", 12),
    ("xapp-", 12),
    ("SG.", 30),
    ("key-", 32),
    // Payment.
    ("sk_live_", 16),
    ("sk_test_", 16),
    ("rk_live_", 16),
    ("rk_test_", 16),
    // Clouds.
    ("dop_v1_", 32),
    ("shpat_", 24),
    ("LTAI", 16),
    ("hvs.", 20),
    ("AGE-SECRET-KEY-1", 30),
    ("tskey-", 16),
    ("atlasv1.", 20),
];
/// AWS access keys: this prefix and sixteen capital letters and digits.
const AWS: [&str; 4] = ["AKIA", "ASIA", "ABIA", "ACCA"];
const AWS_BYTES: usize = 20;
/// The start of JSON in Base64: a JWT, or one long token.
const JSON: &str = "eyJ";
const JSON_BYTES: usize = 40;
/// Minimum length of a credential after "Bearer".
const BEARER_BYTES: usize = 12;
const LONG_BYTES: usize = 16;
/// Minimum length of a text that looks random.
const RANDOM_BYTES: usize = 6;

/// Maximum length of a key, bytes.
pub(super) const MAX_KEY_BYTES: usize = 8_192;

/// Whether a key may begin here.
pub(super) fn begins_key(word: &str) -> bool {
    let begins = |prefix: &&str| word.starts_with(*prefix);
    KEYS.iter()
        .map(|(prefix, _)| prefix)
        .chain(&AWS)
        .chain([&JSON])
        .any(begins)
}

/// Whether this word is a key.
pub(super) fn is_key(word: &str) -> bool {
    let bytes = word.as_bytes();
    let has_form = |(prefix, more): &(&str, usize)| {
        word.strip_prefix(prefix).is_some_and(|rest| {
            rest.len() >= *more && rest.bytes().any(|byte| byte.is_ascii_digit())
        })
    };
    KEYS.iter().any(has_form) || is_aws(bytes) || is_json_token(word)
}

fn is_aws(bytes: &[u8]) -> bool {
    bytes.len() == AWS_BYTES
        && AWS
            .iter()
            .any(|prefix| bytes.starts_with(prefix.as_bytes()))
        && bytes
            .iter()
            .all(|byte| byte.is_ascii_uppercase() || byte.is_ascii_digit())
}

fn is_json_token(word: &str) -> bool {
    let is_part = |part: &str| part.len() >= 4;
    let parts = || word.split('.');
    word.starts_with(JSON)
        && (word.len() >= JSON_BYTES || parts().count() >= 3 && parts().take(2).all(is_part))
}

/// Whether this word after "Bearer" is a credential and no noun.
pub(super) fn is_bearer(word: &str) -> bool {
    let is_odd = |byte: u8| !byte.is_ascii_lowercase();
    word.len() >= LONG_BYTES || word.len() >= BEARER_BYTES && word.bytes().any(is_odd)
}

/// Whether this word after "Basic" begins with a name and a password. Other text may follow.
pub(super) fn is_basic(word: &str) -> bool {
    let padding = word.find('=').unwrap_or(word.len());
    let behind = word[padding..]
        .find(|c| c != '=')
        .map_or(word.len(), |at| padding + at);
    let word = &word[..behind];
    word.len() >= 8
        && STANDARD
            .decode(word)
            .is_ok_and(|pair| pair.contains(&b':') && pair.is_ascii())
}

/// Whether a text could be a machine-generated secret: one word with letters and digits, or a very long one.
pub(super) fn looks_random(text: &str) -> bool {
    let is_word = text.len() >= RANDOM_BYTES
        && !text.contains(|char: char| char.is_whitespace() || "(){}<>".contains(char));
    let letters = text.bytes().any(|byte| byte.is_ascii_alphabetic());
    let digits = text.bytes().any(|byte| byte.is_ascii_digit());
    let is_mixed = text.bytes().any(|byte| byte.is_ascii_uppercase())
        && text.bytes().any(|byte| byte.is_ascii_lowercase());
    is_word && letters && (digits || is_mixed && text.len() >= 24 && !text.contains('.'))
}
