//! Parses the descriptions of settings from the comments of the default configuration file. They are the only
//! descriptions: the configuration page and the reference are generated from them.

/// A setting's description.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Description {
    /// The setting with its section: `limits.steps`.
    pub(super) name: String,
    /// One sentence, with the unit.
    pub(super) summary: String,
    /// Further paragraphs; often empty.
    pub(super) details: String,
}

/// The descriptions in the order of the file: the comment above each line `name = default`. Its first paragraph is the
/// summary. Indented lines are examples and skipped.
pub(super) fn descriptions(file: &str) -> Vec<Description> {
    let mut descriptions = Vec::new();
    let mut section = String::new();
    let mut comment = Comment::default();
    for line in file.lines() {
        if let Some(text) = line.strip_prefix('#') {
            comment.add(text);
        } else if let Some(name) = line.strip_prefix('[') {
            section = format!("{}.", name.trim_end_matches(']'));
            comment = Comment::default();
        } else if let Some((name, _)) = line.split_once(" = ") {
            let Comment {
                summary, details, ..
            } = std::mem::take(&mut comment);
            descriptions.push(Description {
                name: format!("{section}{name}"),
                summary,
                details,
            });
        } else {
            comment = Comment::default();
        }
    }
    descriptions
}

#[derive(Default)]
struct Comment {
    summary: String,
    details: String,
    is_summarized: bool,
}

impl Comment {
    /// Adds a comment line without its `#`.
    fn add(&mut self, line: &str) {
        if line.starts_with("   ") {
            return;
        }
        let line = line.trim();
        if line.is_empty() {
            self.is_summarized = true;
            return;
        }
        let text = if self.is_summarized {
            &mut self.details
        } else {
            &mut self.summary
        };
        if !text.is_empty() {
            text.push(' ');
        }
        text.push_str(line);
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::platform::config::{DEFAULTS, layers};

    #[test]
    fn a_comment_is_a_summary_and_details() {
        let file = "# About the file.\n\n# One\n# line.\n#\n# More.\n#\n#   [[example]]\n#   a = 1\n#\n# Still more.\na = 1\n\
                    b = 2\n\n# The section.\n[part]\n# Third.\nc = \"x = y\"\n";
        let description = |name: &str, summary: &str, details: &str| Description {
            name: name.to_owned(),
            summary: summary.to_owned(),
            details: details.to_owned(),
        };
        assert_eq!(
            descriptions(file),
            [
                description("a", "One line.", "More. Still more."),
                description("b", "", ""),
                description("part.c", "Third.", ""),
            ]
        );
    }

    #[test]
    fn every_setting_is_described() {
        let mut names = BTreeSet::new();
        for (name, value) in layers::defaults().unwrap() {
            match value.as_table() {
                Some(section) => names.extend(section.keys().map(|key| format!("{name}.{key}"))),
                None => drop(names.insert(name)),
            }
        }
        let described = descriptions(DEFAULTS);
        for Description {
            name,
            summary,
            details,
        } in &described
        {
            assert!(summary.ends_with('.') && summary.len() <= 170, "{name}");
            assert!(details.is_empty() || details.ends_with('.'), "{name}");
        }
        let described: BTreeSet<_> = described.into_iter().map(|one| one.name).collect();
        assert_eq!(described, names);
    }
}
