//! The split of text into reasoning and answer, at any chunking.

use super::*;

/// The reasoning, the answer and the other pieces; text that was reclassified counts as reasoning.
fn read(
    mut thinking: Thinking,
    whole: &str,
    size: usize,
) -> (String, String, Vec<Segment>, Option<bool>) {
    let chars: Vec<char> = whole.chars().collect();
    let mut said = Vec::new();
    for piece in chars.chunks(size) {
        thinking.push(&piece.iter().collect::<String>(), &mut said);
    }
    thinking.finish(true, &mut said);
    let mut reasoning = String::new();
    let mut answer = String::new();
    let mut calls = Vec::new();
    for said in said {
        match said {
            Segment::Reasoning(text) => reasoning.push_str(&text),
            Segment::Answer(text) => answer.push_str(&text),
            Segment::WasReasoning => reasoning.push_str(&std::mem::take(&mut answer)),
            call @ Segment::Call { .. } => calls.push(call),
        }
    }
    (reasoning, answer, calls, thinking.begins_inside())
}

fn check(whole: &str, reasoning: &str, answer: &str) {
    for size in [1, 3, 1000] {
        let read = read(Thinking::default(), whole, size);
        assert_eq!(
            (read.0.as_str(), read.1.as_str()),
            (reasoning, answer),
            "{whole} by {size}"
        );
    }
}

#[test]
fn only_at_the_beginning() {
    check("<think>hm, é < 3</think>\n\nHello", "hm, é < 3", "Hello");
    check("\n<think>\n</think>Hello", "\n", "Hello");
    check("<think>never closed", "never closed", "");
    check("Hello <think>x</think>", "", "Hello <think>x</think>");
    check("<thin air>", "", "<thin air>");
    check("<thi", "", "<thi");
    check(" Hello", "", " Hello");
    check("a <b> < </thin", "", "a <b> < </thin");
    check("", "", "");
}

#[test]
fn every_tag_and_several_blocks() {
    check(
        "<thinking> hm hm </thinking> The answer is 4.",
        " hm hm ",
        "The answer is 4.",
    );
    check(
        "<think>one</think>\n<think>two</think>\nThe answer is 4.",
        "one\n\ntwo",
        "The answer is 4.",
    );
    check("[THINK]hm[/THINK]4", "hm", "4");
    check("◁think▷hm◁/think▷4", "hm", "4");
    check("<think>a</think><b>c</b>", "a", "<b>c</b>");
    check("<think>a</think> <", "a", "<");
}

#[test]
fn a_lone_closing_tag_ends_reasoning() {
    check(
        "The tool says nothing.\n</think>\n\nThe answer is 4.",
        "The tool says nothing.\n",
        "The answer is 4.",
    );
    check("</think>\n\nHello", "", "Hello");
    check("hm</thinking>Hello", "hm", "Hello");
    check("Try ```a``` first.\n</think>4", "Try ```a``` first.\n", "4");
    check("<think>a</think>b</think>c", "ab", "c");
    for prose in [
        "The tag `</think>` ends it.",
        "Write \"</think>\" at the end.</think>",
        "A block is <think>x</think> in the text.",
        "a </thin> b",
        "So:\n```html\nhm\n</think>\n4\n```\nThat is all.",
    ] {
        check(prose, "", prose);
    }
    assert_eq!(read(Thinking::default(), "hm</think>4", 2).3, Some(true));
    assert_eq!(read(Thinking::default(), "</think>4", 2).3, None);
}

#[test]
fn a_model_that_starts_inside_its_reasoning() {
    for size in [1, 1000] {
        let known = |whole: &str| read(Thinking::presumed(), whole, size);
        let all = |reasoning: &str, answer: &str, inside| {
            (reasoning.to_owned(), answer.to_owned(), Vec::new(), inside)
        };
        assert_eq!(known("hm\n</think>\n\n4"), all("hm\n", "4", Some(true)));
        assert_eq!(
            known("<think>hm</think>4"),
            all("hm", "4", None),
            "the tag says it"
        );
        assert_eq!(
            known("Just 4."),
            all("Just 4.", "Just 4.", Some(false)),
            "the answer is not lost"
        );
    }
    let mut said = Vec::new();
    let mut cut = Thinking::presumed();
    cut.push("hm", &mut said);
    cut.finish(false, &mut said);
    assert_eq!(said, [Segment::Reasoning("hm".into())]);
}

#[test]
fn the_channels_of_harmony() {
    let analysis = "<|channel|>analysis<|message|>hm < 3<|end|>";
    check(
        &format!("{analysis}<|start|>assistant<|channel|>final<|message|>4.<|return|>"),
        "hm < 3",
        "4.",
    );
    check(
        "<|start|>assistant<|channel|>final<|message|>a <|b|> c",
        "",
        "a <|b|> c",
    );
    check(
        "<|channel|>commentary<|message|>I look.<|end|>",
        "",
        "I look.",
    );
    check("<|channel|>analysis<|message|>cut", "cut", "");
    for size in [1, 1000] {
        let whole = format!(
            "{analysis}<|start|>assistant<|channel|>commentary to=functions.ls <|constrain|>json<|message|>{{\"a\":1}}<|call|>"
        );
        let (reasoning, answer, calls, _) = read(Thinking::default(), &whole, size);
        assert_eq!((reasoning.as_str(), answer.as_str()), ("hm < 3", ""));
        assert_eq!(
            calls,
            [Segment::Call {
                name: "ls".into(),
                arguments: "{\"a\":1}".into()
            }]
        );
    }
}
