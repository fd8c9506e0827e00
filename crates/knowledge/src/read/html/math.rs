//! Equations of web pages and OpenDocument files (MathML) as plain text, such as `a/b` and `√(x+1)`.

use dom_query::{Document as Dom, NodeRef};

use super::scan;
use crate::read::line::{grouped, index, power};

/// Equations may be nested to this depth; what is deeper is not structured.
const MAX_DEPTH: usize = 100;
/// Signs between spaces.
const RELATIONS: &str = "=<>≤≥≠≈≡∼≃≅→⇒⇔↔∈∉⊂⊆:";
/// Signs that are drawn over a letter.
const ACCENTS: &str = "^ˆ~˜¯‾→⃗˙¨";

/// Replaces an equation by its text.
pub(super) fn normalize(math: &NodeRef<'_>) {
    let text = text(math);
    math.insert_before(&math.tree.new_text(text));
    math.remove_from_parent();
}

/// The text of a file with an equation, `None` if it has none that can be read.
pub(in crate::read) fn of_file(xml: &str) -> Option<String> {
    // Old programs write a prefix, which HTML does not know.
    let xml = xml.replace("<math:", "<").replace("</math:", "</");
    if !scan::is_bearable(&xml) {
        return None;
    }
    let dom = Dom::from(xml);
    let found = dom.select("math");
    let text = text(found.nodes().first()?);
    (!text.is_empty()).then_some(text)
}

