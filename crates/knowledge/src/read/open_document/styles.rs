//! Styles of OpenDocument files that change what text says: hidden and raised text, and the numbers of lists and headings.

use std::collections::HashMap;

use super::numbering::{Level, Levels};
use crate::{
    read::{
        line::Script,
        office::{Item, Items, Tag},
    },
    unreadable::Unreadable,
};

/// Styles may be based on others to this depth.
const MAX_ANCESTORS: usize = 20;
/// The list style by which headings are numbered.
pub(super) const OUTLINE: &str = "outline-style";

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

    fn of(tag: &Tag) -> Self {
        let value = |attribute: &str| tag.attribute(attribute).unwrap_or_default();
        let line = value("text-line-through-style");
        Self {
            is_hidden: value("display") == "none" || !matches!(line.as_str(), "" | "none"),
            script: script(&value("text-position")),
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

/// A style of text or paragraphs.
#[derive(Debug, Clone, Default)]
struct Style {
    text: TextStyle,
    parent: Option<String>,
    /// The list that the style states; an empty name switches it off.
    list: Option<String>,
}

#[derive(Debug, Default)]
pub(super) struct Styles {
    styles: HashMap<String, Style>,
    lists: HashMap<String, Levels>,
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
            match tag.name.as_str() {
                "body" => break,
                "style" => {
                    name = tag.attribute("name").unwrap_or_default();
                    let style = Style {
                        text: TextStyle::default(),
                        parent: tag.attribute("parent-style-name"),
                        list: tag.attribute("list-style-name"),
                    };
                    self.styles.insert(name.clone(), style);
                }
                "list-style" => name = tag.attribute("name").unwrap_or_default(),
                OUTLINE => OUTLINE.clone_into(&mut name),
                "text-properties" => {
                    if let Some(style) = self.styles.get_mut(&name) {
                        style.text = TextStyle::of(&tag);
                    }
                }
                "list-level-style-number" | "outline-level-style" => {
                    let levels = self.lists.entry(name.clone()).or_default();
                    levels.add(Level::of(&tag));
                }
                _ => {}
            }
        }
        Ok(())
    }

    /// How the text of a style is shown, with what it inherits.
    pub(super) fn of_text(&self, name: &str) -> TextStyle {
        let chain = self.chain(name);
        chain.fold(TextStyle::default(), |inner, outer| outer.text.with(inner))
    }

    /// The levels of a list style.
    pub(super) fn levels(&self, list: &str) -> Option<&Levels> {
        self.lists.get(list)
    }

    /// Whether a style of headings takes them out of the numbering.
    pub(super) fn is_unnumbered(&self, style: &str) -> bool {
        self.chain(style)
            .find_map(|style| style.list.as_deref())
            .is_some_and(str::is_empty)
    }

    /// A style and those that it is based on.
    fn chain(&self, name: &str) -> impl Iterator<Item = &Style> {
        let parent = |style: &&Style| self.styles.get(style.parent.as_ref()?);
        std::iter::successors(self.styles.get(name), parent).take(MAX_ANCESTORS)
    }
}
