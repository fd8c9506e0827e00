//! The tour: a scripted model that demonstrates a real run on a machine without any model. Its text is fixed; its tools
//! and sub-agents really run, and its figures are read from their results.

mod rain;
mod texts;

use std::sync::Arc;

use domain::{Message, Role};
use llm::{
    ChatModel, ChatRequest, Line, ModelEvent, ScriptedModel,
    script::{call, interleave, reasoning, text},
};
use serde_json::{Value, json};
use texts::Texts;

use crate::Agents;

/// The tour's model id.
pub const NAME: &str = "tour";

const RAIN_PATH: &str = "/data/rain-2025.csv";
const MISSING_PATH: &str = "/data/rain-2024.csv";
const REPORT_PATH: &str = "/report.md";

/// The tour's model. `pace_ms` is the pause before each token.
#[must_use]
pub fn model(pace_ms: u64) -> ChatModel {
    let play = move |request: &ChatRequest<'_>| {
        script(request)
            .into_iter()
            .flat_map(|line| [pause_before(&line, pace_ms), line])
            .collect()
    };
    ChatModel::scripted(ScriptedModel::new(NAME, Arc::new(play)))
}

/// Words at reading speed; arguments, which can be long files, are faster.
fn pause_before(line: &Line, pace_ms: u64) -> Line {
    let is_argument = matches!(line, Line::Event(ModelEvent::ToolArgumentsDelta { .. }));
    Line::Pause {
        ms: if is_argument { pace_ms / 8 } else { pace_ms },
    }
}

/// The agents for the tour: one harmless tool requires approval, to demonstrate that.
#[must_use]
pub fn agents(agents: &Agents) -> Agents {
    let mut agents = agents.clone();
    agents.main.tools = agents.main.tools.with_approval("edit_file");
    agents
}

/// The events since the person's (or the calling agent's) last message.
struct Turn<'a> {
    task: String,
    /// Tool results, in order.
    results: Vec<&'a str>,
    /// Answers given so far.
    step: usize,
}

impl<'a> Turn<'a> {
    fn of(messages: &'a [Message]) -> Self {
        let asked = messages
            .iter()
            .rposition(|message| message.role == Role::User)
            .unwrap_or(0);
        let since = messages.get(asked + 1..).unwrap_or_default();
        let step = since
            .iter()
            .filter(|message| message.role == Role::Assistant)
            .count();
        let results = since.iter().filter(|message| message.role == Role::Tool);
        Self {
            task: messages
                .get(asked)
                .map(Message::plain_text)
                .unwrap_or_default(),
            results: results
                .flat_map(|message| message.content.first())
                .filter_map(text_of)
                .collect(),
            step,
        }
    }
}

fn text_of(part: &domain::Part) -> Option<&str> {
    part.as_text()
}

fn script(request: &ChatRequest<'_>) -> Vec<Line> {
    let turn = Turn::of(request.messages);
    let texts = Texts::for_reader(&turn.task);
    match texts.half_year_of(&turn.task) {
        Some(half) => read_half(texts, &turn, half),
        None => lead(texts, &turn),
    }
}

/// The main agent.
fn lead(texts: &Texts, turn: &Turn<'_>) -> Vec<Line> {
    match turn.step {
        0 => [reasoning(texts.thought), text(texts.hello), plan(texts, 0)].concat(),
        1 => [text(texts.writing), write(RAIN_PATH, &rain::csv())].concat(),
        2 => [
            text(texts.reading),
            interleave(vec![
                call(0, "read_file", &json!({"path": RAIN_PATH})),
                call(1, "read_file", &json!({"path": MISSING_PATH})),
            ]),
        ]
        .concat(),
        3 => [text(texts.missing), plan(texts, 1)].concat(),
        4 => [text(texts.handing_out), hand_out(texts)].concat(),
        5 => [reasoning(texts.second_thought), plan(texts, 2)].concat(),
        6 => write(REPORT_PATH, &report(texts, turn)),
        7 => [
            text(texts.before_approval),
            call(
                0,
                "edit_file",
                &json!({"path": REPORT_PATH, "old_text": texts.draft_mark, "new_text": texts.final_mark}),
            ),
        ]
        .concat(),
        8 => plan(texts, 4),
        _ => answer(texts, turn),
    }
}

