//! Web pages as Markdown: the main article if there is one, otherwise the whole page.

mod scan;

use dom_smoothie::{Config, Readability, TextMode};

use crate::{document::Document, unreadable::Unreadable};

/// An article with less than one part in this many of the page's text is a teaser mistaken for one.
const MIN_SHARE: usize = 10;

/// Whether a file without a known extension is an HTML page.
pub(super) fn is_page(beginning: &[u8]) -> bool {
    let text = String::from_utf8_lossy(beginning).to_ascii_lowercase();
    let text = text.trim_start_matches(['\u{feff}', ' ', '\n', '\r', '\t']);
    text.starts_with("<!doctype html") || text.starts_with("<html")
}

/// Reads a page.
///
/// # Errors
/// If it has too many elements, is nested too deeply, or has too many attributes.
pub(super) fn read(page: &str) -> Result<Document, Unreadable> {
    if !scan::is_bearable(page) {
        return Err(Unreadable::damaged("a web page"));
    }
    let config = Config {
        text_mode: TextMode::Markdown,
        max_elements_to_parse: scan::ELEMENTS_LIMIT,
        disable_json_ld: true,
        ..Config::default()
    };
    let mut readability = Readability::new(page, None, Some(config))
        .map_err(|_| Unreadable::damaged("a web page"))?;
    readability
        .doc
        .select("script, style, noscript, template, svg")
        .remove();
    let body = readability.doc.select("body");
    let whole = body
        .nodes()
        .first()
        .map(|body| body.md(None).to_string())
        .unwrap_or_default();
    let own_title = readability.get_article_title().trim().to_owned();
    let (title, text) = match readability.parse() {
        Ok(article) if article.text_content.len() * MIN_SHARE >= whole.len() => {
            (article.title, article.text_content.to_string())
        }
        Ok(_) | Err(dom_smoothie::ReadabilityError::GrabFailed) => (own_title, whole),
        Err(_) => return Err(Unreadable::damaged("a web page")),
    };
    Ok(titled(title.trim(), &super::plain::tidy(&text)))
}

/// Reads all of a page, such as a chapter of a book, which may be shorter than an article.
///
/// # Errors
/// If it has too many elements, is nested too deeply, or has too many attributes.
pub(super) fn read_whole(page: &str) -> Result<String, Unreadable> {
    if !scan::is_bearable(page) {
        return Err(Unreadable::damaged("a web page"));
    }
    let document = Readability::new(page, None, None)
        .map_err(|_| Unreadable::damaged("a web page"))?
        .doc;
    document
        .select("head, script, style, noscript, template, svg")
        .remove();
    let body = document.select("body");
    let whole = body.nodes().first().map(|body| body.md(None));
    Ok(super::plain::tidy(&whole.unwrap_or_default()))
}

/// The page below its title, unless it begins with the title.
fn titled(title: &str, text: &str) -> Document {
    let begins_with_it = text
        .lines()
        .take(3)
        .any(|line| line.trim_start_matches('#').trim() == title);
    let text = text.trim();
    let text = if title.is_empty() || begins_with_it {
        text.to_owned()
    } else {
        format!("# {title}\n\n{text}")
    };
    let document = Document::of_markdown(text);
    let title = if title.is_empty() {
        document.title
    } else {
        Some(title.to_owned())
    };
    Document { title, ..document }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PAGE: &str = "<!doctype html><html><head><title>Tides - The Sea Pages</title><style>p{}</style></head>\
        <body><nav><a href=/a>Home</a> <a href=/b>About us</a></nav><article><h1>Tides</h1>\
        <p>The moon pulls at the water of the seas, and so the level of the water rises and falls twice a day, \
        which is what people at the coast call the tides and plan their work by.</p><h2>Spring tides</h2>\
        <p>When the sun and the moon stand in one line, their forces add up, and the highest tides come, about \
        every two weeks, at new moon and at full moon &amp; nearly everywhere on earth.</p>\
        <ul><li>high water</li><li>low water</li></ul></article><script>alert('no')</script>\
        <footer>Copyright, imprint, cookies</footer></body></html>";

    #[test]
    fn an_article_is_read_without_what_is_around_it() {
        let document = read(PAGE).unwrap();
        let text = &document.text;
        assert!(
            text.contains("rises and falls twice a day") && text.contains("moon & nearly"),
            "{text}"
        );
        assert!(
            text.contains("## Spring tides") && text.contains("high water"),
            "{text}"
        );
        assert!(
            !text.contains("cookies") && !text.contains("alert") && !text.contains("About us"),
            "{text}"
        );
        assert!(document.title.unwrap().contains("Tides"));
        assert!(
            document
                .headings
                .iter()
                .any(|it| it.level == 2 && it.title == "Spring tides")
        );
    }

    #[test]
    fn a_page_without_an_article_is_read_whole() {
        let list: String = (0..40)
            .map(|i| format!("<tr><td>Part {i}</td><td>{} EUR</td></tr>", i * 3))
            .collect();
        let document = read(&format!("<title>Prices</title><body><table>{list}</table>")).unwrap();
        assert!(document.text.starts_with("# Prices"), "{}", document.text);
        assert!(document.text.contains("Part 39") && document.text.contains("117 EUR"));
        assert_eq!(read("").unwrap().text, "");
    }
}
