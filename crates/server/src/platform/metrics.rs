//! Figures of all runs since the program started, in the text format of Prometheus. They are read from the runs' events.

use std::{
    fmt::Write as _,
    sync::atomic::{AtomicU64, Ordering::Relaxed},
    time::Duration,
};

use domain::{EventBody, Outcome, RunEvent, Usage, event::Decision};
use llm::openai::AttemptCounts;

use crate::platform::jobs::JobStatus;

/// Counts events. Nothing in it is named by a model or a person, so its size does not depend on them.
#[derive(Debug, Default)]
pub struct Metrics {
    started: AtomicU64,
    resumed: AtomicU64,
    finished: [AtomicU64; OUTCOMES.len()],
    model_calls: Histogram,
    first_tokens: Histogram,
    input_tokens: AtomicU64,
    output_tokens: AtomicU64,
    cost_micro_usd: AtomicU64,
    compactions: AtomicU64,
    tool_calls: [AtomicU64; TOOL_ENDS.len()],
    approvals: [AtomicU64; DECISIONS.len()],
    questions: AtomicU64,
    traces_sent: AtomicU64,
    traces_dropped: AtomicU64,
    /// Of looks at chats to learn from them, which belong to no run.
    pub learning: Learning,
}

/// Counts looks at chats to learn about people.
#[derive(Debug, Default)]
pub struct Learning {
    looks: [AtomicU64; LOOK_ENDS.len()],
    input_tokens: AtomicU64,
    output_tokens: AtomicU64,
    cost_micro_usd: AtomicU64,
}

const LOOK_ENDS: [&str; 3] = ["ok", "not_understood", "failed"];

impl Learning {
    /// Takes note of a look that the model has answered, perhaps in a way that could not be understood.
    pub fn note(&self, understood: bool, usage: Usage, cost_micro_usd: Option<u64>) {
        add(&self.looks[usize::from(!understood)], 1);
        add(&self.input_tokens, usage.input_tokens);
        add(&self.output_tokens, usage.output_tokens);
        add(&self.cost_micro_usd, cost_micro_usd.unwrap_or(0));
    }

    /// Takes note of one that the model has not answered.
    pub fn note_failed(&self) {
        add(&self.looks[2], 1);
    }

    fn write(&self, out: &mut String) {
        let ends = ("end", &LOOK_ENDS);
        labelled(
            out,
            "learning_looks_total",
            "Chats looked at to learn from them.",
            ends,
            &self.looks,
        );
        family(
            out,
            "learning_tokens_total",
            "counter",
            "Tokens of these looks, which are of no run.",
        );
        for (kind, tokens) in [
            ("input", &self.input_tokens),
            ("output", &self.output_tokens),
        ] {
            line(
                out,
                "learning_tokens_total",
                &[("kind", kind)],
                count(tokens.load(Relaxed)),
            );
        }
        family(
            out,
            "learning_cost_usd_total",
            "counter",
            "Cost of these looks where prices are known.",
        );
        line(
            out,
            "learning_cost_usd_total",
            &[],
            count(self.cost_micro_usd.load(Relaxed)) / 1e6,
        );
    }
}

const OUTCOMES: [&str; 5] = ["completed", "cancelled", "failed", "limited", "handed_over"];
const TOOL_ENDS: [&str; 4] = ["ok", "error", "stopped", "in_doubt"];
const DECISIONS: [&str; 4] = ["allow", "deny", "withdrawn", "expired"];
/// Upper ends, seconds.
const BUCKETS: [f64; 10] = [0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 120.0];

/// How long things took.
#[derive(Debug, Default)]
struct Histogram {
    /// Those that took no longer than the bucket's end, and longer than that of the one before.
    counts: [AtomicU64; BUCKETS.len()],
    longer: AtomicU64,
    sum_ms: AtomicU64,
}

