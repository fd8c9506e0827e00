//! Properties of PDF files: the document information dictionary, and metadata in XMP, which is newer and wins.

use encoding_rs::{UTF_8, UTF_16BE, UTF_16LE};
use hayro_interpret::hayro_syntax::{
    Pdf,
    object::{DateTime, Dict, Stream},
};

use super::super::office::{Item, Items};
use crate::properties::Properties;

/// Maximum size of XMP, bytes.
const XMP_BYTES: usize = 1_000_000;
/// Maximum length of a text in XMP, bytes.
const TEXT_BYTES: usize = 10_000;
/// The characters of PDFDocEncoding from 0x80 to 0xA0; those above are as in Latin-1.
const PDF_DOC: [char; 33] = [
    '•', '†', '‡', '…', '—', '–', 'ƒ', '⁄', '‹', '›', '−', '‰', '„', '“', '”', '‘', '’', '‚', '™',
    'ﬁ', 'ﬂ', 'Ł', 'Œ', 'Š', 'Ÿ', 'Ž', 'ı', 'ł', 'œ', 'š', 'ž', '\u{fffd}', '€',
];

/// Reads the properties of a file.
pub(super) fn read(bytes: &[u8]) -> Option<Properties> {
    let file = Pdf::new(bytes.to_vec()).ok()?;
    let mut properties = Properties::default();
    let root: Option<Dict<'_>> = file.xref().get(file.xref().root_id());
    if let Some(root) = root {
        if let Some(xmp) = root.get::<Stream<'_>>("Metadata")
            && let Ok(xmp) = xmp.decoded()
            && xmp.len() <= XMP_BYTES
        {
            read_xmp(&String::from_utf8_lossy(&xmp), &mut properties);
        }
        if let Some(language) =
            root.get::<hayro_interpret::hayro_syntax::object::String<'_>>("Lang")
        {
            properties.add_missing("language", &text(language.as_bytes()));
        }
    }
    let info = file.metadata();
    for (key, value) in [
        ("title", &info.title),
        ("author", &info.author),
        ("subject", &info.subject),
    ] {
        properties.add_missing(key, &value.as_deref().map(text).unwrap_or_default());
    }
    if properties.tags.is_empty() {
        properties.add_keywords(&info.keywords.as_deref().map(text).unwrap_or_default());
    }
    for (key, at) in [
        ("created", &info.creation_date),
        ("modified", &info.modification_date),
    ] {
        properties.add_missing(key, &at.as_ref().map(iso).unwrap_or_default());
    }
    Some(properties)
}

/// A text string: UTF-16 or UTF-8 with a mark, or PDFDocEncoding.
fn text(bytes: &[u8]) -> String {
    let marks: [(&[u8], _); 3] = [
        (b"\xfe\xff", UTF_16BE),
        (b"\xff\xfe", UTF_16LE),
        (b"\xef\xbb\xbf", UTF_8),
    ];
    for (mark, encoding) in marks {
        if let Some(rest) = bytes.strip_prefix(mark) {
            let (text, _) = encoding.decode_without_bom_handling(rest);
            return without_escapes(&text);
        }
    }
    let char = |byte: &u8| match byte {
        0x80..=0xa0 => PDF_DOC[usize::from(byte - 0x80)],
        byte => char::from(*byte),
    };
    bytes.iter().map(char).collect()
}

/// Without the marks of a language, which are between two escape characters.
fn without_escapes(text: &str) -> String {
    let parts = text.split('\u{1b}').enumerate();
    let text = parts.filter(|(at, _)| at % 2 == 0);
    text.map(|(_, part)| part).collect()
}

fn iso(at: &DateTime) -> String {
    let offset = match (at.utc_offset_hour, at.utc_offset_minute) {
        (0, 0) => "Z".to_owned(),
        (hour, minute) => format!("{hour:+03}:{minute:02}"),
    };
    format!(
        "{:04}-{:02}-{:02}T{:02}:{:02}:{:02}{offset}",
        at.year, at.month, at.day, at.hour, at.minute, at.second
    )
}

/// Reads the elements of XMP, or their attributes in its short form.
fn read_xmp(xmp: &str, properties: &mut Properties) {
    let mut path: Vec<String> = Vec::new();
    let mut text = String::new();
    for item in Items::new(xmp).map_while(Result::ok) {
        match item {
            Item::Open(tag) => {
                if tag.name == "Description" {
                    for name in ["CreateDate", "ModifyDate", "Keywords"] {
                        add(name, &tag.attribute(name).unwrap_or_default(), properties);
                    }
                }
                path.push(tag.name);
                text.clear();
            }
            Item::Text(part) if text.len() < TEXT_BYTES => text.push_str(&part),
            Item::Text(_) => {}
            Item::Close(name) => {
                path.pop();
                // `<dc:creator><rdf:Seq><rdf:li>`
                let of = match name.as_str() {
                    "li" => path
                        .iter()
                        .rev()
                        .find(|name| !matches!(name.as_str(), "Seq" | "Bag" | "Alt")),
                    _ => Some(&name),
                };
                if let Some(of) = of {
                    add(of, text.trim(), properties);
                }
                text.clear();
            }
        }
    }
}

fn add(element: &str, text: &str, properties: &mut Properties) {
    match element {
        "title" => properties.add_missing("title", text),
        "creator" => properties.add("author", text),
        "description" => properties.add_missing("subject", text),
        "subject" | "Keywords" => properties.add_keywords(text),
        "language" => properties.add_missing("language", text),
        "publisher" => properties.add_missing("publisher", text),
        "CreateDate" => properties.add_missing("created", text),
        "ModifyDate" => properties.add_missing("modified", text),
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_have_three_encodings() {
        for (bytes, expected) in [
            (&b"Plan \x84 \xa0"[..], "Plan — €"),
            (b"M\xfcller", "Müller"),
            (b"\xfe\xff\x04\x1f\x04\x3b\x04\x30\x04\x3d", "План"),
            (b"\xfe\xff\x00\x1b\x00e\x00n\x00\x1b\x00A", "A"),
            (b"\xff\xfeA\0", "A"),
            (b"\xef\xbb\xbf\xc3\xa4", "ä"),
        ] {
            assert_eq!(text(bytes), expected);
        }
    }

    #[test]
    fn xmp_is_read_in_both_forms() {
        let mut found = Properties::default();
        read_xmp(
            "<x:xmpmeta xmlns:x=\"adobe:ns:meta/\"><rdf:RDF><rdf:Description rdf:about=\"\" xmp:CreateDate=\"2019-05-01T10:00:00+02:00\">\
             <dc:title><rdf:Alt><rdf:li xml:lang=\"x-default\">Tides &amp; more</rdf:li></rdf:Alt></dc:title>\
             <dc:creator><rdf:Seq><rdf:li>Ann</rdf:li><rdf:li>Bob</rdf:li></rdf:Seq></dc:creator>\
             <dc:subject><rdf:Bag><rdf:li>sea</rdf:li><rdf:li>moon</rdf:li></rdf:Bag></dc:subject>\
             <pdf:Keywords>sea; water</pdf:Keywords><xmp:ModifyDate>2020-01-01</xmp:ModifyDate></rdf:Description></rdf:RDF></x:xmpmeta>",
            &mut found,
        );
        assert_eq!(found.tags, ["sea", "moon", "water"]);
        let expected = serde_json::json!({
            "title": "Tides & more", "author": ["Ann", "Bob"], "created": "2019-05-01T10:00:00+02:00", "modified": "2020-01-01",
        });
        assert_eq!(serde_json::json!(found.fields), expected);
    }
}
