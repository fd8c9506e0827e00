//! Serves the part of a file that a `Range` header requests. Browsers use it to seek in audio and video, and Safari
//! plays neither without it.

use std::ops::Range;

use axum::{
    body::Body,
    http::{HeaderMap, HeaderValue, StatusCode, header},
    response::{IntoResponse, Response},
};

/// The part of a file that a `Range` header requests.
#[derive(Debug, PartialEq, Eq)]
enum Wanted {
    /// There is no header, or one that is not supported: several ranges, or another unit.
    Whole,
    Part(Range<usize>),
    /// It starts after the end of the file.
    Unsatisfiable,
}

/// Responds with the content, or the requested part of it. `tag` is the `ETag` of the content.
pub(super) fn answer(asked: &HeaderMap, content: Vec<u8>, tag: Option<&HeaderValue>) -> Response {
    // A part of another version is useless to a client that has the beginning of this one.
    let is_same = asked
        .get(header::IF_RANGE)
        .is_none_or(|known| Some(known) == tag);
    let range = asked
        .get(header::RANGE)
        .filter(|_| is_same)
        .and_then(|range| range.to_str().ok());
    let length = content.len();
    let (status, body, content_range) =
        match range.map_or(Wanted::Whole, |range| wanted(range, length)) {
            Wanted::Whole => (StatusCode::OK, content, None),
            Wanted::Part(part) => {
                let content_range = format!("bytes {}-{}/{length}", part.start, part.end - 1);
                (
                    StatusCode::PARTIAL_CONTENT,
                    content[part].to_vec(),
                    Some(content_range),
                )
            }
            Wanted::Unsatisfiable => (
                StatusCode::RANGE_NOT_SATISFIABLE,
                Vec::new(),
                Some(format!("bytes */{length}")),
            ),
        };
    let mut response = (status, Body::from(body)).into_response();
    let headers = response.headers_mut();
    headers.insert(header::ACCEPT_RANGES, HeaderValue::from_static("bytes"));
    if let Some(content_range) =
        content_range.and_then(|content_range| HeaderValue::from_str(&content_range).ok())
    {
        headers.insert(header::CONTENT_RANGE, content_range);
    }
    if let Some(tag) = tag {
        headers.insert(header::ETAG, tag.clone());
    }
    response
}

fn wanted(range: &str, length: usize) -> Wanted {
    let Some((first, last)) = range
        .strip_prefix("bytes=")
        .and_then(|range| range.trim().split_once('-'))
    else {
        return Wanted::Whole;
    };
    let number = |text: &str| -> Option<Option<usize>> {
        match text.bytes().all(|byte| byte.is_ascii_digit()) {
            true if text.is_empty() => Some(None),
            // A number that overflows is past the end.
            true => Some(Some(text.parse().unwrap_or(usize::MAX))),
            false => None,
        }
    };
    let part = match (number(first), number(last)) {
        (Some(Some(first)), Some(Some(last))) if first <= last => {
            first..last.saturating_add(1).min(length)
        }
        (Some(Some(first)), Some(None)) => first..length,
        (Some(None), Some(Some(last))) => length.saturating_sub(last)..length,
        _ => return Wanted::Whole,
    };
    if part.start < part.end {
        Wanted::Part(part)
    } else {
        Wanted::Unsatisfiable
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_are_read_as_the_standard_has_them() {
        for (range, expected) in [
            ("bytes=0-1", Wanted::Part(0..2)),
            ("bytes=0-0", Wanted::Part(0..1)),
            ("bytes=3-", Wanted::Part(3..10)),
            ("bytes=3-99999999999999999999999", Wanted::Part(3..10)),
            ("bytes=-4", Wanted::Part(6..10)),
            ("bytes=-40", Wanted::Part(0..10)),
            ("bytes=10-", Wanted::Unsatisfiable),
            ("bytes=99999999999999999999999-", Wanted::Unsatisfiable),
            ("bytes=-0", Wanted::Unsatisfiable),
            ("bytes=0-1,4-5", Wanted::Whole),
            ("bytes=5-2", Wanted::Whole),
            ("bytes=-", Wanted::Whole),
            ("bytes=a-b", Wanted::Whole),
            ("bytes", Wanted::Whole),
            ("lines=0-1", Wanted::Whole),
        ] {
            assert_eq!(wanted(range, 10), expected, "{range}");
        }
        assert_eq!(wanted("bytes=0-", 0), Wanted::Unsatisfiable);
    }
}
