//! Styles of OpenDocument files that change what text says: hidden and raised text, and numbered lists.

use std::collections::{HashMap, HashSet};

use crate::{
    read::{
        line::Script,
        office::{Item, Items},
    },
    unreadable::Unreadable,
};

/// How text is shown.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct TextStyle {
    /// Hidden or struck out.
    pub(super) is_hidden: bool,
    /// Where it stands in relation to its line, as far as it is stated.
    pub(super) script: Option<Script>,
}

impl TextStyle {
    pub(super) fn with(self, inner: Self) -> Self {
        Self {
            is_hidden: self.is_hidden || inner.is_hidden,
            script: inner.script.or(self.script),
        }
    }
}

/// What a position such as `super 58%` or `-33% 58%` states.
fn script(position: &str) -> Option<Script> {
    let raised = position.split_whitespace().next()?;
    Some(match raised {
        "super" => Script::Super,
        "sub" => Script::Sub,
        raised => match raised.trim_end_matches('%').parse::<f64>() {
            Ok(percent) if percent > 0.0 => Script::Super,
            Ok(percent) if percent < 0.0 => Script::Sub,
            _ => Script::Baseline,
        },
    })
}

#[derive(Debug, Default)]
pub(super) struct Styles {
    texts: HashMap<String, TextStyle>,
    /// Levels of list styles that have numbers.
    numbered: HashSet<(String, usize)>,
}

impl Styles {
    /// Reads the styles in these parts.
    ///
    /// # Errors
    /// If one is damaged.
    pub(super) fn read(parts: [&str; 2]) -> Result<Self, Unreadable> {
        let mut styles = Self::default();
        for part in parts {
            styles.add(part)?;
        }
        Ok(styles)
    }

    fn add(&mut self, xml: &str) -> Result<(), Unreadable> {
        let mut name = String::new();
        for item in Items::new(xml) {
            let Item::Open(tag) = item? else { continue };
            let value = |attribute: &str| tag.attribute(attribute).unwrap_or_default();
            match tag.name.as_str() {
                "body" => break,
                "style" | "list-style" => name = value("name"),
                "text-properties" => {
                    let line = value("text-line-through-style");
                    let style = TextStyle {
                        is_hidden: value("display") == "none"
                            || !matches!(line.as_str(), "" | "none"),
                        script: script(&value("text-position")),
                    };
                    if style != TextStyle::default() {
                        self.texts.insert(name.clone(), style);
                    }
                }
                "list-level-style-number" if !value("num-format").is_empty() => {
                    if let Ok(level) = value("level").parse() {
                        self.numbered.insert((name.clone(), level));
                    }
                }
                _ => {}
            }
        }
        Ok(())
    }

    pub(super) fn of_text(&self, name: &str) -> TextStyle {
        self.texts.get(name).copied().unwrap_or_default()
    }

    /// Whether a list has numbers at this level, counted from 1.
    pub(super) fn is_numbered(&self, style: &str, level: usize) -> bool {
        self.numbered.contains(&(style.to_owned(), level))
    }
}
