//! What control words of RTF stand for: destinations, characters and encodings.

use encoding_rs::Encoding;

use crate::read::charset::of_code_page;

/// What the text of a group is for.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) enum Destination {
    /// The document.
    #[default]
    Body,
    /// The number or bullet of a list item.
    ListMark,
    /// A footnote or a comment.
    Note,
    /// The title of the document.
    Title,
    /// Names of fonts, which also have an encoding.
    Fonts,
    /// Names of styles, some of which are headings.
    Styles,
    /// A tag of a web page that was converted.
    HtmlTag,
    /// Nothing that is shown.
    Ignored,
}

/// The destination that a control word begins. Those in an ignored group are ignored too.
pub(super) fn destination(outer: Destination, name: &str) -> Option<Destination> {
    let destination = match name {
        "title" if outer == Destination::Ignored => Destination::Title,
        _ if outer == Destination::Ignored => return None,
        "fonttbl" => Destination::Fonts,
        "stylesheet" => Destination::Styles,
        "listtext" | "pntext" => Destination::ListMark,
        "footnote" | "annotation" => Destination::Note,
        "htmltag" => Destination::HtmlTag,
        "info" | "colortbl" | "filetbl" | "pict" | "header" | "headerl" | "headerr" | "headerf"
        | "footer" | "footerl" | "footerr" | "footerf" | "ftnsep" | "ftnsepc" | "ftncn"
        | "aftnsep" | "aftnsepc" | "aftncn" | "nonshppict" | "nonesttables" | "objdata"
        | "fldinst" | "shprslt" | "sp" | "xe" | "tc" | "template" | "private" => {
            Destination::Ignored
        }
        _ => return None,
    };
    Some(destination)
}

/// The text that a control word stands for.
pub(super) fn text_of(name: &str) -> Option<&'static str> {
    Some(match name {
        "tab" | "enspace" | "emspace" | "qmspace" => " ",
        "line" => "\n",
        "emdash" => "—",
        "endash" => "–",
        "bullet" => "•",
        "lquote" => "‘",
        "rquote" => "’",
        "ldblquote" => "“",
        "rdblquote" => "”",
        _ => return None,
    })
}

/// The encoding of a font's character set, unless it is that of the document.
pub(super) fn encoding_of_font(charset: i32) -> Option<&'static Encoding> {
    let code_page = match charset {
        77 => 10_000,
        128 => 932,
        129 => 949,
        134 => 936,
        136 => 950,
        161 => 1253,
        162 => 1254,
        163 => 1258,
        177 => 1255,
        178 => 1256,
        186 => 1257,
        204 => 1251,
        222 => 874,
        238 => 1250,
        _ => return None,
    };
    of_code_page(code_page)
}