impl Metrics {
    /// Takes note of an event of any run.
    pub fn note(&self, event: &RunEvent) {
        match &event.body {
            EventBody::RunStarted { .. } => add(&self.started, 1),
            EventBody::RunResumed {} => add(&self.resumed, 1),
            // Copied from another run's log, which was counted, it has no beginning of its own.
            EventBody::RunForked { .. } => add(&self.started, 1),
            EventBody::RunFinished { outcome, .. } => add(&self.finished[place_of(*outcome)], 1),
            EventBody::ModelCalled {
                usage,
                cost_micro_usd,
                duration_ms,
                first_token_ms,
                ..
            } => {
                self.model_calls.note(*duration_ms);
                if let Some(first_token_ms) = first_token_ms {
                    self.first_tokens.note(*first_token_ms);
                }
                add(&self.input_tokens, usage.input_tokens);
                add(&self.output_tokens, usage.output_tokens);
                add(&self.cost_micro_usd, cost_micro_usd.unwrap_or(0));
            }
            EventBody::ContextCompacted {
                usage,
                cost_micro_usd,
                ..
            } => {
                add(&self.compactions, 1);
                add(&self.input_tokens, usage.input_tokens);
                add(&self.output_tokens, usage.output_tokens);
                add(&self.cost_micro_usd, cost_micro_usd.unwrap_or(0));
            }
            EventBody::ToolFinished {
                error,
                stopped,
                in_doubt,
                ..
            } => {
                let end = match (in_doubt, stopped, error) {
                    (true, ..) => 3,
                    (_, true, _) => 2,
                    (.., true) => 1,
                    (false, false, false) => 0,
                };
                add(&self.tool_calls[end], 1);
            }
            EventBody::ApprovalAnswered { decision, .. } => {
                add(&self.approvals[place_of_decision(*decision)], 1)
            }
            EventBody::QuestionAsked { .. } => add(&self.questions, 1),
            _ => {}
        }
    }

    /// Takes note of a run whose trace was sent to the collector, or was not.
    pub fn note_trace(&self, sent: bool) {
        add(
            if sent {
                &self.traces_sent
            } else {
                &self.traces_dropped
            },
            1,
        );
    }

    /// All of it. `live` runs are going, `waiting` of them wait for a person.
    #[must_use]
    pub fn text(&self, live: usize, waiting: usize) -> String {
        let mut out = String::new();
        let version = [("version", env!("CARGO_PKG_VERSION"))];
        family(
            &mut out,
            "build_info",
            "gauge",
            "The version of the program.",
        );
        line(&mut out, "build_info", &version, 1.0);
        family(&mut out, "runs_live", "gauge", "Runs that are going.");
        line(&mut out, "runs_live", &[], count(live as u64));
        family(
            &mut out,
            "runs_waiting",
            "gauge",
            "Of those, runs that wait for a person.",
        );
        line(&mut out, "runs_waiting", &[], count(waiting as u64));
        counter(&mut out, "runs_started_total", "Runs begun.", &self.started);
        counter(
            &mut out,
            "runs_resumed_total",
            "Runs that went on after a restart.",
            &self.resumed,
        );
        labelled(
            &mut out,
            "runs_finished_total",
            "Runs ended.",
            ("outcome", &OUTCOMES),
            &self.finished,
        );
        self.model_calls.write(
            &mut out,
            "model_call_seconds",
            "Model calls, from request to end.",
        );
        self.first_tokens.write(
            &mut out,
            "first_token_seconds",
            "Model calls, from request to the first token.",
        );
        family(
            &mut out,
            "tokens_total",
            "counter",
            "Tokens of all model calls.",
        );
        for (kind, tokens) in [
            ("input", &self.input_tokens),
            ("output", &self.output_tokens),
        ] {
            line(
                &mut out,
                "tokens_total",
                &[("kind", kind)],
                count(tokens.load(Relaxed)),
            );
        }
        family(
            &mut out,
            "cost_usd_total",
            "counter",
            "Cost of model calls whose prices are known.",
        );
        line(
            &mut out,
            "cost_usd_total",
            &[],
            count(self.cost_micro_usd.load(Relaxed)) / 1e6,
        );
        let help = "Older parts of conversations that became summaries.";
        counter(&mut out, "compactions_total", help, &self.compactions);
        labelled(
            &mut out,
            "tool_calls_total",
            "Tool calls ended.",
            ("end", &TOOL_ENDS),
            &self.tool_calls,
        );
        let decisions = ("decision", &DECISIONS);
        labelled(
            &mut out,
            "approvals_total",
            "Approvals answered.",
            decisions,
            &self.approvals,
        );
        counter(
            &mut out,
            "questions_total",
            "Questions asked.",
            &self.questions,
        );
        self.learning.write(&mut out);
        counter(
            &mut out,
            "traces_sent_total",
            "Runs whose trace was sent.",
            &self.traces_sent,
        );
        counter(
            &mut out,
            "traces_dropped_total",
            "Runs whose trace was not sent.",
            &self.traces_dropped,
        );
        out
    }
}

