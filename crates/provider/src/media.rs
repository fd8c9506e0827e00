//! Media types, including those of `data:` URLs.

/// The media type of a `data:` URL, without its parameters.
#[must_use]
pub fn type_of_data(url: &str) -> Option<&str> {
    url.strip_prefix("data:")?.split([';', ',']).next()
}

/// Whether it may be Base64, of the standard or the URL alphabet.
#[must_use]
pub fn is_base64(data: &str) -> bool {
    let data = data.trim_end_matches('=');
    !data.is_empty()
        && data.len() % 4 != 1
        && data
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || b"+/-_".contains(&byte))
}

/// OpenAI's name for the format `audio/{kind}`.
#[must_use]
pub fn audio_format(kind: &str) -> &str {
    match kind.split(';').next().unwrap_or(kind) {
        "mpeg" => "mp3",
        "wave" | "x-wav" | "vnd.wave" => "wav",
        "mp4" | "x-m4a" => "m4a",
        kind => kind.strip_prefix("x-").unwrap_or(kind),
    }
}
