//! Removes the navigation around the text of an article.

use dom_query::{Document as Dom, NodeRef, Selection};

/// Elements that hold text without other blocks.
const BLOCKS: &str =
    "p, li, h1, h2, h3, h4, h5, h6, pre, blockquote, td, th, dt, dd, figcaption, div, section";

/// The number of a figure is among the first characters of its caption.
const NUMBER_WITHIN_CHARS: usize = 14;

/// Removes the links before the first and after the last text, such as breadcrumbs and related articles, with their
/// headings, and pictures with their captions.
pub(super) fn trim(article: &Dom) {
    let links = article.select("a:has(img)");
    let pictures = links
        .nodes()
        .iter()
        .filter(|link| link.text().trim().is_empty());
    pictures.for_each(NodeRef::remove_from_parent);
    let captions = article.select("figure:has(img) figcaption");
    let captions = captions
        .nodes()
        .iter()
        .filter(|caption| !is_numbered(caption));
    captions.for_each(NodeRef::remove_from_parent);
    let blocks = article.select(BLOCKS);
    let innermost = |node: &&NodeRef<'_>| !Selection::from(**node).select(BLOCKS).exists();
    let blocks: Vec<_> = blocks.nodes().iter().filter(innermost).collect();
    let before = blocks.iter().take_while(|block| is_navigation(block));
    let after = blocks
        .iter()
        .rev()
        .take_while(|block| is_navigation(block) || is_heading(block));
    before
        .chain(after)
        .for_each(|block| block.remove_from_parent());
}

/// Whether the text refers to a figure by its number, as in “Figure 3: Profits”.
fn is_numbered(caption: &NodeRef<'_>) -> bool {
    let text = caption.text();
    let mut beginning = text.trim_start().chars().take(NUMBER_WITHIN_CHARS);
    beginning.any(char::is_numeric)
}

fn is_heading(block: &NodeRef<'_>) -> bool {
    block.is("h1, h2, h3, h4, h5, h6")
}

/// Whether a block has no text besides links.
fn is_navigation(block: &NodeRef<'_>) -> bool {
    let chars = |text: &str| text.chars().filter(|char| char.is_alphanumeric()).count();
    let links = Selection::from(*block).select("a");
    let linked: usize = links.nodes().iter().map(|link| chars(&link.text())).sum();
    chars(&block.text()) <= linked
}
