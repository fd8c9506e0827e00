//! Iterates over the elements and texts of an XML part.

use std::collections::VecDeque;

use quick_xml::{
    Reader,
    escape::unescape,
    events::{BytesStart, Event},
};

use super::damaged;
use crate::unreadable::Unreadable;

/// The next item of a part.
pub(in crate::read) enum Item {
    /// An element begins.
    Open(Tag),
    /// The innermost open element ends.
    Close(String),
    /// Text.
    Text(String),
}

/// An element's name without its prefix, and its attributes.
pub(in crate::read) struct Tag {
    pub(in crate::read) name: String,
    attributes: Vec<(String, String)>,
}

impl Tag {
    /// An attribute by its name without prefix.
    pub(in crate::read) fn attribute(&self, name: &str) -> Option<String> {
        let local = |full: &str| full.rsplit(':').next() == Some(name);
        self.attributes
            .iter()
            .find(|(full, _)| local(full))
            .map(|(_, value)| value.clone())
    }

    /// The value of an element that switches something on unless it says otherwise.
    pub(super) fn is_on(&self) -> bool {
        let value = self.attribute("val");
        !matches!(value.as_deref(), Some("0" | "false" | "off" | "none"))
    }

    /// A prefixed attribute, by its name without prefix.
    pub(in crate::read) fn prefixed_attribute(&self, name: &str) -> Option<String> {
        self.attributes
            .iter()
            .find(|(full, _)| full.split_once(':').is_some_and(|(_, local)| local == name))
            .map(|(_, value)| value.clone())
    }
}

/// Iterates over a part.
pub(in crate::read) struct Items<'a> {
    reader: Reader<&'a [u8]>,
    /// The end of an empty element.
    waiting: VecDeque<Item>,
    has_ended: bool,
}

impl<'a> Items<'a> {
    pub(in crate::read) fn new(xml: &'a str) -> Self {
        Self {
            reader: Reader::from_str(xml),
            waiting: VecDeque::new(),
            has_ended: false,
        }
    }

    /// Skips the rest of the element that began last.
    ///
    /// # Errors
    /// If the part is damaged.
    pub(super) fn skip_element(&mut self) -> Result<(), Unreadable> {
        let mut depth = 1_u64;
        while depth > 0 {
            match self.next().transpose()? {
                Some(Item::Open(_)) => depth += 1,
                Some(Item::Close(_)) => depth -= 1,
                Some(Item::Text(_)) => {}
                None => break,
            }
        }
        Ok(())
    }

    fn read(&mut self) -> Result<Option<Item>, Unreadable> {
        loop {
            let event = self.reader.read_event().map_err(|_| damaged())?;
            return Ok(Some(match event {
                Event::Start(tag) => Item::Open(opened(&tag)?),
                Event::Empty(tag) => {
                    let tag = opened(&tag)?;
                    self.waiting.push_back(Item::Close(tag.name.clone()));
                    Item::Open(tag)
                }
                Event::End(tag) => Item::Close(local(tag.local_name().as_ref())),
                Event::Text(text) => Item::Text(text.xml10_content().into_owned()),
                Event::CData(text) => Item::Text(text.xml10_content().into_owned()),
                Event::GeneralRef(reference) => Item::Text(resolved(&reference)),
                Event::Eof => return Ok(None),
                Event::Comment(_) | Event::Decl(_) | Event::PI(_) | Event::DocType(_) => continue,
            }));
        }
    }
}

impl Iterator for Items<'_> {
    type Item = Result<Item, Unreadable>;

    fn next(&mut self) -> Option<Self::Item> {
        if let Some(item) = self.waiting.pop_front() {
            return Some(Ok(item));
        }
        if self.has_ended {
            return None;
        }
        let item = self.read().transpose();
        self.has_ended = !matches!(item, Some(Ok(_)));
        item
    }
}

fn opened(tag: &BytesStart<'_>) -> Result<Tag, Unreadable> {
    let mut attributes = Vec::new();
    for attribute in tag.attributes() {
        let attribute = attribute.map_err(|_| damaged())?;
        let value = unescape(&attribute.value)
            .map_err(|_| damaged())?
            .into_owned();
        attributes.push((attribute.key.as_ref().to_owned(), value));
    }
    Ok(Tag {
        name: local(tag.local_name().as_ref()),
        attributes,
    })
}

fn local(name: &str) -> String {
    name.to_owned()
}

/// A numeric character reference, or one of the five named entities. Entities defined in the document are ignored.
fn resolved(reference: &quick_xml::events::BytesRef<'_>) -> String {
    if let Ok(Some(char)) = reference.resolve_char_ref() {
        return char.to_string();
    }
    quick_xml::escape::resolve_xml_entity(reference)
        .unwrap_or_default()
        .to_owned()
}
