//! Shapes of slides, and the bullets and numbers of their paragraphs.

use super::{numbering::ListPosition, xml::Tag};
use crate::read::list::{Label, formatted};

/// Slides have nine levels of text.
const LEVELS: usize = 9;

/// What a paragraph of a slide states about its bullet.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) enum Bullet {
    #[default]
    Inherited,
    Off,
    Character,
    Number {
        kind: String,
        start: u32,
    },
}

impl Bullet {
    pub(super) fn note(&mut self, tag: &Tag) {
        *self = match tag.name.as_str() {
            "buNone" => Self::Off,
            "buChar" | "buBlip" => Self::Character,
            "buAutoNum" => Self::Number {
                kind: tag.attribute("type").unwrap_or_default(),
                start: tag
                    .attribute("startAt")
                    .and_then(|start| start.parse().ok())
                    .unwrap_or(1),
            },
            _ => return,
        }
    }
}

/// The shape being read.
#[derive(Debug, Default)]
pub(super) struct Shape {
    /// The type of its placeholder, if it is one.
    placeholder: Option<String>,
    /// How many paragraphs of each level are numbered in a row.
    numbered: [u32; LEVELS],
}

impl Shape {
    pub(super) fn note_placeholder(&mut self, tag: &Tag) {
        self.placeholder = Some(tag.attribute("type").unwrap_or_else(|| "obj".to_owned()));
    }

    pub(super) fn is_title(&self) -> bool {
        matches!(self.placeholder.as_deref(), Some("title" | "ctrTitle"))
    }

    /// Whether it holds notes of the speaker: the other placeholders of a page of notes repeat the slide.
    pub(super) fn is_notes(&self) -> bool {
        matches!(self.placeholder.as_deref(), None | Some("body"))
    }

    pub(super) fn is_slide_number(&self) -> bool {
        self.placeholder.as_deref() == Some("sldNum")
    }

    /// The position of the next paragraph, if it is an item of a list. Content has bullets unless it says otherwise.
    pub(super) fn list_position(&mut self, bullet: &Bullet, level: usize) -> Option<ListPosition> {
        let level = level.min(LEVELS - 1);
        let is_content = self.placeholder.as_deref() == Some("obj");
        for below in &mut self.numbered[level + 1..] {
            *below = 0;
        }
        let Bullet::Number { kind, start } = bullet else {
            self.numbered[level] = 0;
            let has_bullet = match bullet {
                Bullet::Inherited => is_content || (level > 0 && !self.is_title()),
                other => *other == Bullet::Character,
            };
            let label = Label::Bullet;
            return has_bullet.then_some(ListPosition { label, level });
        };
        let number = start.saturating_add(self.numbered[level]);
        self.numbered[level] += 1;
        let label = Label::Number(numbered(number, kind));
        Some(ListPosition { label, level })
    }
}

/// A number in a format of slides such as `alphaLcParenR`.
fn numbered(number: u32, kind: &str) -> String {
    let format = match kind {
        _ if kind.starts_with("alphaLc") => "lowerLetter",
        _ if kind.starts_with("alphaUc") => "upperLetter",
        _ if kind.starts_with("romanLc") => "lowerRoman",
        _ if kind.starts_with("romanUc") => "upperRoman",
        _ => "decimal",
    };
    let number = formatted(number, format);
    match kind {
        _ if kind.ends_with("ParenBoth") => format!("({number})"),
        _ if kind.ends_with("ParenR") => format!("{number})"),
        _ if kind.ends_with("Plain") => number,
        _ => format!("{number}."),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paragraphs_of_slides_are_numbered_in_their_format() {
        let number = |kind: &str, start| Bullet::Number {
            kind: kind.to_owned(),
            start,
        };
        let mut shape = Shape::default();
        let mut label = |bullet: &Bullet, level| match shape.list_position(bullet, level) {
            Some(ListPosition {
                label: Label::Number(text),
                ..
            }) => text,
            Some(ListPosition {
                label: Label::Bullet,
                ..
            }) => "-".to_owned(),
            _ => String::new(),
        };
        let arabic = number("arabicPeriod", 1);
        let letters = number("alphaLcParenBoth", 3);
        let labels = [
            label(&arabic, 0),
            label(&letters, 1),
            label(&letters, 1),
            label(&arabic, 0),
            label(&letters, 1),
            label(&Bullet::Character, 0),
            label(&number("romanUcParenR", 4), 0),
            label(&Bullet::Inherited, 0),
            label(&Bullet::Inherited, 99),
            label(&Bullet::Off, 1),
        ];
        assert_eq!(
            labels,
            ["1.", "(c)", "(d)", "2.", "(c)", "-", "IV)", "", "-", ""]
        );
    }
}
