//! Encodes model names as URL path segments.

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};

/// Characters that RFC 3986 does not reserve stay unchanged.
const ENCODED: &AsciiSet = &NON_ALPHANUMERIC
    .remove(b'-')
    .remove(b'.')
    .remove(b'_')
    .remove(b'~');

/// A name as one segment of a path.
#[must_use]
pub fn segment(name: &str) -> String {
    utf8_percent_encode(name, ENCODED).to_string()
}

/// A name of several segments, such as `tunedModels/x`. A name with dot segments is encoded as one.
pub(crate) fn segments(name: &str) -> String {
    match name.split('/').any(|part| matches!(part, "" | "." | "..")) {
        true => segment(name),
        false => name.split('/').map(segment).collect::<Vec<_>>().join("/"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_cannot_escape_its_path() {
        assert_eq!(
            segment("arn:aws:bedrock/a?b"),
            "arn%3Aaws%3Abedrock%2Fa%3Fb"
        );
        assert_eq!(segments("tunedModels/x-1.5"), "tunedModels/x-1.5");
        assert_eq!(segments("a/../../keys"), "a%2F..%2F..%2Fkeys");
        assert_eq!(segments("//host/x?y#z"), "%2F%2Fhost%2Fx%3Fy%23z");
    }
}