fn text(math: &NodeRef<'_>) -> String {
    let shown = row(&math.element_children(), MAX_DEPTH).text;
    shown.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// A part of an equation.
#[derive(Default)]
struct Part {
    text: String,
    /// Whether it ends with a super- or subscript.
    ends_in_script: bool,
}

impl Part {
    fn of(text: impl Into<String>) -> Self {
        Self {
            text: text.into(),
            ends_in_script: false,
        }
    }

    fn scripted(text: String) -> Self {
        Self {
            text,
            ends_in_script: true,
        }
    }
}

/// Parts beside each other.
fn row(nodes: &[NodeRef<'_>], depth: usize) -> Part {
    let mut all = Part::default();
    for node in nodes {
        let part = part(node, depth);
        if all.ends_in_script && part.text.starts_with(char::is_alphanumeric) {
            all.text.push(' ');
        }
        all.text.push_str(&part.text);
        if !part.text.is_empty() {
            all.ends_in_script = part.ends_in_script;
        }
    }
    all
}

fn part(node: &NodeRef<'_>, depth: usize) -> Part {
    let Some(depth) = depth.checked_sub(1) else {
        return Part::of(node.text().trim());
    };
    let name = node.node_name().unwrap_or_default();
    let children = node.element_children();
    let child = |at: usize| {
        let found = children.get(at).map(|child| part(child, depth));
        found.unwrap_or_default().text.trim().to_owned()
    };
    match &*name {
        "mi" | "mn" | "mtext" | "ms" | "mo" => Part::of(sign(&name, node.text().trim())),
        "mspace" => Part::of(" "),
        "annotation" | "annotation-xml" | "mphantom" | "none" | "mprescripts" => Part::default(),
        "semantics" => row(children.get(..1).unwrap_or_default(), depth),
        "mfrac" => Part::of(format!("{}/{}", grouped(&child(0)), grouped(&child(1)))),
        "msqrt" => Part::of(format!("√{}", grouped(row(&children, depth).text.trim()))),
        "mroot" => Part::of(format!("{}√{}", power(&child(1)), grouped(&child(0)))),
        "msup" => Part::scripted(format!("{}{}", grouped(&child(0)), power(&child(1)))),
        "msub" | "munder" => Part::scripted(format!("{}{}", child(0), index(&child(1)))),
        "mover" if is_accent(&child(1)) => Part::of(child(0) + &child(1)),
        "mover" => Part::scripted(format!("{}{}", child(0), power(&child(1)))),
        "msubsup" | "munderover" => {
            let scripts = index(&child(1)) + &power(&child(2));
            Part::scripted(child(0) + &scripts)
        }
        "mfenced" => {
            let mark = |name: &str, usual| node.attr(name).map_or(usual, |mark| mark.to_string());
            let (open, close) = (mark("open", "(".to_owned()), mark("close", ")".to_owned()));
            let parts: Vec<String> = (0..children.len()).map(child).collect();
            Part::of(format!("{open}{}{close}", parts.join(", ")))
        }
        "mtable" => {
            let rows: Vec<String> = (0..children.len()).map(child).collect();
            Part::of(format!("[{}]", rows.join("; ")))
        }
        "mtr" => {
            let cells: Vec<String> = (0..children.len()).map(child).collect();
            Part::of(cells.join(", "))
        }
        _ if children.is_empty() => Part::of(node.text().trim()),
        _ => row(&children, depth),
    }
}

/// An identifier, a number or an operator. Words and relations stand between spaces.
fn sign(name: &str, text: &str) -> String {
    // The application of a function, and the product, sum or list of what is beside each other.
    let text = text.replace(['\u{2061}', '\u{2062}', '\u{2063}', '\u{2064}'], "");
    let is_word = name == "mi" && text.chars().nth(1).is_some() || name == "mtext";
    let is_relation = name == "mo" && text.chars().any(|char| RELATIONS.contains(char));
    if is_word || is_relation {
        format!(" {text} ")
    } else {
        text
    }
}

fn is_accent(text: &str) -> bool {
    !text.is_empty() && text.chars().all(|char| ACCENTS.contains(char))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equations_are_written_in_a_line() {
        for (math, expected) in [
            (
                "<semantics><mrow><mi>E</mi><mo>=</mo><mi>m</mi><msup><mi>c</mi><mn>2</mn></msup></mrow>\
                 <annotation encoding='StarMath 5.0'>E = m c^2</annotation></semantics>",
                "E = mc^2",
            ),
            (
                "<mi>x</mi><mo>=</mo><mfrac><mrow><mo>−</mo><mi>b</mi><mo>±</mo><msqrt><msup><mi>b</mi><mn>2</mn></msup>\
                 <mo>−</mo><mn>4</mn><mi>a</mi><mi>c</mi></msqrt></mrow><mrow><mn>2</mn><mi>a</mi></mrow></mfrac>",
                "x = (−b±√(b^2−4ac))/2a",
            ),
            (
                "<munderover><mo>∑</mo><mrow><mi>n</mi><mo>=</mo><mn>1</mn></mrow><mi>∞</mi></munderover>\
                 <mfrac><mn>1</mn><msub><mi>n</mi><mi>i</mi></msub></mfrac>",
                "∑_(n = 1)^∞ 1/n_i",
            ),
            ("<mi>sin</mi><mo>&ApplyFunction;</mo><mi>x</mi>", "sin x"),
            (
                "<mover accent='true'><mi>x</mi><mo>¯</mo></mover><mroot><mi>y</mi><mn>3</mn></mroot>",
                "x¯^3√y",
            ),
            (
                "<mfenced open='['><mi>a</mi><mi>b</mi></mfenced><mtable><mtr><mtd><mn>1</mn></mtd><mtd><mn>0</mn></mtd></mtr>\
                 <mtr><mtd><mn>0</mn></mtd></mtr></mtable>",
                "[a, b)[1, 0; 0]",
            ),
        ] {
            let file = format!("<?xml version='1.0'?><math xmlns='x'>{math}</math>");
            assert_eq!(of_file(&file).as_deref(), Some(expected));
        }
        assert_eq!(
            of_file("<math:math><math:mi>a</math:mi></math:math>").as_deref(),
            Some("a")
        );
        assert_eq!(of_file("<office:chart/>"), None);
        let deep = format!("<math>{}x", "<mrow>".repeat(1_000));
        assert_eq!(of_file(&deep).as_deref(), Some("x"));
    }
}
