//! Jupyter notebooks as Markdown: text cells, code, and the text of outputs.

use std::fmt::Write;

use serde_json::Value;

use super::plain;
use crate::{
    document::Document,
    unreadable::{Limits, Unreadable},
};

/// Media types of outputs that are text, the preferred first.
const TEXT_TYPES: [&str; 3] = ["text/markdown", "text/latex", "text/plain"];

/// Reads a notebook of format 3 or 4.
///
/// # Errors
/// If it is none, or has too much text.
pub(super) fn read(bytes: &[u8], limits: &Limits) -> Result<Document, Unreadable> {
    let damaged = || Unreadable::damaged("Jupyter");
    let notebook: Value = serde_json::from_str(&plain::decode(bytes)?).map_err(|_| damaged())?;
    // Format 3 has cells in worksheets.
    let sheets = notebook.get("worksheets").and_then(Value::as_array);
    let cells = std::iter::once(&notebook)
        .chain(sheets.into_iter().flatten())
        .filter_map(|it| it.get("cells")?.as_array());
    let cells: Vec<&Value> = cells.flatten().collect();
    if cells.is_empty() {
        return Err(damaged());
    }
    let language = language(&notebook);
    let mut text = String::new();
    for cell in cells {
        write_cell(&mut text, cell, language);
        if text.len() as u64 > limits.text_bytes {
            return Err(Unreadable::TooMuchText {
                limit_bytes: limits.text_bytes,
            });
        }
    }
    Ok(Document::of_markdown(plain::tidy(&text)))
}

fn language(notebook: &Value) -> &str {
    let info = |path| notebook.pointer(path).and_then(Value::as_str);
    info("/metadata/language_info/name")
        .or_else(|| info("/metadata/kernelspec/language"))
        .filter(|name| {
            name.chars()
                .all(|char| char.is_alphanumeric() || "+#-".contains(char))
        })
        .unwrap_or_default()
}

fn write_cell(text: &mut String, cell: &Value, language: &str) {
    let source = joined(cell.get("source").or_else(|| cell.get("input")));
    match cell.get("cell_type").and_then(Value::as_str) {
        Some("code") => {
            write_fenced(text, language, &source);
            let outputs = cell.get("outputs").and_then(Value::as_array);
            for output in outputs.into_iter().flatten() {
                write_output(text, output);
            }
        }
        Some("heading") => {
            let level = cell.get("level").and_then(Value::as_u64).unwrap_or(1);
            let level = usize::try_from(level.clamp(1, 6)).unwrap_or(1);
            _ = write!(text, "{} {}\n\n", "#".repeat(level), source.trim());
        }
        _ if source.trim().is_empty() => {}
        _ => _ = write!(text, "{}\n\n", source.trim()),
    }
}

fn write_output(text: &mut String, output: &Value) {
    if let Some(name) = output.get("ename").and_then(Value::as_str) {
        let value = output.get("evalue").and_then(Value::as_str);
        return write_fenced(text, "", &format!("{name}: {}", value.unwrap_or_default()));
    }
    let data = output.get("data").unwrap_or(output);
    let shown = TEXT_TYPES.iter().find_map(|kind| {
        let found = joined(Some(data.get(kind)?));
        (!found.trim().is_empty()).then_some((*kind, found))
    });
    match shown {
        Some(("text/markdown", markdown)) => _ = write!(text, "{}\n\n", markdown.trim()),
        Some((_, shown)) => write_fenced(text, "", &shown),
        None => write_fenced(text, "", &joined(output.get("text"))),
    }
}

/// Writes a fenced block, with a fence that is not in it.
fn write_fenced(text: &mut String, language: &str, content: &str) {
    let content = content.trim_matches('\n').trim_end();
    if content.is_empty() {
        return;
    }
    let fence = if content.contains("```") {
        "~~~"
    } else {
        "```"
    };
    _ = write!(text, "{fence}{language}\n{content}\n{fence}\n\n");
}

/// Text, which is given as a string or as a list of lines.
fn joined(text: Option<&Value>) -> String {
    match text {
        Some(Value::String(text)) => text.clone(),
        Some(Value::Array(lines)) => lines.iter().filter_map(Value::as_str).collect(),
        _ => String::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(notebook: &str, expected: &str) {
        let document = read(notebook.as_bytes(), &Limits::default()).unwrap();
        assert_eq!(document.text, expected);
    }

    #[test]
    fn cells_and_their_outputs_are_read() {
        check(
            r##"{"metadata": {"language_info": {"name": "python"}}, "cells": [
                {"cell_type": "markdown", "source": ["# Sales\n", "of walruses"]},
                {"cell_type": "code", "source": "print(total)", "outputs": [
                    {"output_type": "stream", "text": ["400\n", "euros\n"]},
                    {"data": {"text/html": "<b>x</b>", "text/plain": ["   a\n", "0  1"]}},
                    {"data": {"image/png": "AAAA"}},
                    {"ename": "KeyError", "evalue": "'x'", "traceback": ["\u001b[31m"]}]},
                {"cell_type": "raw", "source": ""},
                {"cell_type": "code", "source": "\"```\"", "outputs": []}]}"##,
            "# Sales\nof walruses\n\n```python\nprint(total)\n```\n\n```\n400\neuros\n```\n\n\
             ```\n   a\n0  1\n```\n\n```\nKeyError: 'x'\n```\n\n~~~python\n\"```\"\n~~~\n\n",
        );
    }

    #[test]
    fn old_notebooks_have_worksheets() {
        check(
            r#"{"worksheets": [{"cells": [{"cell_type": "heading", "level": 2, "source": "Plan"},
                {"cell_type": "code", "input": "1+1", "outputs": [{"text": "2"}]}]}]}"#,
            "## Plan\n\n```\n1+1\n```\n\n```\n2\n```\n\n",
        );
    }

    #[test]
    fn what_is_no_notebook_is_refused() {
        for other in ["", "{}", "[]", "{\"cells\": 1}", "{\"cells\": [", "text"] {
            assert!(
                read(other.as_bytes(), &Limits::default()).is_err(),
                "{other}"
            );
        }
    }
}
