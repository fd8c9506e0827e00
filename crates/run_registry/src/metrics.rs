//! Metrics of runs, counted from their events. The server exports them with its own.

use std::{
    fmt,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering::Relaxed},
    },
};

use domain::{EventBody, Outcome, RunEvent, Usage, event::Decision};
use prometheus_client::{
    encoding::{EncodeMetric, MetricEncoder},
    metrics::{
        MetricType,
        counter::{ConstCounter, Counter},
        histogram::Histogram,
    },
    registry::Registry,
};

const OUTCOMES: [&str; 5] = ["completed", "cancelled", "failed", "limited", "handed_over"];
const TOOL_ENDS: [&str; 4] = ["ok", "error", "stopped", "in_doubt"];
const DECISIONS: [&str; 4] = ["allow", "deny", "withdrawn", "expired"];
const TOKENS: [&str; 2] = ["input", "output"];
/// Upper bounds of the histogram, seconds.
const BUCKETS: [f64; 10] = [0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 120.0];

/// Counts the events of all runs. No label is taken from models or people, so its size does not depend on them.
#[derive(Debug)]
pub struct RunMetrics {
    started: Counter,
    resumed: Counter,
    finished: LabelledCounter<{ OUTCOMES.len() }>,
    model_calls: Histogram,
    first_tokens: Histogram,
    spending: Spending,
    compactions: Counter,
    tool_calls: LabelledCounter<{ TOOL_ENDS.len() }>,
    approvals: LabelledCounter<{ DECISIONS.len() }>,
    questions: Counter,
}

impl Default for RunMetrics {
    fn default() -> Self {
        Self {
            started: Counter::default(),
            resumed: Counter::default(),
            finished: LabelledCounter::new("outcome", OUTCOMES),
            model_calls: Histogram::new(BUCKETS),
            first_tokens: Histogram::new(BUCKETS),
            spending: Spending::default(),
            compactions: Counter::default(),
            tool_calls: LabelledCounter::new("end", TOOL_ENDS),
            approvals: LabelledCounter::new("decision", DECISIONS),
            questions: Counter::default(),
        }
    }
}

impl RunMetrics {
    /// Registers them for export.
    // Names lack the suffix and descriptions the full stop: the registry adds them.
    pub fn register(&self, all: &mut Registry) {
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
            self.spending.tokens.clone(),
        );
        all.register(
            "cost_usd",
            "Cost of model calls whose prices are known",
            self.spending.cost.clone(),
        );
        all.register(
            "compactions",
            "Older parts of conversations that became summaries",
            self.compactions.clone(),
        );
        all.register("tool_calls", "Tool calls ended", self.tool_calls.clone());
        all.register("approvals", "Approvals answered", self.approvals.clone());
        all.register("questions", "Questions asked", self.questions.clone());
    }

    /// Counts an event of any run.
    pub fn note(&self, event: &RunEvent) {
        match &event.body {
            EventBody::RunStarted { .. } => _ = self.started.inc(),
            EventBody::RunResumed { .. } => _ = self.resumed.inc(),
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
                self.spending.note(*usage, *cost_micro_usd);
            }
            EventBody::ContextCompacted {
                usage,
                cost_micro_usd,
                ..
            } => {
                _ = self.compactions.inc();
                self.spending.note(*usage, *cost_micro_usd);
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
}

/// Tokens and cost of model calls.
#[derive(Debug)]
pub struct Spending {
    /// Input and output tokens.
    pub tokens: LabelledCounter<{ TOKENS.len() }>,
    /// The cost where prices are known.
    pub cost: Cost,
}

impl Default for Spending {
    fn default() -> Self {
        Self {
            tokens: LabelledCounter::new("kind", TOKENS),
            cost: Cost::default(),
        }
    }
}

impl Spending {
    /// Counts a model call.
    pub fn note(&self, usage: Usage, cost_micro_usd: Option<u64>) {
        self.tokens.inc_by(0, usage.input_tokens);
        self.tokens.inc_by(1, usage.output_tokens);
        self.cost.0.fetch_add(cost_micro_usd.unwrap_or(0), Relaxed);
    }
}

/// One counter for each value of a label; all values are known in advance, in this order.
#[derive(Debug, Clone)]
pub struct LabelledCounter<const COUNT: usize> {
    label: &'static str,
    values: [&'static str; COUNT],
    counts: Arc<[AtomicU64; COUNT]>,
}

impl<const COUNT: usize> LabelledCounter<COUNT> {
    /// Zero for each of the `values`.
    #[must_use]
    pub fn new(label: &'static str, values: [&'static str; COUNT]) -> Self {
        Self {
            label,
            values,
            counts: Arc::new(std::array::from_fn(|_| AtomicU64::new(0))),
        }
    }

    /// Adds one to the value at `place`.
    ///
    /// # Panics
    /// If there is no such value.
    pub fn inc(&self, place: usize) {
        self.inc_by(place, 1);
    }

    /// Adds a number to the value at `place`.
    ///
    /// # Panics
    /// If there is no such value.
    pub fn inc_by(&self, place: usize, by: u64) {
        self.counts[place].fetch_add(by, Relaxed);
    }
}

impl<const COUNT: usize> EncodeMetric for LabelledCounter<COUNT> {
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
pub struct Cost(Arc<AtomicU64>);

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
