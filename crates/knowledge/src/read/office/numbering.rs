//! Labels of list items and numbered headings in Word documents, such as “1.2” and “(a)”, as Word counts them.

use std::collections::{HashMap, HashSet};

use super::{
    styles::{ListReference, Styles},
    xml::{Item, Items, Tag},
};
use crate::read::list::{LABEL_LIMIT_CHARS, Label, formatted};

/// Word's lists have nine levels.
const LEVELS: usize = 9;
/// One level of a list.
#[derive(Debug, Clone, Default)]
struct Level {
    start: Option<u32>,
    format: Option<String>,
    /// Its text, in which `%1` is the number of the first level.
    text: Option<String>,
    /// The number of upper levels after which it restarts, if not after each of them.
    restart: Option<usize>,
    style: Option<String>,
    is_legal: bool,
}

impl Level {
    fn note(&mut self, tag: &Tag) {
        let value = || tag.attribute("val");
        match tag.name.as_str() {
            "start" => self.start = value().and_then(|start| start.parse().ok()),
            "numFmt" => self.format = value(),
            "lvlText" => self.text = value(),
            "lvlRestart" => self.restart = value().and_then(|level| level.parse().ok()),
            "pStyle" => self.style = value(),
            "isLgl" => self.is_legal = tag.is_on(),
            _ => {}
        }
    }

    fn start(&self) -> u32 {
        self.start.unwrap_or(1)
    }

    fn format(&self) -> &str {
        self.format.as_deref().unwrap_or("decimal")
    }
}

/// The definition that lists share.
#[derive(Debug, Default)]
struct Abstract {
    levels: [Level; LEVELS],
    /// The style whose list has the levels.
    style_link: Option<String>,
}

/// A list, which counts on with other lists of its definition.
#[derive(Debug, Default)]
struct List {
    definition: String,
    starts: [Option<u32>; LEVELS],
    levels: HashMap<usize, Level>,
}

/// The lists of a document.
#[derive(Debug, Default)]
pub(super) struct Numbering {
    definitions: HashMap<String, Abstract>,
    lists: HashMap<String, List>,
}

impl Numbering {
    /// Parses the lists. If they are damaged, only those after the damage are lost.
    pub(super) fn read(xml: &str) -> Self {
        let mut reader = NumberingReader::default();
        for item in Items::new(xml) {
            match item {
                Ok(Item::Open(tag)) => reader.open(&tag),
                Ok(Item::Close(name)) if matches!(name.as_str(), "lvl" | "lvlOverride") => {
                    reader.level = None;
                }
                Ok(_) => {}
                Err(_) => break,
            }
        }
        reader.numbering
    }

    /// Follows links to lists of styles.
    fn definition<'a>(
        &'a self,
        list: &'a List,
        styles: &Styles,
    ) -> Option<(&'a str, &'a Abstract)> {
        let found = self.definitions.get(&list.definition)?;
        let linked = found.style_link.as_deref().and_then(|style| {
            let list = self.lists.get(&styles.get(style).list.list?)?;
            let linked = self.definitions.get(&list.definition)?;
            Some((list.definition.as_str(), linked))
        });
        Some(linked.unwrap_or((&list.definition, found)))
    }
}

/// What is being read.
#[derive(Default)]
struct NumberingReader {
    numbering: Numbering,
    definition: String,
    list: Option<String>,
    level: Option<usize>,
}

