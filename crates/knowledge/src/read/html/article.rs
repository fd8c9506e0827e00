//! Removes the navigation around the text of an article.

use std::collections::HashSet;

use dom_query::{Document as Dom, NodeRef, Selection};

/// Elements that hold text without other blocks.
const BLOCKS: &str =
    "p, li, h1, h2, h3, h4, h5, h6, pre, blockquote, td, th, dt, dd, figcaption, div, section";

/// Blocks that may be removed without damage to what is around them.
const REPEATABLE: &str = "p, li, div, section, figcaption";
/// A text of this length that occurs again is taken out, such as the caption of a picture in a gallery.
const REPEATED_BYTES: usize = 60;

/// Removes the links before the text, such as breadcrumbs, pictures with their captions, and repeated texts.
pub(super) fn trim(article: &Dom) {
    remove_pictures(article);
    let blocks = article.select(BLOCKS);
    let blocks = innermost(blocks.nodes());
    let navigation = blocks.iter().take_while(|block| is_navigation(block));
    navigation.for_each(NodeRef::remove_from_parent);
    let mut seen = HashSet::new();
    for block in blocks.iter().filter(|block| block.is(REPEATABLE)) {
        let text = block.text();
        if text.len() >= REPEATED_BYTES && !seen.insert(text.trim().to_owned()) {
            block.remove_from_parent();
        }
    }
}

/// Removes the captions of pictures and the links that are pictures.
fn remove_pictures(article: &Dom) {
    for link in article.select("a:has(img)").nodes() {
        if link.text().trim().is_empty() {
            link.remove_from_parent();
        }
    }
    let captions = article.select("figure:not(:has(table, pre)) figcaption");
    for caption in captions.nodes() {
        if !is_numbered(caption) {
            caption.remove_from_parent();
        }
    }
}

/// The blocks that contain no others, of blocks in the order of the page.
fn innermost<'a>(blocks: &[NodeRef<'a>]) -> Vec<NodeRef<'a>> {
    let contains = |block: &NodeRef<'_>, other: &NodeRef<'_>| {
        other
            .ancestors_it(None)
            .any(|ancestor| ancestor.id == block.id)
    };
    let next = blocks.iter().skip(1).map(Some).chain([None]);
    let pairs = blocks.iter().zip(next);
    pairs
        .filter(|(block, next)| next.is_none_or(|next| !contains(block, next)))
        .map(|(block, _)| *block)
        .collect()
}

/// Whether the text refers to a picture by its number, as in “Figure 3: Profits”.
fn is_numbered(caption: &NodeRef<'_>) -> bool {
    let text = caption.text();
    let text = text.trim_start();
    let after = text.trim_start_matches(|char: char| char.is_alphabetic() || char == '.');
    after.len() < text.len() && after.trim_start().starts_with(char::is_numeric)
}

/// Whether a block has no text besides links.
fn is_navigation(block: &NodeRef<'_>) -> bool {
    let chars = |text: &str| text.chars().filter(|char| char.is_alphanumeric()).count();
    let links = Selection::from(*block).select("a");
    let linked: usize = links.nodes().iter().map(|link| chars(&link.text())).sum();
    chars(&block.text()) <= linked
}
