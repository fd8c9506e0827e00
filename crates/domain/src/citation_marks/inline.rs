//! Code spans and the texts of links in a Markdown text.

use std::ops::Range;

/// Maximum length of the backticks around a code span.
const MAX_BACKTICKS: usize = 32;
/// Maximum length of a link's address and title, bytes.
const MAX_ADDRESS: usize = 2_000;

/// The paragraphs of a text outside of its code blocks, as ranges: nothing inline goes further.
fn paragraphs(text: &str, blocks: &[Range<usize>]) -> Vec<Range<usize>> {
    let mut paragraphs: Vec<Range<usize>> = Vec::new();
    let mut at = 0;
    let mut ends = true;
    let mut blocks = blocks.iter().peekable();
    for line in text.split_inclusive('\n') {
        let start = at;
        at += line.len();
        while blocks.next_if(|block| block.end <= start).is_some() {}
        let is_code = blocks.peek().is_some_and(|block| block.contains(&start));
        if is_code || line.trim().is_empty() {
            ends = true;
            continue;
        }
        match paragraphs.last_mut() {
            Some(last) if !ends => last.end = at,
            _ => paragraphs.push(start..at),
        }
        ends = false;
    }
    paragraphs
}

/// The code spans of a text, in order.
pub(super) fn code_spans(text: &str, blocks: &[Range<usize>]) -> Vec<Range<usize>> {
    let mut spans = Vec::new();
    if !text.contains('`') {
        return spans;
    }
    for paragraph in paragraphs(text, blocks) {
        let base = paragraph.start;
        let runs = backticks(&text.as_bytes()[paragraph]);
        // From where on there is no run of this length.
        let mut none_from = [usize::MAX; MAX_BACKTICKS + 1];
        let mut next = 0;
        while let Some(open) = runs.get(next) {
            next += 1;
            let length = open.range.len() - usize::from(open.is_escaped);
            if length == 0 || length > MAX_BACKTICKS || next >= none_from[length] {
                continue;
            }
            match runs[next..]
                .iter()
                .position(|run| run.range.len() == length)
            {
                Some(more) => {
                    let start = open.range.end - length;
                    spans.push(base + start..base + runs[next + more].range.end);
                    next += more + 1;
                }
                None => none_from[length] = next,
            }
        }
    }
    spans
}

/// A run of backticks; the first of an escaped one is text unless it closes a span.
struct Run {
    range: Range<usize>,
    is_escaped: bool,
}

fn backticks(bytes: &[u8]) -> Vec<Run> {
    let mut runs = Vec::new();
    let mut slashes = 0;
    let mut at = 0;
    while at < bytes.len() {
        let length = bytes[at..].iter().take_while(|b| **b == b'`').count();
        if length > 0 {
            runs.push(Run {
                range: at..at + length,
                is_escaped: slashes % 2 == 1,
            });
        }
        slashes = if bytes[at] == b'\\' { slashes + 1 } else { 0 };
        at += length.max(1);
    }
    runs
}

/// The texts of inline links with their brackets, in order and without those within others. `hidden` is code.
pub(super) fn link_texts(text: &str, hidden: &[Range<usize>]) -> Vec<Range<usize>> {
    let mut links: Vec<Range<usize>> = Vec::new();
    if !text.contains("](") {
        return links;
    }
    let bytes = text.as_bytes();
    for paragraph in paragraphs(text, hidden_blocks(text, hidden).as_slice()) {
        let mut open: Vec<usize> = Vec::new();
        let mut at = paragraph.start;
        let mut code = hidden.partition_point(|range| range.end <= at);
        while at < paragraph.end {
            if let Some(range) = hidden.get(code).filter(|range| range.start <= at) {
                at = range.end;
                code += 1;
                continue;
            }
            match bytes[at] {
                b'\\' => at += 1,
                b'[' => open.push(at),
                b']' => {
                    let start = open.pop();
                    if let Some(start) = start
                        && has_address(&text[at + 1..paragraph.end])
                    {
                        while links.last().is_some_and(|inner| inner.start > start) {
                            links.pop();
                        }
                        links.push(start..at + 1);
                    }
                }
                _ => {}
            }
            at += 1;
        }
    }
    links
}

/// The code that begins a line, which ends paragraphs.
fn hidden_blocks(text: &str, hidden: &[Range<usize>]) -> Vec<Range<usize>> {
    let begins_line = |at: usize| at == 0 || text.as_bytes()[at - 1] == b'\n';
    let ends_line = |at: usize| at == text.len() || text.as_bytes()[at - 1] == b'\n';
    let blocks = hidden
        .iter()
        .filter(|range| begins_line(range.start) && ends_line(range.end));
    blocks.cloned().collect()
}

/// Whether the text begins with the address of an inline link, in parentheses.
fn has_address(text: &str) -> bool {
    let Some(inside) = text.strip_prefix('(') else {
        return false;
    };
    let bytes = &inside.as_bytes()[..inside.len().min(MAX_ADDRESS)];
    let Some(end) = bytes.iter().position(|b| *b == b')') else {
        return false;
    };
    let inside = inside[..end].trim();
    inside.starts_with('<') || !inside.contains(char::is_whitespace) || inside.contains(['"', '\''])
}
