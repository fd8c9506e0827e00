//! `?format=markup` and `?format=details`: golden texts, and properties of every log.

use domain::{EventBody, RunEvent};
use sse::Frame;
use wire::{
    details::DetailsEncoder,
    markup::{MarkupEncoder, Writing},
};

use crate::{
    column::{assert_resumes, encode, on_every_log, on_every_run, payloads, readable},
    scenarios,
};

const BOTH: [Writing; 2] = [Writing::Append, Writing::Replace];

/// The final text of a reader that only knows texts.
fn shown(frames: &[Frame]) -> String {
    let mut text = String::new();
    for frame in payloads(frames) {
        let content = frame["data"]["content"].as_str().unwrap_or_default();
        match frame["type"].as_str().unwrap() {
            "replace" => content.clone_into(&mut text),
            "token" => text.push_str(content),
            _ => {}
        }
    }
    text
}

/// The frames, and below them the accumulated text.
fn golden(frames: &[Frame]) -> String {
    let text = shown(frames);
    let end = text.floor_char_boundary(3_000);
    format!(
        "{}\n\n======== shown ========\n{}",
        readable(frames),
        text[..end].replace('\0', "\\0")
    )
}

fn answer(log: &[RunEvent]) -> String {
    let mut summary = domain::RunSummary::default();
    log.iter().for_each(|event| summary.push(event));
    summary.answer
}

fn finished_calls(log: &[RunEvent]) -> usize {
    log.iter()
        .filter(|event| matches!(event.body, EventBody::ToolFinished { .. }))
        .count()
}

fn calls(log: &[RunEvent]) -> usize {
    log.iter()
        .filter(|event| matches!(event.body, EventBody::ToolRequested { .. }))
        .count()
}

#[test]
fn golden_markup() {
    for (name, log) in scenarios::all() {
        let frames = encode(MarkupEncoder::new(Writing::Append), &log);
        insta::assert_snapshot!(format!("markup__{name}"), golden(&frames));
        if ["tool", "sub_agents"].contains(&name) {
            let frames = encode(MarkupEncoder::new(Writing::Replace), &log);
            insta::assert_snapshot!(format!("markup_replace__{name}"), golden(&frames));
        }
    }
}

#[test]
fn golden_details() {
    for (name, log) in scenarios::all() {
        let frames = encode(DetailsEncoder::new(Writing::Append), &log);
        insta::assert_snapshot!(format!("details__{name}"), golden(&frames));
        if ["tool", "parallel_tools"].contains(&name) {
            let frames = encode(DetailsEncoder::new(Writing::Replace), &log);
            insta::assert_snapshot!(format!("details_replace__{name}"), golden(&frames));
        }
    }
}

#[test]
fn one_block_for_all_steps_and_the_answer_below_it() {
    on_every_run(|name, log| {
        for writing in BOTH {
            let text = shown(&encode(MarkupEncoder::new(writing), log));
            let answer = answer(log);
            let above = text
                .strip_suffix(&answer)
                .unwrap_or_else(|| panic!("{name} {writing:?}: {text}"));
            let blocks = usize::from(calls(log) > 0);
            assert_eq!(
                above.matches("<details").count(),
                blocks,
                "{name} {writing:?}: {text}"
            );
            assert_eq!(
                above.matches("</details>").count(),
                blocks,
                "{name} {writing:?}"
            );
            let tags = above.matches('<').count();
            assert_eq!(
                tags,
                4 * blocks,
                "{name} {writing:?}: only our own tags: {above}"
            );
            assert_eq!(
                above
                    .lines()
                    .filter(|line| line.starts_with("**🔧"))
                    .count(),
                calls(log),
                "{name}"
            );
        }
        let mut encoder = MarkupEncoder::new(Writing::Replace);
        let frames: Vec<Frame> = log.iter().flat_map(|event| encoder.push(event)).collect();
        assert_eq!(encoder.content(), shown(&frames), "{name}");
        let count = calls(log);
        let summary = format!(
            "<details>\n<summary>🔍 Execution Steps ({count} tool{})</summary>",
            if count == 1 { "" } else { "s" }
        );
        assert_eq!(
            encoder.content().contains(&summary),
            count > 0,
            "{name}: folded, with the count"
        );
    });
}

/// Where an answer is followed by more work, a reader that can only append gets a block for each piece of it.
#[test]
fn blocks_close_and_nothing_is_lost() {
    on_every_log(|name, log| {
        for writing in BOTH {
            let text = shown(&encode(MarkupEncoder::new(writing), log));
            let mut open = false;
            for line in text
                .lines()
                .filter(|line| line.contains("details") && line.starts_with('<'))
            {
                assert_ne!(
                    open,
                    line.starts_with("<details"),
                    "{name} {writing:?}: {text}"
                );
                open = !open;
            }
            assert!(!open, "{name} {writing:?}: {text}");
            assert_eq!(
                text.lines().filter(|line| line.starts_with("**🔧")).count(),
                calls(log),
                "{name}"
            );
            let elements = shown(&encode(DetailsEncoder::new(writing), log));
            let finished = elements
                .matches("<details type=\"tool_calls\" done=\"true\"")
                .count();
            assert_eq!(
                (finished, elements.contains("done=\"false\"")),
                (finished_calls(log), false),
                "{name}"
            );
        }
    });
}

