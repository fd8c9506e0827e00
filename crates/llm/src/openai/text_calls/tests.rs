//! Where calls are found in text, where not, and that no other text is lost or delayed.

use proptest::prelude::*;
use serde_json::json;

use super::*;

fn joined(pieces: Vec<Piece>) -> Vec<Piece> {
    let mut joined: Vec<Piece> = Vec::new();
    for piece in pieces {
        match (joined.last_mut(), piece) {
            (Some(Piece::Text(text)), Piece::Text(more)) => text.push_str(&more),
            (_, piece) => joined.push(piece),
        }
    }
    joined
}

fn text(text: &str) -> Piece {
    Piece::Text(text.to_owned())
}

fn ls(arguments: &str) -> Piece {
    Piece::Call {
        name: "ls".into(),
        arguments: arguments.to_owned(),
    }
}

#[test]
fn plain_text_is_not_delayed() {
    let mut parser = TextCallParser::new(["ls"], both());
    for (token, expected) in [
        ("A list: ", "A list: "),
        ("`", ""),
        ("x` ", "`x` "),
        ("```", ""),
        ("rust\n", "```rust\n"),
        ("let", "let"),
        ("\n```\n", "\n"),
        ("So: ", "```\nSo: "),
        ("```json\n{\"na", ""),
        ("me\":\"A", ""),
        ("da\",", "```json\n{\"name\":\"Ada\","),
        ("}", "}"),
    ] {
        let mut out = Vec::new();
        parser.push(token, &mut out);
        let expected = if expected.is_empty() {
            vec![]
        } else {
            vec![text(expected)]
        };
        assert_eq!(joined(out), expected, "{token:?}");
    }
}

/// A call in an example, a quotation or long prose is none.
#[test]
fn examples_stay_text() {
    let single = r#"{"name": "ls", "arguments": {"path": "/"}}"#;
    let list = r#"{"tool_calls": [{"name": "ls", "parameters": {}}]}"#;
    let prose = "This is a long story. ".repeat(30);
    for whole in [
        format!("The manual says:\n\n```json\n{single}\n```\n\nDo not run this."),
        format!("The manual says:\n\n```json\n{single}"),
        format!("They wrote:\n> {single}\nand\n > {list}\n> ```json\n> {list}\n> ```"),
        format!("Write \"{list}\" or “{list}”."),
        format!("{prose}\n{single}\nThe end."),
    ] {
        check_instructed(&whole, &[text(&whole)]);
    }
    let found = ls("{}");
    check_instructed(
        &format!("{prose}\n{list}"),
        &[text(&format!("{prose}\n")), found],
    );
}

fn instructed(tokens: &[&str], instructed: &CallSyntax, is_cut: bool) -> Vec<Piece> {
    let mut parser = TextCallParser::new(["ls", "python"], instructed.clone());
    let mut out = Vec::new();
    for token in tokens {
        parser.push(token, &mut out);
    }
    parser.finish(is_cut, &mut out);
    joined(out)
}

fn both() -> CallSyntax {
    CallSyntax {
        code: Some("python".into()),
        not_run: None,
        corrects: true,
    }
}

/// The pieces of an instructed model's answer, split at each position, too.
fn check_instructed(whole: &str, expected: &[Piece]) {
    assert_eq!(instructed(&[whole], &both(), false), expected, "{whole}");
    let tokens: Vec<String> = whole.chars().map(String::from).collect();
    let tokens: Vec<&str> = tokens.iter().map(String::as_str).collect();
    assert_eq!(
        instructed(&tokens, &both(), false),
        expected,
        "{whole} by character"
    );
    for (at, _) in whole.char_indices() {
        let (head, tail) = whole.split_at(at);
        assert_eq!(
            instructed(&[head, tail], &both(), false),
            expected,
            "{head:?} {tail:?}"
        );
    }
}

fn python(code: &str) -> Piece {
    Piece::Call {
        name: "python".into(),
        arguments: json!({ "code": code }).to_string(),
    }
}

