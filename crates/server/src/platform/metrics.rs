//! Counts run events, and exports the metrics in the text format of Prometheus.

use std::{
    fmt,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering::Relaxed},
    },
    time::Duration,
};

use domain::{EventBody, Outcome, RunEvent, Usage, event::Decision};
use llm::openai::AttemptCounts;
use prometheus_client::{
    encoding::{EncodeMetric, MetricEncoder, prometheus_text},
    metrics::{
        MetricType, TypedMetric,
        counter::{ConstCounter, Counter},
        gauge::{ConstGauge, Gauge},
        histogram::Histogram,
        info::Info,
    },
    registry::Registry,
};

const PREFIX: &str = "glasshouse";
const OUTCOMES: [&str; 5] = ["completed", "cancelled", "failed", "limited", "handed_over"];
const TOOL_ENDS: [&str; 4] = ["ok", "error", "stopped", "in_doubt"];
const DECISIONS: [&str; 4] = ["allow", "deny", "withdrawn", "expired"];
const TOKENS: [&str; 2] = ["input", "output"];
const LOOK_ENDS: [&str; 3] = ["ok", "not_understood", "failed"];
const ATTEMPT_ENDS: [&str; 3] = ["answered", "failed", "key_refused"];
/// Upper bounds of the histogram, seconds.
const BUCKETS: [f64; 10] = [0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 120.0];

use crate::platform::jobs::JobStatus;

/// Counts events. No label is taken from models or people, so its size does not depend on them.
#[derive(Debug)]
pub struct Metrics {
    registry: Registry,
    live: Gauge,
    waiting: Gauge,
    started: Counter,
    resumed: Counter,
    finished: Labelled<{ OUTCOMES.len() }>,
    model_calls: Histogram,
    first_tokens: Histogram,
    spent: Spent,
    compactions: Counter,
    tool_calls: Labelled<{ TOOL_ENDS.len() }>,
    approvals: Labelled<{ DECISIONS.len() }>,
    questions: Counter,
    traces_sent: Counter,
    traces_dropped: Counter,
    /// Learning from chats, which belongs to no run.
    pub learning: Learning,
}

/// Counts passes over chats that learn facts about people.
#[derive(Debug)]
pub struct Learning {
    looks: Labelled<{ LOOK_ENDS.len() }>,
    spent: Spent,
}

impl Learning {
    /// Records a pass that the model has answered, perhaps in an invalid form.
    pub fn note(&self, understood: bool, usage: Usage, cost_micro_usd: Option<u64>) {
        self.looks.inc(usize::from(!understood));
        self.spent.note(usage, cost_micro_usd);
    }

    /// Records one that the model has not answered.
    pub fn note_failed(&self) {
        self.looks.inc(2);
    }
}

/// Tokens and cost.
#[derive(Debug)]
struct Spent {
    tokens: Labelled<{ TOKENS.len() }>,
    cost: Cost,
}

impl Spent {
    fn new() -> Self {
        Self {
            tokens: Labelled::new("kind", TOKENS),
            cost: Cost::default(),
        }
    }

    fn note(&self, usage: Usage, cost_micro_usd: Option<u64>) {
        self.tokens.inc_by(0, usage.input_tokens);
        self.tokens.inc_by(1, usage.output_tokens);
        self.cost.0.fetch_add(cost_micro_usd.unwrap_or(0), Relaxed);
    }
}

impl Default for Metrics {
    // Names lack the suffix and descriptions the full stop: the registry adds them.
    fn default() -> Self {
        let metrics = Self {
            registry: Registry::default(),
            live: Gauge::default(),
            waiting: Gauge::default(),
            started: Counter::default(),
            resumed: Counter::default(),
            finished: Labelled::new("outcome", OUTCOMES),
            model_calls: Histogram::new(BUCKETS),
            first_tokens: Histogram::new(BUCKETS),
            spent: Spent::new(),
            compactions: Counter::default(),
            tool_calls: Labelled::new("end", TOOL_ENDS),
            approvals: Labelled::new("decision", DECISIONS),
            questions: Counter::default(),
            traces_sent: Counter::default(),
            traces_dropped: Counter::default(),
            learning: Learning {
                looks: Labelled::new("end", LOOK_ENDS),
                spent: Spent::new(),
            },
        };
        let registry = metrics.registered();
        Self {
            registry,
            ..metrics
        }
    }
}

