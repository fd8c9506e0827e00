//! Styles of Word documents: which paragraphs are headings or numbered, and which text is hidden or raised.

use std::collections::HashMap;

use super::xml::{Item, Items, Tag};
use crate::read::line::Script;

/// Styles may be based on others to this depth.
const MAX_ANCESTORS: usize = 20;

/// How a run of text is shown, as far as it is stated.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct RunStyle {
    script: Option<Script>,
    is_hidden: Option<bool>,
    is_struck: Option<bool>,
}

impl RunStyle {
    /// Notes a property of a run.
    pub(super) fn note(&mut self, tag: &Tag) {
        match tag.name.as_str() {
            "vertAlign" => {
                self.script = Some(match tag.attribute("val").as_deref() {
                    Some("superscript") => Script::Super,
                    Some("subscript") => Script::Sub,
                    _ => Script::Baseline,
                });
            }
            "vanish" => self.is_hidden = Some(tag.is_on()),
            "strike" | "dstrike" => self.is_struck = Some(tag.is_on()),
            // Slides state all in attributes.
            "rPr" => {
                if let Some(baseline) = tag.attribute("baseline") {
                    let above = baseline.trim_end_matches('%').parse::<i64>();
                    self.script = Some(match above.unwrap_or(0).signum() {
                        1 => Script::Super,
                        -1 => Script::Sub,
                        _ => Script::Baseline,
                    });
                }
                if let Some(strike) = tag.attribute("strike") {
                    self.is_struck = Some(strike != "noStrike");
                }
            }
            _ => {}
        }
    }

    /// This style where it states something, otherwise the one below it.
    pub(super) fn over(self, below: Self) -> Self {
        Self {
            script: self.script.or(below.script),
            is_hidden: self.is_hidden.or(below.is_hidden),
            is_struck: self.is_struck.or(below.is_struck),
        }
    }

    pub(super) fn script(self) -> Script {
        self.script.unwrap_or_default()
    }

    /// Whether the text is neither hidden nor struck out.
    pub(super) fn is_valid(self) -> bool {
        !self.is_hidden.unwrap_or(false) && !self.is_struck.unwrap_or(false)
    }
}

/// A reference to a list, as far as it is stated.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct ListReference {
    pub(super) list: Option<String>,
    pub(super) level: Option<usize>,
}

impl ListReference {
    pub(super) fn note(&mut self, tag: &Tag) {
        match tag.name.as_str() {
            "numId" => self.list = tag.attribute("val"),
            "ilvl" => self.level = tag.attribute("val").and_then(|level| level.parse().ok()),
            _ => {}
        }
    }
}

/// A style.
#[derive(Debug, Clone, Default)]
pub(super) struct Style {
    /// The level of a heading; 0 if the style is of none.
    pub(super) heading: Option<u8>,
    pub(super) list: ListReference,
    pub(super) run: RunStyle,
    parent: Option<String>,
}

impl Style {
    fn note(&mut self, tag: &Tag) {
        let value = || tag.attribute("val").unwrap_or_default();
        match tag.name.as_str() {
            "name" => {
                if let Some(level) = level_of_name(&value()) {
                    self.heading = Some(level);
                }
            }
            "outlineLvl" => self.heading = Some(level_of_outline(&value())),
            "basedOn" => self.parent = Some(value()),
            _ => {
                self.list.note(tag);
                self.run.note(tag);
            }
        }
    }
}

/// The styles of a document, by id.
#[derive(Debug, Default)]
pub(super) struct Styles(HashMap<String, Style>);

impl Styles {
    /// Parses the styles. If they are damaged, only those after the damage are lost.
    pub(super) fn read(xml: &str) -> Self {
        let mut styles: HashMap<String, Style> = HashMap::new();
        let mut id = String::new();
        let mut items = Items::new(xml);
        while let Some(Ok(item)) = items.next() {
            let Item::Open(tag) = item else { continue };
            match tag.name.as_str() {
                "style" => id = tag.attribute("styleId").unwrap_or_default(),
                // Only for parts of tables, and before a change.
                "tblStylePr" | "pPrChange" | "rPrChange" => {
                    if items.skip_element().is_err() {
                        break;
                    }
                }
                _ => styles.entry(id.clone()).or_default().note(&tag),
            }
        }
        // What stands before the first style are defaults, which have none of these.
        styles.remove("");
        Self(styles)
    }

    /// A style with what it inherits.
    pub(super) fn get(&self, id: &str) -> Style {
        let mut style = Style::default();
        let mut next = Some(id);
        for _ in 0..MAX_ANCESTORS {
            let Some(found) = next.and_then(|id| self.0.get(id)) else {
                break;
            };
            style.heading = style.heading.or(found.heading);
            style.run = style.run.over(found.run);
            style.list.list = style.list.list.or_else(|| found.list.list.clone());
            style.list.level = style.list.level.or(found.list.level);
            next = found.parent.as_deref();
        }
        style
    }
}

/// Word's built-in styles have English names in every language.
fn level_of_name(name: &str) -> Option<u8> {
    let name = name.to_ascii_lowercase();
    match name.strip_prefix("heading ") {
        Some(level) => level.parse().ok().filter(|level| (1..=6).contains(level)),
        None => (name == "title").then_some(1),
    }
}

/// 0 if it is no heading.
pub(super) fn level_of_outline(level: &str) -> u8 {
    match level.parse::<u8>() {
        Ok(level) if level < 6 => level + 1,
        _ => 0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn styles_inherit_what_they_do_not_state() {
        let styles = Styles::read(
            "<styles><style styleId='H'><name val='heading 2'/><pPr><numPr><numId val='4'/></numPr></pPr></style>\
             <style styleId='Own'><basedOn val='H'/><rPr><vanish/></rPr></style>\
             <style styleId='Toc'><basedOn val='Own'/><pPr><outlineLvl val='9'/></pPr><rPr><vanish val='0'/></rPr></style>\
             <style styleId='Loop'><basedOn val='Loop'/><tblStylePr><rPr><vanish/></rPr></tblStylePr></style></styles>",
        );
        let own = styles.get("Own");
        assert_eq!(
            (own.heading, own.list.list.as_deref()),
            (Some(2), Some("4"))
        );
        assert!(!own.run.is_valid());
        let toc = styles.get("Toc");
        assert_eq!(toc.heading, Some(0));
        assert!(toc.run.is_valid() && styles.get("Loop").run.is_valid());
        assert!(styles.get("none").heading.is_none());
    }
}
