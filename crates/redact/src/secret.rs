//! A key that cannot be printed by accident.

use std::fmt;

/// A secret text, such as an API key. `Debug` shows nothing of it.
#[derive(Clone, PartialEq, Eq)]
pub struct Secret(String);

impl Secret {
    /// Wraps a secret; surrounding white space, which comes with pasting, is removed.
    pub fn new(text: impl AsRef<str>) -> Self {
        Self(text.as_ref().trim().to_owned())
    }

    /// The secret itself, for the one place that sends it.
    #[must_use]
    pub fn reveal(&self) -> &str {
        &self.0
    }

    /// Its last four characters, to tell it from others; `None` if they would be much of it.
    #[must_use]
    pub fn ending(&self) -> Option<String> {
        let length = self.0.chars().count();
        (length >= 12).then(|| self.0.chars().skip(length - 4).collect())
    }

    /// `text` without this secret in it.
    #[must_use]
    pub fn redact(&self, text: &str) -> String {
        if self.0.is_empty() {
            text.to_owned()
        } else {
            text.replace(&self.0, "[key]")
        }
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Secret(…)")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn is_never_shown() {
        let secret = Secret::new(" sk-123\n");
        assert_eq!(format!("{secret:?}"), "Secret(…)");
        assert_eq!(secret.redact("bad key sk-123!"), "bad key [key]!");
        assert_eq!(Secret::new("").redact("as it was"), "as it was");
        assert_eq!(Secret::new("short-key12").ending(), None);
        assert_eq!(
            Secret::new("a-long-key-ключ").ending().as_deref(),
            Some("ключ")
        );
    }
}
