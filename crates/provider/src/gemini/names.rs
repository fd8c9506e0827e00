//! Tool names that Gemini accepts: they begin with a letter or an underscore.

use std::borrow::Cow;

/// The name for Gemini. Any other first character gets an underscore before it, and so does a name that would otherwise
/// look escaped.
pub(super) fn escaped(name: &str) -> Cow<'_, str> {
    match needs_escape(name) {
        true => Cow::Owned(format!("_{name}")),
        false => Cow::Borrowed(name),
    }
}

/// The name that [`escaped`] was given.
pub(super) fn unescaped(name: &str) -> &str {
    match name.strip_prefix('_') {
        Some(rest) if needs_escape(rest) => rest,
        _ => name,
    }
}

fn needs_escape(name: &str) -> bool {
    let first = name.trim_start_matches('_').as_bytes().first();
    first.is_some_and(|first| !first.is_ascii_alphabetic())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn names_begin_with_a_letter_or_an_underscore() {
        for (name, written) in [
            ("ls", "ls"),
            ("_ls", "_ls"),
            ("3d", "_3d"),
            ("-x", "_-x"),
            ("_3d", "__3d"),
            ("_", "_"),
        ] {
            assert_eq!(escaped(name), written);
        }
    }

    proptest! {
        #[test]
        fn come_back_as_they_were(name in "[a-z0-9_-]{0,5}") {
            let written = escaped(&name);
            prop_assert!(!written.starts_with(|first: char| first.is_ascii_digit() || first == '-'));
            prop_assert_eq!(unescaped(&written), &name);
        }
    }
}