/// One of the two sub-agents: looks up its half of the year and adds it up.
fn read_half(texts: &Texts, turn: &Turn<'_>, half: Half) -> Vec<Line> {
    match turn.step {
        0 => [
            text(texts.reader_hello),
            call(
                0,
                "grep",
                &json!({"path": RAIN_PATH, "pattern": half.pattern()}),
            ),
        ]
        .concat(),
        1 => [
            reasoning(texts.reader_thought),
            call(
                0,
                "grep",
                &json!({"path": RAIN_PATH, "pattern": half.dry_pattern()}),
            ),
        ]
        .concat(),
        _ => {
            let days = turn.results.first().copied().unwrap_or_default();
            text(&texts.reader_answer(half, rain::total_mm(days), rain::wettest(days)))
        }
    }
}

/// Half of the year 2025.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Half {
    First,
    Second,
}

impl Half {
    fn pattern(self) -> &'static str {
        match self {
            Self::First => "^2025-0[1-6]",
            Self::Second => "^2025-(0[7-9]|1[0-2])",
        }
    }

    fn dry_pattern(self) -> String {
        format!("{}-.*,0\\.0$", self.pattern())
    }
}

fn write(path: &str, content: &str) -> Vec<Line> {
    call(0, "write_file", &json!({"path": path, "content": content}))
}

/// The plan with the first `done` tasks completed.
fn plan(texts: &Texts, done: usize) -> Vec<Line> {
    let todo = |(index, task): (usize, &&str)| {
        let status = match index {
            index if index < done => "completed",
            index if index == done => "in_progress",
            _ => "pending",
        };
        json!({"content": task, "status": status})
    };
    let todos: Vec<Value> = texts.plan.iter().enumerate().map(todo).collect();
    call(0, "write_todos", &json!({"todos": todos}))
}

fn hand_out(texts: &Texts) -> Vec<Line> {
    let task = |index, half| {
        let description = texts.half_task(half, RAIN_PATH);
        call(
            index,
            "task",
            &json!({"description": description, "subagent_type": "explore"}),
        )
    };
    interleave(vec![task(0, Half::First), task(1, Half::Second)])
}

/// The figures of the whole year, from the actual result of reading the file.
fn year(turn: &Turn<'_>) -> Vec<(usize, f64)> {
    let file = turn
        .results
        .iter()
        .find(|result| result.contains("2025-01-01,"))
        .copied()
        .unwrap_or_default();
    rain::by_month(file)
}

fn report(texts: &Texts, turn: &Turn<'_>) -> String {
    let findings: Vec<&str> = turn
        .results
        .iter()
        .copied()
        .filter(|result| texts.is_finding(result))
        .collect();
    format!(
        "# {}\n\n{}\n\n{}\n",
        texts.report_title,
        texts.draft_mark,
        findings.join("\n\n")
    )
}

fn answer(texts: &Texts, turn: &Turn<'_>) -> Vec<Line> {
    let months = year(turn);
    let edited = turn
        .results
        .iter()
        .any(|result| result.contains(REPORT_PATH) && result.contains("version"))
        && !turn
            .results
            .iter()
            .any(|result| result.starts_with("Error: The person did not allow"));
    text(&texts.answer(&months, edited))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_what_happened_since_the_last_question() {
        let messages = [
            Message::text(Role::User, "first"),
            Message::text(Role::Assistant, "old"),
            Message::text(Role::User, "second"),
            Message::text(Role::Assistant, "new"),
            Message::tool_result("1", "result"),
        ];
        let turn = Turn::of(&messages);
        assert_eq!(
            (turn.task.as_str(), turn.step, turn.results),
            ("second", 1, vec!["result"])
        );
    }
}
