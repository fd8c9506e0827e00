//! Equations of Office documents as plain text, such as `a/b` and `√(x+1)`.

use std::mem;

use super::xml::Tag;
use crate::read::line::{grouped, index, power};

/// Elements whose children are the parts of one expression.
const EXPRESSIONS: [&str; 21] = [
    "f",
    "sSup",
    "sSub",
    "sSubSup",
    "sPre",
    "rad",
    "nary",
    "d",
    "func",
    "acc",
    "bar",
    "limLow",
    "limUpp",
    "m",
    "mr",
    "eqArr",
    "box",
    "borderBox",
    "groupChr",
    "phant",
    "oMath",
];
/// Elements that are a part of an expression.
const PARTS: [&str; 8] = ["num", "den", "e", "sup", "sub", "deg", "fName", "lim"];

/// An expression or a part of one.
#[derive(Debug, Default)]
struct Node {
    name: String,
    text: String,
    parts: Vec<(String, String)>,
    /// Characters and the type stated in its properties.
    properties: Vec<(String, String)>,
    /// Whether its text ends with a super- or subscript.
    ends_in_script: bool,
}

impl Node {
    /// Adds text, apart from a super- or subscript before it.
    fn push(&mut self, text: &str) {
        if mem::take(&mut self.ends_in_script) && text.starts_with(char::is_alphanumeric) {
            self.text.push(' ');
        }
        self.text.push_str(text);
    }

    fn part(&self, name: &str) -> &str {
        let found = self.parts.iter().find(|(known, _)| known == name);
        found.map_or("", |(_, text)| text)
    }

    fn all(&self, separator: &str) -> String {
        let parts: Vec<&str> = self.parts.iter().map(|(_, text)| text.as_str()).collect();
        parts.join(separator)
    }

    fn property<'a>(&'a self, name: &str, default: &'a str) -> &'a str {
        let found = self.properties.iter().find(|(known, _)| known == name);
        found.map_or(default, |(_, value)| value)
    }

    fn shown(&self) -> String {
        let base = || self.part("e");
        match self.name.as_str() {
            "f" if self.property("type", "") == "noBar" => {
                format!("binom({}, {})", self.part("num"), self.part("den"))
            }
            "f" => format!(
                "{}/{}",
                grouped(self.part("num")),
                grouped(self.part("den"))
            ),
            "sSup" => format!("{}{}", grouped(base()), power(self.part("sup"))),
            "sSub" => format!("{}{}", base(), index(self.part("sub"))),
            "sSubSup" => {
                let below = index(self.part("sub"));
                format!("{}{below}{}", base(), power(self.part("sup")))
            }
            "sPre" => {
                let below = index(self.part("sub"));
                format!("{below}{}{}", power(self.part("sup")), base())
            }
            "rad" if self.part("deg").is_empty() => format!("√{}", grouped(base())),
            "rad" => format!("{}√{}", power(self.part("deg")), grouped(base())),
            "nary" => {
                let below = index(self.part("sub"));
                let sign = self.property("chr", "∫");
                format!("{sign}{below}{} {}", power(self.part("sup")), base())
            }
            "d" => {
                let (begin, end) = (self.property("begChr", "("), self.property("endChr", ")"));
                format!("{begin}{}{end}", self.all(self.property("sepChr", "|")))
            }
            "func" => format!("{} {}", self.part("fName"), base()),
            "acc" => format!("{}{}", base(), self.property("chr", "\u{302}")),
            "bar" => format!("{}\u{305}", base()),
            "limLow" => format!("{}{}", base(), index(self.part("lim"))),
            "limUpp" => format!("{}{}", base(), power(self.part("lim"))),
            "m" => format!("[{}]", self.all("; ")),
            "mr" => self.all(", "),
            "eqArr" => self.all("; "),
            _ => format!("{}{}", self.text, self.all("")),
        }
    }
}