impl NumberingReader {
    fn open(&mut self, tag: &Tag) {
        let value = || tag.attribute("val").unwrap_or_default();
        let index = || {
            let level = tag.attribute("ilvl").and_then(|level| level.parse().ok());
            level.filter(|level| *level < LEVELS)
        };
        match tag.name.as_str() {
            "abstractNum" => {
                self.definition = tag.attribute("abstractNumId").unwrap_or_default();
                self.list = None;
            }
            "num" => self.list = tag.attribute("numId"),
            "lvl" | "lvlOverride" => self.level = index(),
            _ => {}
        }
        let Some(id) = &self.list else {
            let definitions = &mut self.numbering.definitions;
            let definition = definitions.entry(self.definition.clone()).or_default();
            if tag.name == "numStyleLink" {
                definition.style_link = Some(value());
            }
            if let Some(level) = self.level.and_then(|at| definition.levels.get_mut(at)) {
                level.note(tag);
            }
            return;
        };
        let list = self.numbering.lists.entry(id.clone()).or_default();
        match (tag.name.as_str(), self.level) {
            ("abstractNumId", _) => list.definition = value(),
            ("startOverride", Some(at)) => list.starts[at] = value().parse().ok(),
            ("lvlOverride", _) | (_, None) => {}
            (_, Some(at)) => list.levels.entry(at).or_default().note(tag),
        }
    }
}

/// The position of a paragraph in its list.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct ListPosition {
    pub(super) label: Label,
    pub(super) level: usize,
}

/// The numbers used so far.
#[derive(Debug, Default)]
pub(super) struct Counters {
    /// By definition.
    counts: HashMap<String, [Option<u32>; LEVELS]>,
    /// Lists and levels that have begun with a number of their own.
    started: HashSet<(String, usize)>,
}

impl Counters {
    /// The position of the next paragraph with this reference, unless the reference is switched off. `style` is the
    /// paragraph's style, which may determine the level.
    pub(super) fn next(
        &mut self,
        numbering: &Numbering,
        styles: &Styles,
        reference: &ListReference,
        style: &str,
    ) -> Option<ListPosition> {
        let id = reference.list.as_ref().filter(|id| *id != "0")?;
        let unknown = |level: Option<usize>| {
            let level = level.unwrap_or(0).min(LEVELS - 1);
            Some(ListPosition {
                label: Label::Bullet,
                level,
            })
        };
        let Some(list) = numbering.lists.get(id) else {
            return unknown(reference.level);
        };
        let Some((key, definition)) = numbering.definition(list, styles) else {
            return unknown(reference.level);
        };
        let of_style = || {
            let mut levels = definition.levels.iter();
            levels.position(|level| level.style.as_deref() == Some(style))
        };
        let at = reference
            .level
            .or_else(of_style)
            .unwrap_or(0)
            .min(LEVELS - 1);
        let level = |at: usize| list.levels.get(&at).unwrap_or(&definition.levels[at]);
        let counts = self.counts.entry(key.to_owned()).or_default();
        let begins = list.starts[at].filter(|_| self.started.insert((id.clone(), at)));
        counts[at] = Some(match (begins, counts[at]) {
            (Some(start), _) => start,
            (None, Some(count)) => count.saturating_add(1),
            (None, None) => list.starts[at].unwrap_or(level(at).start()),
        });
        for (below, count) in counts.iter_mut().enumerate().skip(at + 1) {
            if level(below).restart.is_none_or(|upper| at < upper) {
                *count = None;
            }
        }
        let count = |at: usize| counts[at].unwrap_or(level(at).start());
        Some(ListPosition {
            label: label(level(at), |other| (count(other), level(other).format())),
            level: at,
        })
    }
}

