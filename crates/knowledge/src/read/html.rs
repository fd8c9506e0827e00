//! Web pages as Markdown: the main article if there is one, otherwise the whole page.

mod article;
pub(super) mod math;
mod normalize;
mod scan;
mod table;

use dom_query::{Document as Dom, NodeRef};
use dom_smoothie::{Config, Readability, ReadabilityError};

use crate::{document::Document, unreadable::Unreadable};

/// Elements around the content of a page.
const FRAME: [&str; 5] = ["!doctype", "html", "head", "title", "body"];
/// Number of bytes in which they begin.
const BEGINNING_BYTES: usize = 65_536;
/// An article with less than one part in this many of the page's text is a teaser mistaken for one.
const MIN_SHARE: usize = 10;

/// Whether a file without a known extension is an HTML page.
pub(super) fn is_page(beginning: &[u8]) -> bool {
    let text = String::from_utf8_lossy(beginning).to_ascii_lowercase();
    let text = text.trim_start_matches(['\u{feff}', ' ', '\n', '\r', '\t']);
    text.starts_with("<!doctype html") || text.starts_with("<html")
}

/// Reads a page, or a fragment of one, which has no navigation around its text.
///
/// # Errors
/// If it has too many elements, is nested too deeply, or has too many attributes.
pub(super) fn read(page: &str) -> Result<Document, Unreadable> {
    if !scan::is_bearable(page) {
        return Err(Unreadable::damaged("a web page"));
    }
    if is_fragment(page) {
        return Ok(Document::of_markdown(whole(page)));
    }
    let config = Config {
        max_elements_to_parse: scan::ELEMENTS_LIMIT,
        disable_json_ld: true,
        ..Config::default()
    };
    let dom = without_code(page);
    let prose = prose_chars(&dom);
    let mut readability = Readability::with_document(dom, None, Some(config))
        .map_err(|_| Unreadable::damaged("a web page"))?;
    let own_title = readability.get_article_title().trim().to_owned();
    let (title, dom) = match readability.parse() {
        Ok(article) => {
            let dom = Dom::from(article.content);
            article::trim(&dom);
            if prose_chars(&dom) * MIN_SHARE >= prose {
                (article.title, dom)
            } else {
                (own_title, without_code(page))
            }
        }
        Err(ReadabilityError::GrabFailed) => (own_title, without_code(page)),
        Err(_) => return Err(Unreadable::damaged("a web page")),
    };
    Ok(titled(title.trim(), &super::plain::tidy(&markdown(&dom))))
}

/// Whether it begins with none of the elements around the content of a page.
fn is_fragment(page: &str) -> bool {
    let beginning = &page.as_bytes()[..page.len().min(BEGINNING_BYTES)];
    let is_frame = |at: usize| {
        FRAME.iter().any(|name| {
            let tag = beginning.get(at + 1..at + 1 + name.len());
            tag.is_some_and(|tag| tag.eq_ignore_ascii_case(name.as_bytes()))
        })
    };
    !memchr::memchr_iter(b'<', beginning).any(is_frame)
}

/// Parses a page and removes what is not text.
fn without_code(page: &str) -> Dom {
    let dom = Dom::from(page);
    dom.select("script, style, noscript, template, svg")
        .remove();
    dom
}

/// The length of a page's text without white space, links, which are mostly navigation, and comments.
fn prose_chars(dom: &Dom) -> usize {
    let mut open: Vec<NodeRef<'_>> = dom.body().iter().flat_map(NodeRef::children).collect();
    let mut chars = 0;
    while let Some(node) = open.pop() {
        if node.is_text() {
            let text = node.text();
            chars += text.chars().filter(|char| !char.is_whitespace()).count();
        } else if !node.has_name("a") && !is_comment(&node) {
            open.extend(node.children_it(false));
        }
    }
    chars
}

/// Whether this is the place for the comments of readers, by its name.
fn is_comment(node: &NodeRef<'_>) -> bool {
    let names = [node.id_attr(), node.class()];
    names.iter().flatten().any(|name| name.contains("comment"))
}