/// The equation being read.
#[derive(Debug, Default)]
pub(super) struct Math {
    open: Vec<Node>,
}

impl Math {
    /// The number of open elements; 0 outside equations.
    pub(super) fn depth(&self) -> usize {
        self.open.len()
    }

    pub(super) fn open(&mut self, tag: &Tag) {
        let name = tag.name.as_str();
        if name == "oMath" || (self.depth() > 0 && is_node(name)) {
            self.open.push(Node {
                name: tag.name.clone(),
                ..Node::default()
            });
        } else if matches!(name, "chr" | "begChr" | "endChr" | "sepChr" | "type")
            && let Some(node) = self.open.last_mut()
        {
            let value = tag.attribute("val").unwrap_or_default();
            node.properties.push((tag.name.clone(), value));
        }
    }

    pub(super) fn push(&mut self, text: &str) {
        if let Some(node) = self.open.last_mut() {
            node.push(text);
        }
    }

    /// Ends an element, and returns the equation if it is whole.
    pub(super) fn close(&mut self, name: &str) -> Option<String> {
        let node = self.open.pop_if(|node| node.name == name)?;
        let shown = if PARTS.contains(&name) {
            node.text
        } else {
            node.shown()
        };
        let Some(outer) = self.open.last_mut() else {
            return Some(shown);
        };
        if PARTS.contains(&name) || name == "mr" {
            outer.parts.push((node.name, shown));
        } else {
            outer.push(&shown);
            outer.ends_in_script =
                matches!(name, "sSub" | "sSup" | "sSubSup" | "limLow" | "limUpp");
        }
        None
    }
}

fn is_node(name: &str) -> bool {
    EXPRESSIONS.contains(&name) || PARTS.contains(&name)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::read::office::xml::{Item, Items};

    fn check(xml: &str, expected: &str) {
        let mut math = Math::default();
        let mut shown = Vec::new();
        for item in Items::new(&format!("<oMath>{xml}</oMath>")) {
            match item.unwrap() {
                Item::Open(tag) => math.open(&tag),
                Item::Text(text) => math.push(&text),
                Item::Close(name) => shown.extend(math.close(&name)),
            }
        }
        assert_eq!(shown, [expected]);
    }

    #[test]
    fn equations_are_written_in_a_line() {
        check("<f><num>a</num><den>b</den></f>", "a/b");
        check("x=<f><num>a+1</num><den>2b</den></f>", "x=(a+1)/2b");
        check(
            "<sSup><e>a</e><sup>2</sup></sSup>+<sSub><e>x</e><sub>i</sub></sSub>",
            "a^2+x_i",
        );
        check(
            "<rad><radPr><degHide val='1'/></radPr><deg/><e>b-4</e></rad>",
            "√(b-4)",
        );
        check(
            "<sSup><e>x</e><sup>k</sup></sSup><sSub><e>a</e><sub>0</sub></sSub>b",
            "x^k a_0 b",
        );
        check("<rad><deg>3</deg><e>x</e></rad>", "^3√x");
        check(
            "<nary><naryPr><chr val='∑'/></naryPr><sub>i=1</sub><sup>n</sup><e>i</e></nary>",
            "∑_(i=1)^n i",
        );
        check(
            "<f><fPr><type val='noBar'/></fPr><num>n</num><den>k</den></f>",
            "binom(n, k)",
        );
        check(
            "<d><dPr><begChr val='['/><endChr val=''/></dPr><e>a</e><e>b</e></d>",
            "[a|b",
        );
        check(
            "<m><mr><e>1</e><e>0</e></mr><mr><e>0</e><e>1</e></mr></m>",
            "[1, 0; 0, 1]",
        );
        check(
            "<func><fName>sin</fName><e>x</e></func><sSup><e><d><e>a+b</e></d></e><sup>n-1</sup></sSup>",
            "sin x(a+b)^(n-1)",
        );
    }
}