impl Metrics {
    fn registered(&self) -> Registry {
        let mut all = Registry::with_prefix(PREFIX);
        let version = Info::new([("version", env!("CARGO_PKG_VERSION"))]);
        all.register("build", "The version of the program", version);
        all.register("runs_live", "Runs that are going", self.live.clone());
        all.register(
            "runs_waiting",
            "Of those, runs that wait for a person",
            self.waiting.clone(),
        );
        all.register("runs_started", "Runs begun", self.started.clone());
        all.register(
            "runs_resumed",
            "Runs that went on after a restart",
            self.resumed.clone(),
        );
        all.register("runs_finished", "Runs ended", self.finished.clone());
        all.register(
            "model_call_seconds",
            "Model calls, from request to end",
            self.model_calls.clone(),
        );
        all.register(
            "first_token_seconds",
            "Model calls, from request to the first token",
            self.first_tokens.clone(),
        );
        all.register(
            "tokens",
            "Tokens of all model calls",
            self.spent.tokens.clone(),
        );
        all.register(
            "cost_usd",
            "Cost of model calls whose prices are known",
            self.spent.cost.clone(),
        );
        all.register(
            "compactions",
            "Older parts of conversations that became summaries",
            self.compactions.clone(),
        );
        all.register("tool_calls", "Tool calls ended", self.tool_calls.clone());
        all.register("approvals", "Approvals answered", self.approvals.clone());
        all.register("questions", "Questions asked", self.questions.clone());
        let Learning { looks, spent } = &self.learning;
        all.register(
            "learning_looks",
            "Chats looked at to learn from them",
            looks.clone(),
        );
        all.register(
            "learning_tokens",
            "Tokens of these looks, which are of no run",
            spent.tokens.clone(),
        );
        all.register(
            "learning_cost_usd",
            "Cost of these looks where prices are known",
            spent.cost.clone(),
        );
        all.register(
            "traces_sent",
            "Runs whose trace was sent",
            self.traces_sent.clone(),
        );
        all.register(
            "traces_dropped",
            "Runs whose trace was not sent",
            self.traces_dropped.clone(),
        );
        all
    }

    /// Counts an event of any run.
    pub fn note(&self, event: &RunEvent) {
        match &event.body {
            EventBody::RunStarted { .. } => _ = self.started.inc(),
            EventBody::RunResumed {} => _ = self.resumed.inc(),
            // The events copied from another run's log were counted there, and a fork has no start event of its own.
            EventBody::RunForked { .. } => _ = self.started.inc(),
            EventBody::RunFinished { outcome, .. } => self.finished.inc(place_of(*outcome)),
            EventBody::ModelCalled {
                usage,
                cost_micro_usd,
                duration_ms,
                first_token_ms,
                ..
            } => {
                self.model_calls.observe(seconds(*duration_ms));
                if let Some(first_token_ms) = first_token_ms {
                    self.first_tokens.observe(seconds(*first_token_ms));
                }
                self.spent.note(*usage, *cost_micro_usd);
            }
            EventBody::ContextCompacted {
                usage,
                cost_micro_usd,
                ..
            } => {
                _ = self.compactions.inc();
                self.spent.note(*usage, *cost_micro_usd);
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
                self.tool_calls.inc(end);
            }
            EventBody::ApprovalAnswered { decision, .. } => {
                self.approvals.inc(place_of_decision(*decision));
            }
            EventBody::QuestionAsked { .. } => _ = self.questions.inc(),
            _ => {}
        }
    }

    /// Counts a run whose trace was sent to the collector, or was dropped.
    pub fn note_trace(&self, sent: bool) {
        _ = match sent {
            true => self.traces_sent.inc(),
            false => self.traces_dropped.inc(),
        };
    }