#[test]
fn instructed_calls_are_found_in_prose() {
    let list = r#"{"tool_calls": [{"name": "ls", "parameters": {"path": "/"}}]}"#;
    let single = r#"{"name": "ls", "arguments": {"path": "/"}}"#;
    let found = ls(r#"{"path":"/"}"#);
    let one = std::slice::from_ref(&found);
    check_instructed(list, one);
    check_instructed(&format!(" \n{list}\n"), one);
    check_instructed(&format!("```json\n{list}\n```"), one);
    check_instructed(&format!("```\n{list}\n```\nI have looked: nothing."), one);
    check_instructed(&format!("<tool_call>{single}</tool_call>"), one);
    check_instructed(&format!("{list}}}}} Done, the files are a and b."), one);
    check_instructed(
        &format!("I look.\n\n{list}"),
        &[text("I look.\n\n"), found.clone()],
    );
    check_instructed(
        &format!("I look: {list} Okay?"),
        &[text("I look: "), found.clone()],
    );
    check_instructed(
        &format!("I look.\n{single}\nResult: a"),
        &[text("I look.\n"), found.clone()],
    );
    check_instructed(&format!("{list}\n{list}"), &[found.clone(), found.clone()]);
    check_instructed(
        r#"{"tool_calls": [{"name": "ls", "parameters": {}}, {"name": "gone", "parameters": {}}]}"#,
        &[
            ls("{}"),
            Piece::Call {
                name: "gone".into(),
                arguments: "{}".into(),
            },
        ],
    );
    check_instructed(
        r#"{"tool_calls": [{"function": {"name": "ls", "arguments": "{}"}}]}"#,
        &[ls("{}")],
    );
    check_instructed(r#"{"tool_calls": []}"#, &[]);
    check_instructed("{\"tool_calls\": []}\n\nParis.", &[text("Paris.")]);
    check_instructed(
        r#"Half: {"tool_calls": [{"name": "ls", "parameters": {"path": "/"}}"#,
        &[text("Half: "), found.clone()],
    );
    check_instructed(
        "```json\n{\"name\": \"ls\", \"arguments\": {\"path\": \"/\"}\n```",
        one,
    );
}

#[test]
fn prose_stays_text() {
    for whole in [
        "Hello, `code` and ``more`` and < and <b> and { and [1].",
        "In JSON: {\"a\": 1}\n{\"name\": \"Ada\"}\n[1, 2]\n{}",
        "Write `{\"tool_calls\": []}` to call.",
        "{\"tool_use\": [1]} {\"tool\": 1",
        "```python\nx = {\"tool_calls\": []}\n{\"name\": \"ls\", \"arguments\": {}}\n```\nSo.",
        "```json\n{\"name\": \"Ada\", \"arguments\": {}}\n```\nA person.",
        "```text\n<code_interpret\n```",
        "<code_interpreters>x</code_interpreters>",
        "a {                                                                                  \"tool_calls\"",
        "a {",
        "`",
        "```",
        "```js",
        "<code_interpreter",
        "<code_interpreter lang=",
    ] {
        check_instructed(whole, &[text(whole)]);
    }
    check_instructed("", &[]);
}

#[test]
fn code_in_tags_is_a_call() {
    let tag = "<code_interpreter type=\"code\" lang=\"python\">";
    let end = "</code_interpreter>";
    let code = "print(\"é\")\nx = {\"tool_calls\": []}";
    check_instructed(&format!("{tag}\n{code}\n{end}"), &[python(code)]);
    check_instructed(
        &format!("I try.\n{tag}{code}{end}\nIt prints é."),
        &[text("I try.\n"), python(code)],
    );
    check_instructed(
        &format!("{tag}\n```python\n{code}\n```\n{end}"),
        &[python(code)],
    );
    check_instructed(
        &format!("```xml\n{tag}\n{code}\n{end}\n```"),
        &[python(code)],
    );
    check_instructed(
        &format!("```python\n{tag}\n{code}\n{end}\n```"),
        &[python(code)],
    );
    check_instructed(&format!("{tag}{code}"), &[python(code)]);
    check_instructed(
        &format!("{tag}1{end}\n{tag}2{end}"),
        &[python("1"), python("2")],
    );
    check_instructed(&format!("{tag}{end}"), &[python("")]);
    check_instructed(
        "So: <code_interpreter type=\"code\" lang=\"R\">\nx <- 1\n</code_interpreter> Done.",
        &[text("So: \n```r\nx <- 1\n```\n Done.")],
    );
    let cut = instructed(&[tag, code], &both(), true);
    assert_eq!(
        cut,
        [text(&format!("\n```python\n{code}\n```\n"))],
        "half of the code is not run"
    );
    let without = CallSyntax {
        code: None,
        ..both()
    };
    let whole = format!("{tag}1{end}");
    assert_eq!(instructed(&[&whole], &without, false), [text(&whole)]);
    let over = CallSyntax {
        not_run: Some("(Not run.)".into()),
        ..without
    };
    for whole in [
        &whole,
        &format!("```python\n{whole}\n```"),
        &format!("{tag}1"),
    ] {
        assert_eq!(
            instructed(&[whole], &over, false)[0],
            text("\n```python\n1\n```\n\n(Not run.)\n"),
            "{whole}"
        );
    }
    let both = instructed(&[&format!("I try. {whole} So.")], &over, false);
    assert_eq!(
        both,
        [text("I try. \n```python\n1\n```\n\n(Not run.)\n So.")]
    );
}

#[test]
fn an_unreadable_call_is_reported_once() {
    for (whole, name) in [
        (
            r#"{"tool_calls": [{"name": "ls", "parameters": {"path": "#,
            "ls",
        ),
        (
            r#"{"tool_calls": [{"name": "ls", "parameters": {"path": '/'}}]}"#,
            "ls",
        ),
        (r#"{"tool_calls": 3}"#, "tool_calls"),
        (r#"{"name": "ls", "arguments": [1]}"#, "tool_calls"),
    ] {
        let read = instructed(&[whole], &both(), false);
        let [
            Piece::Call {
                name: read,
                arguments,
            },
        ] = read.as_slice()
        else {
            panic!("{read:?}")
        };
        assert_eq!(read, name, "{whole}");
        assert!(
            domain::message::arguments_value(arguments).is_string(),
            "{arguments}"
        );
        let again = instructed(
            &[whole],
            &CallSyntax {
                corrects: false,
                ..both()
            },
            false,
        );
        assert_eq!(again, [text(whole)]);
    }
    let half = r#"{"tool_calls": [{"name": "ls", "parameters": {"path": "/"}}"#;
    let cut = instructed(&[half], &both(), true);
    assert!(
        matches!(&cut[..], [Piece::Call { arguments, .. }] if arguments == half),
        "{cut:?}"
    );
}

#[test]
fn endless_calls_are_bounded() {
    let mut parser = TextCallParser::new(["ls"], both());
    let mut out = Vec::new();
    parser.push("{\"tool_calls\": [\"", &mut out);
    let chunk = "x".repeat(64 << 10);
    for _ in 0..40 {
        parser.push(&chunk, &mut out);
    }
    assert!(parser.held.len() <= MAX_CALL_BYTES + chunk.len() && !out.is_empty());
    let mut parser = TextCallParser::new(["python"], both());
    parser.push("<code_interpreter>", &mut out);
    for _ in 0..40 {
        parser.push(&chunk, &mut out);
    }
    assert!(parser.held.len() <= 1 << 20);
    let mut parser = TextCallParser::new(["ls"], both());
    out.clear();
    parser.push("{\"tool_calls\": [{\"name\": \"ls\"}]} and so", &mut out);
    assert!(
        parser.is_done() && parser.held.is_empty(),
        "what follows is made up"
    );
    // Quadratic time would be noticeable.
    for hostile in [
        "[\n",
        "{\"id\": \"\n",
        "{\n",
        "```\n{",
        "{\"tool_calls\":",
        "<code_interpreter>",
        "`{\"t",
    ] {
        let mut parser = TextCallParser::new(["ls"], both());
        parser.push(&hostile.repeat((4 << 20) / hostile.len()), &mut out);
        parser.finish(false, &mut out);
    }
}

proptest! {
    #[test]
    fn the_result_does_not_depend_on_chunking(
        tokens in proptest::collection::vec(
            prop_oneof![
                Just("```"), Just("`"), Just("json"), Just("\n"), Just("{"), Just("}"), Just("\""),
                Just("\"tool_calls\":"), Just("\"name\":"), Just("\"ls\""), Just("\"parameters\":{}"),
                Just("<code_interpreter>"), Just("</code_interpreter>"), Just("<tool_call>"), Just("é"),
                Just("["), Just("]"), Just(","), Just(" "),
            ],
            0..30,
        )
    ) {
        let whole = tokens.concat();
        let over = CallSyntax { code: None, not_run: Some("(Not run.)".into()), ..both() };
        let characters: Vec<String> = whole.chars().map(String::from).collect();
        let characters: Vec<&str> = characters.iter().map(String::as_str).collect();
        for what in [both(), over] {
            let once = instructed(&[&whole], &what, false);
            prop_assert_eq!(instructed(&tokens, &what, false), once.clone());
            prop_assert_eq!(instructed(&characters, &what, false), once);
        }
    }

    #[test]
    fn nothing_is_lost(
        tokens in proptest::collection::vec(
            prop_oneof![
                Just("```"), Just("`"), Just("json"), Just("\n"), Just("{"), Just("}"), Just("\""),
                Just("\"name\":"), Just("\"no\""), Just("<tool_call>"), Just("</tool_call>"), Just("é"),
                Just("["), Just("]"), Just(","), Just("\\"), Just(" "),
            ],
            0..30,
        )
    ) {
        let whole = tokens.concat();
        let read = instructed(&tokens, &both(), false);
        let all: String = read.iter().map(|piece| match piece {
            Piece::Text(text) => text.as_str(),
            Piece::Call { .. } => "(call)",
        }).collect();
        // Space before a possible call is dropped.
        prop_assert_eq!(all.trim_start(), whole.trim_start());
    }
}