/// The label of a level, given the number and format of each level.
fn label<'a>(level: &Level, number: impl Fn(usize) -> (u32, &'a str)) -> Label {
    let text = level.text.as_deref().unwrap_or_default();
    match level.format() {
        "bullet" => {
            return if text.is_empty() {
                Label::None
            } else {
                Label::Bullet
            };
        }
        "none" if !text.contains('%') && text.trim().is_empty() => return Label::None,
        _ => {}
    }
    let mut shown = String::new();
    let mut chars = text.chars().peekable();
    while let Some(char) = chars.next() {
        let place = chars.peek().and_then(|digit| digit.to_digit(10));
        match place {
            Some(place @ 1..) if char == '%' => {
                chars.next();
                let (count, format) = number(place as usize - 1);
                let format = if level.is_legal { "decimal" } else { format };
                shown.push_str(&formatted(count, format));
            }
            _ => shown.push(char),
        }
        if shown.chars().count() > LABEL_LIMIT_CHARS {
            break;
        }
    }
    match shown.trim() {
        "" => Label::None,
        shown => Label::Number(shown.to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NUMBERING: &str = "<numbering>\
        <abstractNum abstractNumId='0'>\
          <lvl ilvl='0'><start val='1'/><numFmt val='decimal'/><pStyle val='H1'/><lvlText val='%1.'/></lvl>\
          <lvl ilvl='1'><start val='1'/><numFmt val='decimal'/><pStyle val='H2'/><lvlText val='%1.%2'/></lvl>\
          <lvl ilvl='2'><start val='3'/><numFmt val='lowerLetter'/><lvlText val='(%3)'/></lvl>\
          <lvl ilvl='3'><numFmt val='decimal'/><lvlText val='n%4'/><lvlRestart val='0'/></lvl></abstractNum>\
        <abstractNum abstractNumId='1'><lvl ilvl='0'><numFmt val='bullet'/><lvlText val='x'/></lvl>\
          <lvl ilvl='1'><numFmt val='none'/><lvlText val=''/></lvl></abstractNum>\
        <abstractNum abstractNumId='2'><numStyleLink val='Linked'/></abstractNum>\
        <num numId='1'><abstractNumId val='0'/></num>\
        <num numId='2'><abstractNumId val='0'/><lvlOverride ilvl='0'><startOverride val='7'/></lvlOverride></num>\
        <num numId='3'><abstractNumId val='1'/></num>\
        <num numId='4'><abstractNumId val='0'/><lvlOverride ilvl='0'><lvl ilvl='0'><numFmt val='upperRoman'/>\
          <lvlText val='Part %1'/></lvl></lvlOverride></num>\
        <num numId='5'><abstractNumId val='2'/></num></numbering>";

    fn labels(items: &[(&str, Option<usize>, &str)]) -> Vec<String> {
        let numbering = Numbering::read(NUMBERING);
        let styles = Styles::read(
            "<styles><style styleId='Linked'><pPr><numPr><numId val='1'/></numPr></pPr></style></styles>",
        );
        let mut counters = Counters::default();
        let mut next = |list: &str, level: Option<usize>, style: &str| {
            let list = Some(list.to_owned());
            let position =
                counters.next(&numbering, &styles, &ListReference { list, level }, style);
            match position.map(|position| position.label) {
                Some(Label::Number(text)) => text,
                Some(Label::Bullet) => "-".into(),
                Some(Label::None) => "none".into(),
                None => "off".into(),
            }
        };
        let items = items.iter();
        items
            .map(|(list, level, style)| next(list, *level, style))
            .collect()
    }

    #[test]
    fn lists_are_counted_as_word_does() {
        let at = |list, level| (list, Some(level), "");
        assert_eq!(
            labels(&[
                at("1", 0),
                at("1", 1),
                at("1", 1),
                at("1", 2),
                at("1", 2),
                at("1", 0),
                at("1", 1),
                at("1", 2),
            ]),
            ["1.", "1.1", "1.2", "(c)", "(d)", "2.", "2.1", "(c)"]
        );
        // Levels may be left out, and one never restarts.
        assert_eq!(
            labels(&[at("1", 1), at("1", 3), at("1", 0), at("1", 3)]),
            ["1.1", "n1", "1.", "n2"]
        );
        // Lists of one definition count on, unless they begin anew.
        assert_eq!(
            labels(&[
                at("1", 0),
                at("2", 0),
                at("2", 0),
                at("1", 0),
                at("4", 0),
                at("5", 0)
            ]),
            ["1.", "7.", "8.", "9.", "Part X", "11."]
        );
        assert_eq!(
            labels(&[at("3", 0), at("3", 1), at("0", 0), at("99", 0), at("1", 99)]),
            ["-", "none", "off", "-", "none"]
        );
        assert_eq!(
            labels(&[("1", None, "H1"), ("1", None, "H2"), ("1", None, "other")]),
            ["1.", "1.1", "2."]
        );
    }
}