    /// All metrics. `live` runs are in progress, `waiting` of them for a person.
    #[must_use]
    pub fn text(&self, live: usize, waiting: usize) -> String {
        let number = |count: usize| i64::try_from(count).unwrap_or(i64::MAX);
        self.live.set(number(live));
        self.waiting.set(number(waiting));
        text(&self.registry)
    }
}

/// Metrics of attempts to call model servers; `left_alone` servers are not called at the moment.
#[must_use]
pub fn of_attempts(counts: &AttemptCounts, left_alone: usize) -> String {
    let AttemptCounts {
        answered,
        failed,
        key_refused,
        failovers,
        opened,
    } = counts;
    let attempts = Labelled::new("end", ATTEMPT_ENDS);
    for (end, count) in [answered, failed, key_refused].into_iter().enumerate() {
        attempts.inc_by(end, count.load(Relaxed));
    }
    let counter = |count: &AtomicU64| ConstCounter::new(count.load(Relaxed));
    let left_alone = ConstGauge::new(i64::try_from(left_alone).unwrap_or(i64::MAX));
    let mut all = Registry::with_prefix(PREFIX);
    all.register(
        "model_attempts",
        "Attempts to ask a model server, to the first token",
        attempts,
    );
    all.register(
        "model_turns",
        "Times that another key or server of the same model was asked after that",
        counter(failovers),
    );
    all.register(
        "breakers_opened",
        "Model servers that began to be left alone",
        counter(opened),
    );
    all.register(
        "connections_left_alone",
        "Model servers that are left alone",
        left_alone,
    );
    text(&all)
}

fn text(registry: &Registry) -> String {
    let mut out = String::new();
    // Writing to a `String` does not fail.
    _ = prometheus_text::encode(&mut out, registry);
    out
}

/// Metrics of background jobs: passes, failures, and the times of the last and the next pass.
#[must_use]
pub fn of_jobs(jobs: &[JobStatus]) -> String {
    let seconds = |at_ms: i64| Duration::from_millis(at_ms.try_into().unwrap_or(0)).as_secs_f64();
    let counter = |count| Some(ConstCounter::new(count));
    let gauge = |seconds| ConstGauge::new(seconds);
    let runs = EachJob::of(jobs, |job| counter(job.runs));
    let failures = EachJob::of(jobs, |job| counter(job.failures));
    let last_run = EachJob::of(jobs, |job| {
        job.last_run.map(|run| gauge(seconds(run.finished_at)))
    });
    let duration = EachJob::of(jobs, |job| {
        job.last_run.map(|run| gauge(run.duration.as_secs_f64()))
    });
    let next_run = EachJob::of(jobs, |job| job.next_run_at.map(seconds).map(gauge));
    let mut all = Registry::with_prefix(PREFIX);
    all.register(
        "job_runs",
        "Passes of a background job that have ended",
        runs,
    );
    all.register("job_failures", "Those of them that failed", failures);
    all.register(
        "job_last_run_timestamp_seconds",
        "When the last pass ended",
        last_run,
    );
    all.register(
        "job_last_duration_seconds",
        "How long the last pass took",
        duration,
    );
    all.register(
        "job_next_run_timestamp_seconds",
        "When the next pass begins, unless the job is woken before",
        next_run,
    );
    text(&all)
}

