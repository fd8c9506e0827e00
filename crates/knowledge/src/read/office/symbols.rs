//! Characters of symbol fonts, and fields of forms: ticks and chosen values.

use super::xml::Tag;

pub(super) const CHECKED: char = '☒';
pub(super) const UNCHECKED: char = '☐';
/// Greek letters at the places of Latin ones, as in the font Symbol.
const GREEK: &str = "αβχδεφγηιϕκλμνοπθρστυϖωξψζ";
const CAPITAL_GREEK: &str = "ΑΒΧΔΕΦΓΗΙϑΚΛΜΝΟΠΘΡΣΤΥςΩΞΨΖ";

/// The character that a symbol stands for, if it is known.
pub(super) fn symbol(tag: &Tag) -> Option<char> {
    let code = u32::from_str_radix(&tag.attribute("char")?, 16).ok()?;
    let font = tag.attribute("font").unwrap_or_default();
    // Symbol fonts have their characters in the private use area.
    let place = u8::try_from(code & 0xff).ok()?;
    match font.as_str() {
        "Symbol" => of_symbol(place),
        "Wingdings" | "Wingdings 2" if !(0x100..0xf000).contains(&code) => {
            of_wingdings(&font, place)
        }
        _ => char::from_u32(code).filter(|_| !(0xe000..0xf900).contains(&code)),
    }
}

fn of_symbol(place: u8) -> Option<char> {
    let letter = |letters: &str, first: u8| letters.chars().nth(usize::from(place - first));
    match place {
        b'a'..=b'z' => letter(GREEK, b'a'),
        b'A'..=b'Z' => letter(CAPITAL_GREEK, b'A'),
        0xa3 => Some('≤'),
        0xa5 => Some('∞'),
        0xae => Some('→'),
        0xb0 => Some('°'),
        0xb1 => Some('±'),
        0xb3 => Some('≥'),
        0xb4 => Some('×'),
        0xb7 => Some('•'),
        0xb8 => Some('÷'),
        0xb9 => Some('≠'),
        0xbb => Some('≈'),
        0xce => Some('∈'),
        0xd6 => Some('√'),
        0xe5 => Some('∑'),
        b' '..=b'~' => Some(char::from(place)),
        _ => None,
    }
}

fn of_wingdings(font: &str, place: u8) -> Option<char> {
    let is_second = font.ends_with('2');
    match place {
        0x50 | 0x52 if is_second => Some(if place == 0x50 { '✓' } else { '☑' }),
        0x4f | 0x51 | 0x53 | 0x54 if is_second => Some(CHECKED),
        0xa3 | 0x2a if is_second => Some(UNCHECKED),
        _ if is_second => None,
        0x6f | 0x71 | 0x72 | 0xa8 => Some(UNCHECKED),
        0x78 | 0xfd => Some(CHECKED),
        0xfe => Some('☑'),
        0xfb => Some('✗'),
        0xfc => Some('✓'),
        0x6c | 0x9f => Some('•'),
        0xe0 => Some('→'),
        _ => None,
    }
}

/// A field of an old form, whose value is in its properties instead of the text.
#[derive(Debug, Default)]
pub(super) struct FormField {
    is_check_box: bool,
    is_checked: Option<bool>,
    is_checked_at_first: bool,
    chosen: Option<usize>,
    entries: Vec<String>,
}

impl FormField {
    pub(super) fn note(&mut self, tag: &Tag) {
        let value = || tag.attribute("val").unwrap_or_default();
        match tag.name.as_str() {
            "checkBox" => self.is_check_box = true,
            "checked" => self.is_checked = Some(tag.is_on()),
            "default" if self.is_check_box => self.is_checked_at_first = tag.is_on(),
            "default" => self.chosen = self.chosen.or(value().parse().ok()),
            "result" => self.chosen = value().parse().ok(),
            "listEntry" => self.entries.push(value()),
            _ => {}
        }
    }

    /// What the field shows, unless the text has it.
    pub(super) fn shown(&self) -> Option<String> {
        if self.is_check_box {
            let is_checked = self.is_checked.unwrap_or(self.is_checked_at_first);
            return Some(if is_checked { CHECKED } else { UNCHECKED }.into());
        }
        self.entries.get(self.chosen.unwrap_or(0)).cloned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::read::office::xml::{Item, Items};

    fn tags(xml: &str) -> Vec<Tag> {
        let items = Items::new(xml).filter_map(|item| match item.unwrap() {
            Item::Open(tag) => Some(tag),
            _ => None,
        });
        items.collect()
    }

    #[test]
    fn symbols_are_read_by_their_fonts() {
        for (font, code, expected) in [
            ("Wingdings", "F0FE", Some('☑')),
            ("Wingdings", "00A8", Some('☐')),
            ("Wingdings 2", "F052", Some('☑')),
            ("MS Gothic", "2612", Some('☒')),
            ("Symbol", "F061", Some('α')),
            ("Symbol", "F0B3", Some('≥')),
            ("Own", "F041", None),
            ("Wingdings", "F021", None),
            ("Symbol", "zz", None),
        ] {
            let tag = &tags(&format!("<sym font='{font}' char='{code}'/>"))[0];
            assert_eq!(symbol(tag), expected, "{font} {code}");
        }
    }

    #[test]
    fn fields_of_forms_show_their_values() {
        for (xml, expected) in [
            (
                "<a><checkBox><default val='0'/><checked/></checkBox></a>",
                Some("☒"),
            ),
            ("<a><checkBox><default val='1'/></checkBox></a>", Some("☒")),
            (
                "<a><checkBox><default val='1'/><checked val='0'/></checkBox></a>",
                Some("☐"),
            ),
            (
                "<a><ddList><result val='1'/><listEntry val='x'/><listEntry val='y'/></ddList></a>",
                Some("y"),
            ),
            ("<a><ddList><listEntry val='x'/></ddList></a>", Some("x")),
            ("<a><textInput><default val='t'/></textInput></a>", None),
        ] {
            let mut field = FormField::default();
            tags(xml).iter().for_each(|tag| field.note(tag));
            assert_eq!(field.shown().as_deref(), expected, "{xml}");
        }
    }
}
