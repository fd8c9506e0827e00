//! The numbers of list items and headings, as OpenDocument programs count them.

use std::collections::HashMap;

use crate::read::{
    list::{LABEL_LIMIT_CHARS, Label, formatted},
    office::Tag,
};

/// Lists have ten levels.
const LEVELS: usize = 10;
/// Maximum number of lists that others may continue.
const MAX_LISTS: usize = 100_000;

/// How the items of a level are numbered.
#[derive(Debug, Clone, Default)]
pub(super) struct Level {
    /// Which level it is, from 0.
    at: usize,
    format: String,
    prefix: String,
    suffix: String,
    start: u32,
    /// How many levels are shown, this one and those above.
    shown: usize,
}

impl Level {
    pub(super) fn of(tag: &Tag) -> Self {
        let value = |attribute: &str| tag.attribute(attribute).unwrap_or_default();
        let number = |attribute: &str| value(attribute).parse::<usize>();
        Self {
            at: number("level").unwrap_or(1).saturating_sub(1),
            format: value("num-format"),
            prefix: value("num-prefix"),
            suffix: value("num-suffix"),
            start: value("start-value").parse().unwrap_or(1),
            shown: number("display-levels").unwrap_or(1),
        }
    }

    fn formatted(&self, number: u32) -> String {
        let format = match self.format.as_str() {
            "a" => "lowerLetter",
            "A" => "upperLetter",
            "i" => "lowerRoman",
            "I" => "upperRoman",
            _ => "decimal",
        };
        formatted(number, format)
    }
}

/// The numbered levels of a list style.
#[derive(Debug, Default)]
pub(super) struct Levels([Level; LEVELS]);

impl Levels {
    pub(super) fn add(&mut self, level: Level) {
        if let Some(found) = self.0.get_mut(level.at) {
            *found = level;
        }
    }

    fn start(&self, at: usize) -> u32 {
        self.0.get(at).map_or(1, |level| level.start)
    }

    /// The label of a level, `None` if it has no numbers.
    fn label(&self, at: usize, counts: &Counts) -> Option<Label> {
        let level = self.0.get(at).filter(|level| !level.format.is_empty())?;
        let first = (at + 1).saturating_sub(level.shown.max(1));
        let numbers: Vec<String> = (first..=at)
            .filter_map(|at| Some((at, self.0.get(at)?)))
            .filter(|(_, level)| !level.format.is_empty())
            .map(|(at, level)| level.formatted(counts.0[at].unwrap_or(level.start)))
            .collect();
        let label = format!("{}{}{}", level.prefix, numbers.join("."), level.suffix);
        let label: String = label.trim().chars().take(LABEL_LIMIT_CHARS).collect();
        (!label.is_empty()).then_some(Label::Number(label))
    }
}

/// The latest numbers of the levels of a list.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Counts([Option<u32>; LEVELS]);

impl Counts {
    /// Counts the next item of a level, which may begin with a number of its own. Returns its label, `None` if the level
    /// has no numbers.
    pub(super) fn next(
        &mut self,
        levels: Option<&Levels>,
        at: usize,
        start: Option<u32>,
    ) -> Option<Label> {
        let at = at.min(LEVELS - 1);
        let begin = levels.map_or(1, |levels| levels.start(at));
        let next = self.0[at].map_or(begin, |count| count.saturating_add(1));
        self.0[at] = Some(start.unwrap_or(next));
        self.restart(at + 1);
        levels?.label(at, self)
    }

    /// Begins the numbers of a level and those below it anew.
    pub(super) fn restart(&mut self, at: usize) {
        self.0[at.min(LEVELS)..].fill(None);
    }
}

/// Lists that have ended, and may be continued by others.
#[derive(Debug, Default)]
pub(super) struct EndedLists(HashMap<String, Counts>);

impl EndedLists {
    /// Notes where a list of this style, or with this ID, has ended.
    pub(super) fn add(&mut self, name: &str, counts: Counts) {
        if self.0.len() < MAX_LISTS || self.0.contains_key(name) {
            self.0.insert(name.to_owned(), counts);
        }
    }

    pub(super) fn get(&self, name: &str) -> Counts {
        self.0.get(name).copied().unwrap_or_default()
    }
}