/// What became of attempts to ask model servers; `left_alone` of these are not asked at the moment.
#[must_use]
pub fn of_attempts(counts: &AttemptCounts, left_alone: usize) -> String {
    let mut out = String::new();
    family(
        &mut out,
        "model_attempts_total",
        "counter",
        "Attempts to ask a model server, to the first token.",
    );
    let ends = [
        ("answered", &counts.answered),
        ("failed", &counts.failed),
        ("key_refused", &counts.key_refused),
    ];
    for (end, counter) in ends {
        line(
            &mut out,
            "model_attempts_total",
            &[("end", end)],
            count(counter.load(Relaxed)),
        );
    }
    let help = "Times that another key or server of the same model was asked after that.";
    counter(&mut out, "model_turns_total", help, &counts.turned);
    counter(
        &mut out,
        "breakers_opened_total",
        "Model servers that began to be left alone.",
        &counts.opened,
    );
    family(
        &mut out,
        "connections_left_alone",
        "gauge",
        "Model servers that are left alone.",
    );
    line(
        &mut out,
        "connections_left_alone",
        &[],
        count(left_alone as u64),
    );
    out
}

/// Background jobs: their passes, failures, and the times of the last and the next pass.
#[must_use]
pub fn of_jobs(jobs: &[JobStatus]) -> String {
    let seconds = |at_ms: i64| Duration::from_millis(at_ms.try_into().unwrap_or(0)).as_secs_f64();
    let runs = |job: &JobStatus| Some(count(job.runs));
    let failures = |job: &JobStatus| Some(count(job.failures));
    let last_run = |job: &JobStatus| job.last_run.map(|run| seconds(run.finished_at));
    let took = |job: &JobStatus| job.last_run.map(|run| run.duration.as_secs_f64());
    let next_run = |job: &JobStatus| job.next_run_at.map(seconds);
    let mut out = String::new();
    let mut of_each = |name, kind, help, figure: &dyn Fn(&JobStatus) -> Option<f64>| {
        family(&mut out, name, kind, help);
        for job in jobs {
            if let Some(value) = figure(job) {
                line(&mut out, name, &[("job", job.name)], value);
            }
        }
    };
    let help = "Passes of a background job that have ended.";
    of_each("job_runs_total", "counter", help, &runs);
    let help = "Those of them that failed.";
    of_each("job_failures_total", "counter", help, &failures);
    let help = "When the last pass ended.";
    of_each("job_last_run_timestamp_seconds", "gauge", help, &last_run);
    let help = "How long the last pass took.";
    of_each("job_last_duration_seconds", "gauge", help, &took);
    let help = "When the next pass begins, unless the job is woken before.";
    of_each("job_next_run_timestamp_seconds", "gauge", help, &next_run);
    out
}