fn markdown(dom: &Dom) -> String {
    let Some(body) = dom.body() else {
        return String::new();
    };
    normalize::normalize(&body);
    body.md(None).to_string()
}

/// Reads all of a page, such as a chapter of a book, which may be shorter than an article, or an e-mail, of which
/// nothing is navigation.
///
/// # Errors
/// If it has too many elements, is nested too deeply, or has too many attributes.
pub(super) fn read_whole(page: &str) -> Result<String, Unreadable> {
    if !scan::is_bearable(page) {
        return Err(Unreadable::damaged("a web page"));
    }
    Ok(whole(page))
}

fn whole(page: &str) -> String {
    super::plain::tidy(&markdown(&without_code(page)))
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

    #[test]
    fn fragments_of_pages_are_read_whole() {
        let paragraph = "<p>The moon pulls at the water of the seas, and so the level of the water rises and falls.</p>";
        let fragment = format!(
            "<h1>Tides</h1>{}<p>Code:</p><pre>f = g</pre><blockquote><p>foo bar</p></blockquote>",
            paragraph.repeat(6)
        );
        let document = read(&fragment).unwrap();
        assert!(document.text.starts_with("# Tides\n"), "{}", document.text);
        assert!(document.text.ends_with("> foo bar"), "{}", document.text);
        assert_eq!(document.title.as_deref(), Some("Tides"));
    }

    /// The Markdown of a page, of which all is its article.
    fn text(body: &str) -> String {
        markdown(&Dom::from(format!("<body>{body}")))
    }

    #[test]
    fn an_article_is_not_taken_for_a_teaser_because_of_long_addresses() {
        let address = "/section/".repeat(20);
        let links: String = (0..60)
            .map(|number| {
                format!("<a href='https://news.example{address}{number}'>Topic {number}</a> ")
            })
            .collect();
        let article = "<p>The council approved the new bridge on Monday, after three years of debate about its cost, \
            its height and its colour, and building begins in May.</p>"
            .repeat(8);
        let comments =
            "<p>I have said all along that nobody wants this bridge, and here we are again.</p>"
                .repeat(90);
        let page = format!(
            "<title>Bridge</title><body><nav>{links}</nav><article>{article}</article>\
             <div id=comments>{comments}</div><footer>Imprint</footer>"
        );
        let text = read(&page).unwrap().text;
        assert!(text.contains("approved the new bridge"), "{text}");
        assert!(
            !text.contains("Topic 7") && !text.contains("nobody wants"),
            "{text}"
        );
    }

    #[test]
    fn an_article_has_neither_pictures_nor_links_before_its_text() {
        let paragraph = |number| {
            format!(
                "<p>{number}. The moon pulls at the water of the seas, and so the level of the water rises and falls \
            twice a day, which is what people at the coast call the tides.</p>"
            )
        };
        let page = format!(
            "<body><article><ol><li><a href=/>Home</a><li><a href=/sea>Sea</a></ol>\
             {}<figure><img src=1.jpg alt='A beach'><figcaption>A beach. Photo: Ann</figcaption></figure>\
             {}<figure><img src=2.png><figcaption>Figure 2: Levels</figcaption></figure>\
             {}{}<p>See <a href=/moon>the moon</a>, too.</p></article>",
            paragraph("First"),
            paragraph("Second"),
            paragraph("Third"),
            paragraph("Third"),
        );
        let text = read(&page).unwrap().text;
        assert!(text.starts_with("First. The moon pulls"), "{text}");
        assert!(text.contains("Figure 2: Levels"), "{text}");
        assert!(text.ends_with("See [the moon](/moon), too."), "{text}");
        assert!(!text.contains("beach"), "{text}");
        assert_eq!(text.matches("Third.").count(), 1, "{text}");
    }

    #[test]
    fn superscripts_and_struck_out_text_keep_their_meaning() {
        for (html, expected) in [
            ("<p>10<sup>6</sup> m<sup>2</sup>", "10^6 m^2"),
            (
                "<p>e<sup>-x</sup> and 2<sup>n + 1</sup>",
                "e^-x and 2^(n + 1)",
            ),
            ("<p>the 1<sup>st</sup> of M<sup>me</sup>", "the 1st of Mme"),
            (
                "<p>Fe(OH)<b><sub>3</sub></b>, C<sub>2</sub>H<sub>5</sub>OH",
                "Fe(OH)**3**, C2H5OH",
            ),
            (
                "<p>so<sup>citation needed</sup>, p<sup>*</sup>",
                "socitation needed, p*",
            ),
            ("<p>a<br><sub>2</sub>", "a  \n_2"),
            ("<p>(a) <sub> i+1 </sub>", "(a) _(i+1)"),
            ("<p>x<sup><i>n</i>+1</sup>", "x^(*n*+1)"),
            ("<p>45<sup>3</sup> million", "45^3 million"),
            ("<p>in 2019<sup><a href='#n12'>12</a></sup>", "in 2019"),
            ("<p>in 2019<sup>[12]</sup>.", "in 2019."),
            ("<p>H<sub>2</sub>O at V<sub>max</sub>", "H2O at V_max"),
            (
                "<p>so <math alttext=x><semantics><msup><mi>c</mi><mn>2</mn></msup><annotation encoding=TeX>c^2</annotation>\
                 </semantics></math>.",
                "so c^2.",
            ),
            ("<p><del>90</del> 70 <s>a</s><strike>b</strike>", "70"),
        ] {
            assert_eq!(text(html).replace('\\', ""), expected, "{html}");
        }
    }

    #[test]
    fn terms_stand_beside_their_definitions() {
        assert_eq!(
            text("<dl><dt>Height<dd>18<dt>Built:<dd>1702<dd>1704</dl>"),
            "- Height: 18\n- Built: 1702; 1704"
        );
        assert_eq!(
            text(
                "<dl><div><dt>Height</dt><dd>18</dd></div><div><dt>Built</dt><dd>1702</dd></div></dl>"
            ),
            "- Height: 18\n- Built: 1702"
        );
    }

    #[test]
    fn cells_that_span_others_are_repeated() {
        let table = |rows: &str| text(&format!("<table>{rows}</table>"));
        assert_eq!(
            table("<tr><th>Item<th>Price<tr><td rowspan=2>Pen<td>3<tr><td>4"),
            "| Item | Price |\n| ---- | ----- |\n| Pen | 3 |\n| Pen | 4 |"
        );
        assert_eq!(
            table("<caption>Sales</caption><tr><th>Year<th colspan=2>2024<tr><td>a<td>b<td>c"),
            "Sales\n\n\n| Year | 2024 | 2024 |\n| ---- | ---- | ---- |\n| a | b | c |"
        );
        // A row that is too short, spans beyond the table, an empty row, and a picture that says yes.
        assert_eq!(
            table("<tr><td rowspan=9>a<td>b<tr></tr><tr><td rowspan=0><img alt=yes src=y.png><tr>"),
            "|   |   |\n| - | - |\n| a | b |\n| a | yes |"
        );
        // Layout: the cells are blocks.
        assert_eq!(
            table("<tr><td>First<tr><td><ul><li>a<li>b</ul>"),
            "First\n\n- a\n- b"
        );
        assert_eq!(
            table("<tr><td>Menu<td><table><tr><td>a<td>b</table>"),
            "Menu\n\n\n|   |   |\n| - | - |\n| a | b |"
        );
    }

    #[test]
    fn spans_are_bounded() {
        let wide = "<tr><td colspan=65000>a<td>b".repeat(3);
        assert!(text(&format!("<table>{wide}</table>")).len() < 100);
        let tall =
            format!("<tr>{}", "<td rowspan=65000>a".repeat(150)) + &"<tr><td>b".repeat(5_000);
        assert!(text(&format!("<table>{tall}</table>")).len() < 100_000);
    }
}
