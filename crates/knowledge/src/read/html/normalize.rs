//! Rewrites the elements of a page that Markdown has no marks for, so that their text keeps its meaning.

use dom_query::{NodeRef, Selection};

use super::table;

/// Rewrites the elements below this one.
pub(super) fn normalize(body: &NodeRef<'_>) {
    let all = Selection::from(*body);
    // Struck-out text is no longer valid.
    all.select("del, s, strike").remove();
    all.select("img").nodes().iter().for_each(picture);
    all.select("sup").nodes().iter().for_each(superscript);
    all.select("sub").nodes().iter().for_each(subscript);
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

/// `10<sup>6</sup>` becomes `10^6`, so that it is not read as 106. Marks of notes are removed; ordinals and other
/// abbreviations such as `1st` and `Mme` stay as they are.
fn superscript(sup: &NodeRef<'_>) {
    let text = sup.text();
    let text = text.trim();
    if is_note_mark(sup, text) {
        sup.remove_from_parent();
    } else if is_exponent(text) {
        surround(sup, "^", text);
    }
}

/// `V<sub>max</sub>` becomes `V_max`; `H<sub>2</sub>O` is also written as H2O.
fn subscript(sub: &NodeRef<'_>) {
    let text = sub.text();
    let text = text.trim();
    if text.starts_with(char::is_alphabetic) {
        surround(sub, "_", text);
    }
}

/// Puts a mark before the text of a node, and brackets around it if it is more than one word or number.
fn surround(node: &NodeRef<'_>, mark: &str, text: &str) {
    let is_one = text
        .trim_start_matches(['-', '−', '+'])
        .chars()
        .all(|char| char.is_alphanumeric() || matches!(char, '.' | ','));
    let (open, close) = if is_one { ("", "") } else { ("(", ")") };
    let tree = node.tree;
    node.prepend_child(&tree.new_text(format!("{mark}{open}")));
    if !close.is_empty() {
        node.append_child(&tree.new_text(close));
    }
}

/// Whether this is a reference to a footnote, such as `[12]`, or a link to another place on the page.
fn is_note_mark(sup: &NodeRef<'_>, text: &str) -> bool {
    (text.starts_with('[') && text.ends_with(']'))
        || Selection::from(*sup).select("a[href^='#']").exists()
}

fn is_exponent(text: &str) -> bool {
    let mut chars = text.chars();
    match chars.next() {
        Some('-' | '−' | '+') => text.chars().nth(1).is_some(),
        Some(first) if first.is_numeric() => true,
        Some(first) => {
            first.is_alphabetic() && chars.next().is_none_or(|next| !next.is_alphabetic())
        }
        None => false,
    }
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
