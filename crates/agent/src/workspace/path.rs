//! Paths in a workspace: absolute, normalized, and never outside of it.

use std::fmt;

use super::FileProblem;
use crate::messages;

/// Maximum length of a path, bytes.
const PATH_LIMIT_BYTES: usize = 500;

/// An absolute, normalized path in a workspace: `/notes/plan.md`. `..` cannot leave the root.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Path(pub(super) String);

impl Path {
    /// Parses a path as a model writes it; relative ones start at the root.
    ///
    /// # Errors
    /// If it is too long or contains control characters.
    pub fn parse(text: &str) -> Result<Self, FileProblem> {
        if text.len() > PATH_LIMIT_BYTES || text.chars().any(char::is_control) {
            return Err(FileProblem::Refused(
                messages::Files::BadPath {
                    limit: PATH_LIMIT_BYTES as u64,
                }
                .into(),
            ));
        }
        let mut parts: Vec<&str> = Vec::new();
        for part in text.split(['/', '\\']) {
            match part {
                "" | "." => {}
                ".." => drop(parts.pop()),
                part => parts.push(part),
            }
        }
        Ok(Self(format!("/{}", parts.join("/"))))
    }

    /// Parses the path of a file, which must not be `/`.
    ///
    /// # Errors
    /// Like `parse`, and for the root.
    pub fn parse_file(text: &str) -> Result<Self, FileProblem> {
        let path = Self::parse(text)?;
        if path.0 == "/" {
            Err(FileProblem::Refused(messages::Files::PathMissing.into()))
        } else {
            Ok(path)
        }
    }

    /// The path as text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Whether `path` is equal to this or below it.
    #[must_use]
    pub fn contains(&self, path: &str) -> bool {
        self.0 == "/"
            || path
                .strip_prefix(&self.0)
                .is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
    }
}

impl fmt::Display for Path {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_normalised_and_stay_inside() {
        for (text, path) in [
            ("a.md", "/a.md"),
            ("/a//b/./c", "/a/b/c"),
            ("../../etc/passwd", "/etc/passwd"),
            ("/a/../..", "/"),
            (r"notes\plan.md", "/notes/plan.md"),
            ("", "/"),
        ] {
            assert_eq!(Path::parse(text).unwrap().as_str(), path, "{text}");
        }
        assert!(Path::parse("a\0b").is_err());
        assert!(Path::parse(&"a".repeat(501)).is_err());
        assert!(Path::parse_file("/").is_err());
    }

    #[test]
    fn a_folder_contains_only_its_own() {
        let folder = Path::parse("/src").unwrap();
        assert!(folder.contains("/src/a.rs") && !folder.contains("/srcs/a.rs"));
        assert!(Path::parse("/").unwrap().contains("/x"));
    }
}
