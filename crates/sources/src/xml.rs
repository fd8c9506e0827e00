//! A small tree of an XML answer, with namespaces.

use quick_xml::{NsReader, escape::resolve_xml_entity, events::Event, name::ResolveResult};

use crate::{SourceProblem, problem};

/// Maximum depth of elements.
const MAX_DEPTH: usize = 64;
/// Maximum number of elements, which take much more memory than their text.
const MAX_ELEMENTS: usize = 1_000_000;

/// An element.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Element {
    /// Its namespace; empty if there is none.
    pub(crate) space: String,
    /// Its name without the prefix.
    pub(crate) name: String,
    /// The text in it, without that of its elements.
    pub(crate) text: String,
    /// The elements in it.
    pub(crate) elements: Vec<Self>,
}

impl Element {
    /// All elements in it with this name.
    pub(crate) fn all<'a>(
        &'a self,
        space: &'a str,
        name: &'a str,
    ) -> impl Iterator<Item = &'a Self> {
        let mut elements = self.elements.iter();
        std::iter::from_fn(move || elements.find(|one| one.name == name && one.space == space))
    }

    /// The first element in it with this name.
    pub(crate) fn first<'a>(&'a self, space: &'a str, name: &'a str) -> Option<&'a Self> {
        self.all(space, name).next()
    }

    /// The text of the first element with this name, trimmed; `None` if it is empty.
    pub(crate) fn text_of<'a>(&'a self, space: &'a str, name: &'a str) -> Option<&'a str> {
        let text = self.first(space, name)?.text.trim();
        (!text.is_empty()).then_some(text)
    }
}

/// Reads a whole document; one that is cut off is an error.
pub(crate) fn parse(body: &[u8]) -> Result<Element, SourceProblem> {
    read(body, MAX_ELEMENTS)
}

fn read(body: &[u8], max_elements: usize) -> Result<Element, SourceProblem> {
    let text = std::str::from_utf8(body).map_err(|_| malformed("it is not UTF-8"))?;
    let mut reader = NsReader::from_str(text.trim_start_matches('\u{feff}'));
    reader.config_mut().expand_empty_elements = true;
    let mut open: Vec<Element> = Vec::new();
    let mut count = 0;
    loop {
        let (space, event) = reader
            .read_resolved_event()
            .map_err(|error| malformed(&error.to_string()))?;
        match event {
            Event::Start(tag) => {
                if open.len() == MAX_DEPTH {
                    return Err(malformed("it is nested too deeply"));
                }
                count += 1;
                if count > max_elements {
                    return Err(malformed("it has too many elements"));
                }
                let space = match space {
                    ResolveResult::Bound(space) => space.0.to_owned(),
                    ResolveResult::Unbound => String::new(),
                    ResolveResult::Unknown(_) => return Err(malformed("a prefix is unknown")),
                };
                open.push(Element {
                    space,
                    name: tag.local_name().as_ref().to_owned(),
                    ..Element::default()
                });
            }
            Event::End(_) => {
                let Some(done) = open.pop() else { continue };
                match open.last_mut() {
                    Some(outer) => outer.elements.push(done),
                    None => return Ok(done),
                }
            }
            Event::Text(text) => add(&mut open, &text.xml10_content()),
            Event::CData(text) => add(&mut open, &text.xml10_content()),
            Event::GeneralRef(reference) => match reference.resolve_char_ref() {
                Ok(Some(char)) => add(&mut open, char.encode_utf8(&mut [0; 4])),
                _ => match resolve_xml_entity(&reference) {
                    Some(text) => add(&mut open, text),
                    None => return Err(malformed("an entity is unknown")),
                },
            },
            Event::Eof => return Err(malformed("it is cut off")),
            Event::Empty(_)
            | Event::Comment(_)
            | Event::Decl(_)
            | Event::PI(_)
            | Event::DocType(_) => {}
        }
    }
}

fn add(open: &mut [Element], text: &str) {
    if let Some(element) = open.last_mut() {
        element.text.push_str(text);
    }
}

fn malformed(reason: &str) -> SourceProblem {
    problem::malformed(&format!("no valid XML: {reason}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn elements_have_their_namespace() {
        let xml = "\u{feff}<?xml version='1.0'?><!DOCTYPE a><!-- c --><a xmlns='DAV:' xmlns:b='urn:b'>\
                   <b:c>1 &lt;&#x32;<![CDATA[&3]]></b:c><d/><c xmlns=''> x </c></a>";
        let root = parse(xml.as_bytes()).unwrap();
        assert_eq!((&*root.space, &*root.name), ("DAV:", "a"));
        assert_eq!(root.text_of("urn:b", "c"), Some("1 <2&3"));
        assert_eq!(root.text_of("", "c"), Some("x"));
        assert_eq!(root.text_of("DAV:", "c"), None);
        assert_eq!(root.text_of("DAV:", "d"), None);
        assert_eq!(root.all("DAV:", "d").count(), 1);
    }

    #[test]
    fn what_is_no_whole_document_is_an_error() {
        let deep = "<a>".repeat(100_000);
        for wrong in [
            "",
            "no",
            "<a>",
            "<a><b></a>",
            "<x:a/>",
            "<a>&nbsp;</a>",
            "<html><body>Sign in<br></body></html>",
            &deep,
        ] {
            assert!(
                matches!(parse(wrong.as_bytes()), Err(SourceProblem::Malformed(_))),
                "{:.40}",
                wrong
            );
        }
        assert!(parse(b"<a>\xff</a>").is_err());
        assert!(read(b"<a><b/><b/></a>", 3).is_ok());
        assert!(read(b"<a><b/><b/></a>", 2).is_err());
    }
}
