//! The characters of embedded fonts that have no table of their own for them, as many Chinese, Japanese and Korean ones:
//! their glyphs are numbered as in a known collection of characters, or their codes are characters.

use std::{collections::HashMap, rc::Rc};

use hayro_interpret::{
    font::OutlineGlyph,
    hayro_cmap::{BfString, CMap, CMapName, CidFamily, load_embedded},
    hayro_syntax::{
        object::{Array, Dict, Name, Stream, String as PdfString},
        page::Page,
    },
};

/// Maximum number of a page's fonts that are looked at.
const MAX_FONTS: usize = 1000;

/// The collections of characters that a document needs.
#[derive(Default)]
pub(super) struct Collections(HashMap<Vec<u8>, Option<Rc<CMap>>>);

impl Collections {
    fn get(&mut self, name: CMapName<'_>) -> Option<Rc<CMap>> {
        let known = self.0.entry(name.to_bytes().to_vec());
        let read = || CMap::parse(load_embedded(name)?, load_embedded).map(Rc::new);
        known.or_insert_with(read).clone()
    }
}

/// The fonts of a page, by their names.
#[derive(Default)]
pub(super) struct Fonts(HashMap<String, Font>);

/// A font whose characters are known by the numbers of its glyphs or codes.
struct Font {
    /// The numbers of glyphs by codes; `None` if they are the same.
    numbers: Option<Rc<CMap>>,
    /// The characters by the numbers of glyphs; `None` if the codes are characters themselves.
    characters: Option<Rc<CMap>>,
}

impl Fonts {
    pub(super) fn of(page: &Page<'_>, collections: &mut Collections) -> Self {
        let fonts = &page.resources().fonts;
        let names = fonts.keys().take(MAX_FONTS);
        let found = names.filter_map(|name| {
            let font = fonts.get::<Dict<'_>>(name.as_ref())?;
            Font::of(&font, collections)
        });
        Self(found.collect())
    }

    /// The text of a glyph whose font does not tell it.
    pub(super) fn text(&self, glyph: &OutlineGlyph) -> Option<BfString> {
        if self.0.is_empty() {
            return None;
        }
        let font = self.0.get(&glyph.font_data()?.postscript_name?)?;
        let code = glyph.char_code();
        let number = match &font.numbers {
            Some(numbers) => [2, 1, 3, 4]
                .into_iter()
                .find_map(|bytes| numbers.lookup_cid_code(code, bytes))?,
            None => code,
        };
        match &font.characters {
            Some(characters) => characters.lookup_bf_string(number),
            None => char::from_u32(code).map(BfString::Char),
        }
    }
}

impl Font {
    /// `None` if it has its own table, or is of no known collection.
    fn of(dict: &Dict<'_>, collections: &mut Collections) -> Option<(String, Self)> {
        if dict.get::<Name<'_>>("Subtype")?.as_ref() != b"Type0" {
            return None;
        }
        let font = match dict.get::<Name<'_>>("ToUnicode") {
            Some(name) if is_identity(&name) => Self {
                numbers: None,
                characters: None,
            },
            None if !dict.contains_key("ToUnicode") => Self::of_collection(dict, collections)?,
            _ => return None,
        };
        let name = dict.get::<Name<'_>>("BaseFont")?;
        let name = String::from_utf8_lossy(name.as_ref()).into_owned();
        // A font with some of its glyphs has six letters and a plus sign before its name.
        let name = match name.split_once('+') {
            Some((prefix, rest)) if prefix.len() == 6 => rest.to_owned(),
            _ => name,
        };
        Some((name, font))
    }

    fn of_collection(dict: &Dict<'_>, collections: &mut Collections) -> Option<Self> {
        let descendant = dict
            .get::<Array<'_>>("DescendantFonts")?
            .iter::<Dict<'_>>()
            .next()?;
        let collection = descendant.get::<Dict<'_>>("CIDSystemInfo")?;
        let entry = |key: &str| collection.get::<PdfString<'_>>(key);
        let family = CidFamily::from_registry_ordering(
            entry("Registry")?.as_bytes(),
            entry("Ordering")?.as_bytes(),
        );
        let characters = Some(collections.get(family.ucs2_cmap()?)?);
        let numbers = match dict.get::<Name<'_>>("Encoding") {
            Some(name) if is_identity(&name) => None,
            Some(name) => Some(collections.get(CMapName::from_bytes(name.as_ref()))?),
            None => {
                let data = dict.get::<Stream<'_>>("Encoding")?.decoded_data().ok()?;
                Some(Rc::new(CMap::parse(&data, load_embedded)?))
            }
        };
        Some(Self {
            numbers,
            characters,
        })
    }
}

/// Whether codes are mapped to themselves.
fn is_identity(name: &Name<'_>) -> bool {
    matches!(name.as_ref(), b"Identity-H" | b"Identity-V")
}
