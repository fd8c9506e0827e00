//! Rewrites the elements of a page that Markdown has no marks for, so that their text keeps its meaning.

use dom_query::{NodeRef, Selection};

use super::{math, table};
use crate::read::line::{Script, scripted};

/// Elements within a paragraph.
const INLINE: [&str; 16] = [
    "a", "abbr", "b", "cite", "code", "em", "font", "i", "q", "small", "span", "strong", "sub",
    "sup", "u", "var",
];
/// How far the text before a super- or subscript is searched for, in nodes.
const MAX_STEPS: usize = 16;

/// Rewrites the elements below this one.
pub(super) fn normalize(body: &NodeRef<'_>) {
    let all = Selection::from(*body);
    // Struck-out text is no longer valid.
    all.select("del, s, strike").remove();
    all.select("img").nodes().iter().for_each(picture);
    all.select("math").nodes().iter().for_each(math::normalize);
    all.select("sup").nodes().iter().for_each(superscript);
    all.select("sub")
        .nodes()
        .iter()
        .for_each(|sub| mark(sub, Script::Sub));
    all.select("dl").nodes().iter().for_each(definitions);
    all.select("table")
        .nodes()
        .iter()
        .for_each(table::normalize);
}

/// A picture is replaced by its alternative text where there is no other: in a link or a cell of a table.
fn picture(img: &NodeRef<'_>) {
    let alt = img.attr("alt").unwrap_or_default();
    let stands_alone = img.ancestors_it(Some(3)).any(|parent| {
        ["a", "td", "th"].iter().any(|name| parent.has_name(name))
            && parent.text().trim().is_empty()
    });
    if stands_alone && !alt.trim().is_empty() {
        img.insert_before(&img.tree.new_text(alt));
    }
    img.remove_from_parent();
}

/// `10<sup>6</sup>` becomes `10^6`, so that it is not read as 106. Marks of notes are removed.
fn superscript(sup: &NodeRef<'_>) {
    if is_note_mark(sup, sup.text().trim()) {
        sup.remove_from_parent();
    } else {
        mark(sup, Script::Super);
    }
}

/// Puts the marks of a super- or subscript around its text.
fn mark(node: &NodeRef<'_>, script: Script) {
    let all = node.text();
    let text = all.trim();
    let shown = scripted(&text_before(node), script, text);
    if text.is_empty() || shown == text {
        return;
    }
    if node.element_children().is_empty() {
        node.set_text(all.replacen(text, &shown, 1));
    } else if let Some((before, after)) = shown.split_once(text) {
        node.prepend_child(&node.tree.new_text(before));
        node.append_child(&node.tree.new_text(after));
    }
}

/// The text before a node in its paragraph, back to the last change of its markup.
fn text_before(node: &NodeRef<'_>) -> String {
    let mut at = *node;
    for _ in 0..MAX_STEPS {
        match previous(&at) {
            Some(before) if before.is_text() && !before.text().is_empty() => {
                return before.text().to_string();
            }
            Some(before) if !before.has_name("br") => at = before,
            _ => break,
        }
    }
    String::new()
}

/// The node before this one in the order of the page, or the inline element that begins with it.
fn previous<'a>(node: &NodeRef<'a>) -> Option<NodeRef<'a>> {
    let Some(mut last) = node.prev_sibling() else {
        let is_inline = |parent: &NodeRef<'_>| INLINE.iter().any(|name| parent.has_name(name));
        return node.parent().filter(is_inline);
    };
    while let Some(inner) = last.last_child() {
        last = inner;
    }
    Some(last)
}

/// Whether this is a reference to a footnote, such as `[12]`, or a link to another place on the page.
fn is_note_mark(sup: &NodeRef<'_>, text: &str) -> bool {
    (text.starts_with('[') && text.ends_with(']'))
        || Selection::from(*sup).select("a[href^='#']").exists()
}

/// A list of terms becomes a list with an item for each term: `term: definition`.
fn definitions(list: &NodeRef<'_>) {
    for child in list.element_children() {
        if child.has_name("dt") || child.has_name("dd") {
            continue;
        }
        // Terms and their definitions may be grouped.
        if let Some(first) = child.first_child() {
            child.insert_siblings_before(&first);
        }
        child.remove_from_parent();
    }
    let mut item: Option<NodeRef<'_>> = None;
    for child in list.element_children() {
        if child.has_name("dd")
            && let Some(term) = &item
        {
            let before = match term.text().trim_end() {
                "" => "",
                text if text.ends_with(':') => " ",
                _ if term.has_attr(DEFINED) => "; ",
                _ => ": ",
            };
            term.set_attr(DEFINED, "");
            term.append_child(&term.tree.new_text(before));
            if let Some(first) = child.first_child() {
                term.append_children(&first);
            }
            child.remove_from_parent();
        } else if child.has_name("dt") || child.has_name("dd") {
            child.rename("li");
            item = Some(child);
        }
    }
    list.rename("ul");
}

/// Marks a term that has a definition.
const DEFINED: &str = "data-defined";
