//! Decodes pictures, sounds and videos in messages of clients.

use domain::Part;
use provider::media::is_base64;
use serde_json::Value;

use crate::conversation::{Checked, text, wrong};

/// Maximum length of a media type.
const MAX_TYPE_BYTES: usize = 80;

/// The part for a URL of this media type; `None` if it is no picture, sound or video.
pub(crate) fn part(media_type: &str, url: String) -> Option<Part> {
    match media_type.split('/').next()? {
        "image" => Some(Part::Image { url }),
        "audio" => Some(Part::Audio { url }),
        "video" => Some(Part::Video { url }),
        _ => None,
    }
}

/// Whether it is a plain media type such as `audio/mpeg`.
pub(crate) fn is_media_type(media_type: &str) -> bool {
    let is_token = |text: &str| {
        !text.is_empty()
            && text
                .bytes()
                .all(|byte| byte.is_ascii_alphanumeric() || b"-+._".contains(&byte))
    };
    media_type.len() <= MAX_TYPE_BYTES
        && media_type
            .split_once('/')
            .is_some_and(|(family, kind)| is_token(family) && is_token(kind))
}

/// A sound or video by its URL, in `value` or in its field `url`: an address, or a `data:` URL of that family.
pub(crate) fn by_url(value: Option<&Value>, family: &str, at: &str) -> Checked<Part> {
    let what = format!("`{at}`");
    let url = match value {
        Some(Value::Object(fields)) => fields.get("url"),
        other => other,
    };
    let Some(url) = url else {
        return wrong(&what, "{\"url\": \"…\"}");
    };
    let url = text(url, &what)?;
    let wanted = || format!("an https: address or a data: URL of the type {family}/… in base64");
    let is_fit = match url.strip_prefix("data:") {
        None => url.starts_with("https://") || url.starts_with("http://"),
        Some(rest) => rest
            .split_once(";base64,")
            .is_some_and(|(media_type, data)| {
                media_type.starts_with(&format!("{family}/"))
                    && is_media_type(media_type)
                    && is_base64(data)
            }),
    };
    match part(&format!("{family}/"), url.to_owned()).filter(|_| is_fit) {
        Some(part) => Ok(part),
        None => wrong(&what, &wanted()),
    }
}

/// Sound in OpenAI's form: `{"data": base64, "format": "wav"}`.
pub(crate) fn input_audio(value: Option<&Value>, at: &str) -> Checked<Part> {
    let field = |name: &str| {
        value
            .and_then(|value| value.get(name))
            .and_then(Value::as_str)
    };
    let Some(data) = field("data").filter(|data| is_base64(data)) else {
        return wrong(&format!("`{at}.data`"), "base64");
    };
    let format = field("format").unwrap_or("wav");
    if format.is_empty()
        || format.len() > 20
        || !format.bytes().all(|byte| byte.is_ascii_alphanumeric())
    {
        return wrong(
            &format!("`{at}.format`"),
            "the name of a format, such as \"wav\" or \"mp3\"",
        );
    }
    let kind = if format == "mp3" { "mpeg" } else { format };
    Ok(Part::Audio {
        url: format!("data:audio/{kind};base64,{data}"),
    })
}

/// The note that replaces content that models cannot receive.
pub(crate) fn left_out(kind: &str, name: &str) -> Part {
    let clean = |text: &str, max: usize| -> String {
        text.chars().filter(|c| !c.is_control()).take(max).collect()
    };
    let kind = clean(kind, MAX_TYPE_BYTES);
    let name = clean(name, 100);
    let name = if name.is_empty() {
        name
    } else {
        format!(" “{name}”")
    };
    Part::Text {
        text: format!("[An attachment of type {kind}{name} was left out.]"),
    }
}

#[cfg(test)]
mod tests {
    use provider::media::audio_format;
    use serde_json::json;

    use super::*;

    #[test]
    fn sounds_keep_their_format_both_ways() {
        for (format, kind) in [
            ("wav", "wav"),
            ("mp3", "mpeg"),
            ("flac", "flac"),
            ("m4a", "m4a"),
        ] {
            let part =
                input_audio(Some(&json!({"data": "UklGRg==", "format": format})), "x").unwrap();
            assert_eq!(
                part,
                Part::Audio {
                    url: format!("data:audio/{kind};base64,UklGRg==")
                }
            );
            assert_eq!(audio_format(kind), format);
        }
    }

    #[test]
    fn hostile_media_are_refused_with_the_field() {
        for (value, expected) in [
            (
                json!({"data": "not base64!", "format": "wav"}),
                "`at.data` must be base64.",
            ),
            (
                json!({"data": "", "format": "wav"}),
                "`at.data` must be base64.",
            ),
            (json!({"data": 7}), "`at.data` must be base64."),
            (
                json!({"data": "AAAA", "format": "wav;x"}),
                "`at.format` must be the name of a format",
            ),
        ] {
            let refused = input_audio(Some(&value), "at").unwrap_err().to_string();
            assert!(refused.starts_with(expected), "{refused}");
        }
        for url in [
            "data:text/html;base64,AAAA",
            "data:video/mp4,plain",
            "data:video/mp4\"><script>;base64,AAAA",
            "javascript:alert(1)",
            "file:///etc/passwd",
            "data:video/mp4;base64,<>",
        ] {
            let refused = by_url(Some(&json!({ "url": url })), "video", "at")
                .unwrap_err()
                .to_string();
            assert!(
                refused.starts_with(
                    "`at` must be an https: address or a data: URL of the type video/"
                ),
                "{refused}"
            );
        }
        let film = by_url(Some(&json!("https://a.example/b.mp4")), "video", "at");
        assert_eq!(
            film,
            Ok(Part::Video {
                url: "https://a.example/b.mp4".into()
            })
        );
    }
}