/// A metric with a value for each job, in the order of the table of jobs.
#[derive(Debug)]
struct EachJob<M>(Vec<(&'static str, M)>);

impl<M> EachJob<M> {
    fn of(jobs: &[JobStatus], value: impl Fn(&JobStatus) -> Option<M>) -> Self {
        let values = jobs.iter().map(|job| Some((job.name, value(job)?)));
        Self(values.flatten().collect())
    }
}

impl<M: EncodeMetric + TypedMetric> EncodeMetric for EachJob<M> {
    fn encode(&self, mut encoder: MetricEncoder<'_>) -> fmt::Result {
        for (job, value) in &self.0 {
            value.encode(encoder.encode_family(&[("job", *job)])?)?;
        }
        Ok(())
    }

    fn metric_type(&self) -> MetricType {
        M::TYPE
    }
}

/// One counter for each value of a label; all values are known in advance, in this order.
#[derive(Debug, Clone)]
struct Labelled<const COUNT: usize> {
    label: &'static str,
    values: [&'static str; COUNT],
    counts: Arc<[AtomicU64; COUNT]>,
}

impl<const COUNT: usize> Labelled<COUNT> {
    fn new(label: &'static str, values: [&'static str; COUNT]) -> Self {
        Self {
            label,
            values,
            counts: Arc::new(std::array::from_fn(|_| AtomicU64::new(0))),
        }
    }

    fn inc(&self, place: usize) {
        self.inc_by(place, 1);
    }

    fn inc_by(&self, place: usize, by: u64) {
        self.counts[place].fetch_add(by, Relaxed);
    }
}

impl<const COUNT: usize> EncodeMetric for Labelled<COUNT> {
    fn encode(&self, mut encoder: MetricEncoder<'_>) -> fmt::Result {
        for (value, count) in self.values.iter().zip(self.counts.iter()) {
            let labels = [(self.label, *value)];
            let counter = ConstCounter::new(count.load(Relaxed));
            counter.encode(encoder.encode_family(&labels)?)?;
        }
        Ok(())
    }

    fn metric_type(&self) -> MetricType {
        MetricType::Counter
    }
}

/// Millionths of a dollar, exported in dollars. Sums of integers are exact.
#[derive(Debug, Clone, Default)]
struct Cost(Arc<AtomicU64>);

impl EncodeMetric for Cost {
    fn encode(&self, encoder: MetricEncoder<'_>) -> fmt::Result {
        ConstCounter::new(float(self.0.load(Relaxed)) / 1e6).encode(encoder)
    }

    fn metric_type(&self) -> MetricType {
        MetricType::Counter
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

fn seconds(ms: u64) -> f64 {
    float(ms) / 1000.0
}

/// The format's numbers are floating point.
#[expect(clippy::cast_precision_loss, reason = "exact up to 2^53")]
fn float(number: u64) -> f64 {
    number as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_text_has_all_names_types_labels_and_values() {
        let metrics = Metrics::default();
        for took_ms in [10, 50, 51, 400, 900_000] {
            metrics.model_calls.observe(seconds(took_ms));
        }
        let usage = Usage {
            input_tokens: 7,
            output_tokens: 3,
            ..Usage::default()
        };
        metrics.spent.note(usage, Some(1_500_000));
        metrics.learning.note(false, usage, None);
        metrics.finished.inc(1);
        let text = metrics.text(2, 1) + &of_attempts(&AttemptCounts::default(), 4);
        let text = text.replace(env!("CARGO_PKG_VERSION"), "VERSION");
        assert_eq!(text, include_str!("metrics.txt"));
    }

    #[test]
    fn jobs_are_listed_in_the_order_of_their_table() {
        let job = |name, next_run_at| JobStatus {
            name,
            every: None,
            running_since: None,
            last_run: None,
            runs: 2,
            failures: 1,
            failures_in_row: 0,
            last_failure: None,
            next_run_at,
        };
        let text = of_jobs(&[
            job("write", Some(1_500)),
            job("read", None),
            job("copy", None),
        ]);
        let lines: Vec<&str> = text.lines().filter(|line| !line.starts_with('#')).collect();
        assert_eq!(
            lines,
            [
                "glasshouse_job_runs_total{job=\"write\"} 2",
                "glasshouse_job_runs_total{job=\"read\"} 2",
                "glasshouse_job_runs_total{job=\"copy\"} 2",
                "glasshouse_job_failures_total{job=\"write\"} 1",
                "glasshouse_job_failures_total{job=\"read\"} 1",
                "glasshouse_job_failures_total{job=\"copy\"} 1",
                "glasshouse_job_next_run_timestamp_seconds{job=\"write\"} 1.5",
            ]
        );
    }
}