#[test]
fn one_element_for_each_finished_call() {
    on_every_run(|name, log| {
        for writing in BOTH {
            let text = shown(&encode(DetailsEncoder::new(writing), log));
            let answer = answer(log);
            let above = text
                .strip_suffix(&answer)
                .unwrap_or_else(|| panic!("{name} {writing:?}: {text}"));
            assert_eq!(
                above
                    .matches("<details type=\"tool_calls\" done=\"true\"")
                    .count(),
                finished_calls(log),
                "{name}"
            );
            assert!(
                !above.contains("done=\"false\""),
                "{name}: the pending element was replaced"
            );
            for element in above.split("<details ").skip(1) {
                let (tag, _) = element.split_once(">\n").unwrap();
                let attributes = if tag.contains(" error=\"true\"") {
                    9
                } else {
                    8
                };
                assert!(
                    !tag.contains('\n') && tag.matches('"').count() == 2 * attributes,
                    "{name}: {tag}"
                );
            }
        }
        let mut encoder = DetailsEncoder::new(Writing::Replace);
        let frames: Vec<Frame> = log.iter().flat_map(|event| encoder.push(event)).collect();
        assert_eq!(encoder.content(), shown(&frames), "{name}");
    });
}

/// The attributes, parsed like Open WebUI, match the log.
#[test]
fn document_001_attributes_hold_json_and_failed_calls_say_so() {
    let unescape = |text: &str| {
        let entities = [
            ("&lt;", "<"),
            ("&gt;", ">"),
            ("&quot;", "\""),
            ("&#x27;", "'"),
            ("&amp;", "&"),
        ];
        entities
            .iter()
            .fold(text.to_owned(), |text, (entity, letter)| {
                text.replace(entity, letter)
            })
    };
    for (name, log) in scenarios::all() {
        let text = shown(&encode(DetailsEncoder::new(Writing::Append), &log));
        let mut elements = text.split("<details type=\"tool_calls\"").skip(1);
        for event in &log {
            let EventBody::ToolFinished {
                arguments,
                result,
                error,
                ..
            } = &event.body
            else {
                continue;
            };
            let element = elements.next().unwrap();
            let read = |attribute: &str| -> serde_json::Value {
                let value = element
                    .split_once(&format!(" {attribute}=\""))
                    .unwrap()
                    .1
                    .split('"')
                    .next();
                serde_json::from_str(&unescape(value.unwrap())).unwrap()
            };
            assert_eq!(&read("arguments"), arguments, "{name}");
            let result = if *error {
                format!("Error: {result}")
            } else {
                result.clone()
            };
            assert_eq!(element.contains(" error=\"true\""), *error, "{name}");
            let summary = if *error {
                "Tool Failed"
            } else {
                "Tool Executed"
            };
            assert!(
                element.contains(&format!("<summary>{summary}</summary>")),
                "{name}"
            );
            let cut: String = result.chars().take(10_000).collect();
            assert!(read("result").as_str().unwrap().starts_with(&cut), "{name}");
        }
    }
}

/// A long text is shown as it comes, even if it can only be appended.
#[test]
fn a_long_answer_flows() {
    let (_, mut log) = scenarios::all()
        .into_iter()
        .find(|(name, _)| *name == "tool")
        .unwrap();
    let at = log
        .iter()
        .rposition(|event| matches!(event.body, EventBody::TextDelta { .. }))
        .unwrap();
    let delta = log.remove(at);
    let words: Vec<String> = (0..300).map(|number| format!("word{number} ")).collect();
    let with = |words: &str| {
        let mut event = delta.clone();
        if let EventBody::TextDelta { delta, .. } = &mut event.body {
            words.clone_into(delta);
        }
        event
    };
    let deltas: Vec<RunEvent> = words.iter().map(|word| with(word)).collect();
    log.splice(at..at, deltas);
    if let EventBody::TextFinished { text, .. } = &mut log[at + words.len()].body {
        *text = words.concat();
    }
    for (at, event) in log.iter_mut().enumerate() {
        event.seq = at as u64 + 1;
    }
    assert_eq!(domain::laws::check(&log), Ok(()));
    let frames = encode(MarkupEncoder::new(Writing::Append), &log);
    assert!(frames.len() > 140, "{}", frames.len());
    assert!(shown(&frames).ends_with(&format!("</details>\n\n{}", words.concat())));
    assert_resumes("long answer", &log, || MarkupEncoder::new(Writing::Append));
}

#[test]
fn a_replay_without_deltas_shows_the_same() {
    on_every_run(|name, log| {
        for writing in BOTH {
            let short: Vec<&RunEvent> = log.iter().filter(|event| !event.body.is_delta()).collect();
            let markup = |log: Vec<&RunEvent>| shown(&encode(MarkupEncoder::new(writing), log));
            assert_eq!(
                markup(short.clone()),
                markup(log.iter().collect()),
                "{name}"
            );
            let details = |log: Vec<&RunEvent>| shown(&encode(DetailsEncoder::new(writing), log));
            assert_eq!(details(short), details(log.iter().collect()), "{name}");
        }
    });
}

#[test]
fn a_reader_can_come_back_after_any_event() {
    on_every_log(|name, log| {
        for writing in BOTH {
            assert_resumes(name, log, || MarkupEncoder::new(writing));
            assert_resumes(name, log, || DetailsEncoder::new(writing));
        }
    });
}
