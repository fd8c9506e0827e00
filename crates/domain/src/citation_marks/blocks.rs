//! Code blocks of a Markdown text, by lines: fenced and indented.

use std::ops::Range;

/// An open fence: its character, its length, and where its line begins and ends.
struct Fence<'a> {
    mark: u8,
    length: usize,
    start: usize,
    line: &'a str,
}

/// The places of the code blocks in a text, in bytes, in order.
pub(super) fn code_blocks(text: &str) -> Vec<Range<usize>> {
    scan(text).0
}

/// The line that opens the code block in which the text ends; `None` if it does not end in one.
#[must_use]
pub fn open_fence(text: &str) -> Option<&str> {
    scan(text).1.map(|fence| fence.line)
}

fn scan(text: &str) -> (Vec<Range<usize>>, Option<Fence<'_>>) {
    let mut blocks = Vec::new();
    let mut open: Option<Fence<'_>> = None;
    // An indented line is code after a blank line, unless it belongs to a list.
    let mut after_blank = true;
    let mut in_list = false;
    let mut in_indented = false;
    let mut at = 0;
    for line in text.split_inclusive('\n') {
        let start = at;
        at += line.len();
        let content = line.trim_start_matches(['>', ' ', '\t']).trim_end();
        if let Some(fence) = &open {
            let closes = fence_of(content).is_some_and(|(mark, length, info)| {
                mark == fence.mark && length >= fence.length && info.is_empty()
            });
            if closes {
                blocks.push(fence.start..at);
                open = None;
                after_blank = false;
            }
            continue;
        }
        if let Some((mark, length, info)) = fence_of(content)
            && (mark == b'~' || !info.contains('`'))
        {
            open = Some(Fence {
                mark,
                length,
                start,
                line,
            });
            continue;
        }
        if line.trim().is_empty() {
            after_blank = true;
            continue;
        }
        let indent = indent_of(line);
        in_indented = indent >= 4 && !in_list && (after_blank || in_indented);
        if in_indented {
            blocks.push(start..at);
        } else if is_list_item(content) && indent < 4 {
            in_list = true;
        } else if indent < 2 && after_blank {
            in_list = false;
        }
        after_blank = false;
    }
    blocks.extend(open.as_ref().map(|fence| fence.start..text.len()));
    (blocks, open)
}

/// The character and length of a line's code fence, and what follows it.
fn fence_of(content: &str) -> Option<(u8, usize, &str)> {
    let mark = content
        .bytes()
        .next()
        .filter(|b| matches!(b, b'`' | b'~'))?;
    let length = content.bytes().take_while(|b| *b == mark).count();
    (length >= 3).then(|| (mark, length, content[length..].trim()))
}

fn indent_of(line: &str) -> usize {
    let mut indent = 0;
    for c in line.chars() {
        match c {
            ' ' => indent += 1,
            '\t' => indent += 4,
            _ => break,
        }
    }
    indent
}

fn is_list_item(content: &str) -> bool {
    let digits = content.bytes().take_while(u8::is_ascii_digit).count();
    let rest = match digits {
        0 => content.strip_prefix(['-', '*', '+']),
        1..=9 => content[digits..].strip_prefix(['.', ')']),
        _ => None,
    };
    rest.is_some_and(|rest| rest.is_empty() || rest.starts_with([' ', '\t']))
}