impl Histogram {
    fn note(&self, took_ms: u64) {
        let seconds = count(took_ms) / 1000.0;
        let bucket = BUCKETS.iter().position(|end| seconds <= *end);
        add(
            bucket.map_or(&self.longer, |bucket| &self.counts[bucket]),
            1,
        );
        add(&self.sum_ms, took_ms);
    }

    fn write(&self, out: &mut String, name: &str, help: &str) {
        family(out, name, "histogram", help);
        let bucket = format!("{name}_bucket");
        let mut sum = 0;
        for (end, counted) in BUCKETS.iter().zip(&self.counts) {
            sum += counted.load(Relaxed);
            line(out, &bucket, &[("le", &end.to_string())], count(sum));
        }
        sum += self.longer.load(Relaxed);
        line(out, &bucket, &[("le", "+Inf")], count(sum));
        line(
            out,
            &format!("{name}_sum"),
            &[],
            count(self.sum_ms.load(Relaxed)) / 1000.0,
        );
        line(out, &format!("{name}_count"), &[], count(sum));
    }
}

fn place_of(outcome: Outcome) -> usize {
    match outcome {
        Outcome::Completed => 0,
        Outcome::Cancelled => 1,
        Outcome::Failed => 2,
        Outcome::Limited => 3,
        Outcome::HandedOver => 4,
    }
}

fn place_of_decision(decision: Decision) -> usize {
    match decision {
        Decision::Allow => 0,
        Decision::Deny => 1,
        Decision::Withdrawn => 2,
        Decision::Expired => 3,
    }
}

fn add(counter: &AtomicU64, by: u64) {
    counter.fetch_add(by, Relaxed);
}

/// Figures of the format are floating point.
#[expect(clippy::cast_precision_loss, reason = "exact up to 2^53")]
fn count(number: u64) -> f64 {
    number as f64
}

fn family(out: &mut String, name: &str, kind: &str, help: &str) {
    // Writing to a String does not fail.
    _ = write!(
        out,
        "# HELP glasshouse_{name} {help}\n# TYPE glasshouse_{name} {kind}\n"
    );
}

/// Label values are ours: nothing in them needs escaping.
fn line(out: &mut String, name: &str, labels: &[(&str, &str)], value: f64) {
    let labels: Vec<String> = labels
        .iter()
        .map(|(name, value)| format!("{name}=\"{value}\""))
        .collect();
    let labels = if labels.is_empty() {
        String::new()
    } else {
        format!("{{{}}}", labels.join(","))
    };
    _ = writeln!(out, "glasshouse_{name}{labels} {value}");
}

fn counter(out: &mut String, name: &str, help: &str, counter: &AtomicU64) {
    family(out, name, "counter", help);
    line(out, name, &[], count(counter.load(Relaxed)));
}

fn labelled<const COUNT: usize>(
    out: &mut String,
    name: &str,
    help: &str,
    (label, values): (&str, &[&str; COUNT]),
    counters: &[AtomicU64; COUNT],
) {
    family(out, name, "counter", help);
    for (value, counter) in values.iter().zip(counters) {
        line(out, name, &[(label, value)], count(counter.load(Relaxed)));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_histogram_adds_up() {
        let histogram = Histogram::default();
        [10, 50, 51, 400, 900_000]
            .into_iter()
            .for_each(|took_ms| histogram.note(took_ms));
        let mut out = String::new();
        histogram.write(&mut out, "x", "X.");
        for line in [
            "glasshouse_x_bucket{le=\"0.05\"} 2",
            "glasshouse_x_bucket{le=\"0.1\"} 3",
            "glasshouse_x_bucket{le=\"0.5\"} 4",
            "glasshouse_x_bucket{le=\"120\"} 4",
            "glasshouse_x_bucket{le=\"+Inf\"} 5",
            "glasshouse_x_sum 900.511",
            "glasshouse_x_count 5",
        ] {
            assert!(
                out.lines().any(|written| written == line),
                "{line} in {out}"
            );
        }
    }
}
