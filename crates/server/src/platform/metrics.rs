//! The metrics of the server and of its runs, exported in the text format of Prometheus.

use std::{
    fmt,
    sync::atomic::{AtomicU64, Ordering::Relaxed},
    time::Duration,
};

use bus::Bus;
use domain::Usage;
use llm::openai::AttemptCounts;
use prometheus_client::{
    encoding::{EncodeMetric, MetricEncoder, prometheus_text},
    metrics::{
        MetricType, TypedMetric,
        counter::{ConstCounter, Counter},
        family::Family,
        gauge::{ConstGauge, Gauge},
        info::Info,
    },
    registry::Registry,
};
use run_registry::{
    LiveCounts,
    metrics::{LabelledCounter, RunMetrics, Spending},
};

use crate::platform::jobs::JobStatus;

const PREFIX: &str = "glasshouse";
const LOOK_ENDS: [&str; 3] = ["ok", "not_understood", "failed"];
const ATTEMPT_ENDS: [&str; 3] = ["answered", "failed", "key_refused"];

/// The metrics of this process: those of its runs, and of work that no run does. No label is taken from models or
/// people, so their size does not depend on them.
#[derive(Debug)]
pub struct Metrics {
    registry: Registry,
    live: Gauge,
    waiting: Gauge,
    traces_sent: Counter,
    traces_dropped: Counter,
    /// Learning from chats, which belongs to no run.
    pub learning: Learning,
}

/// Counts passes over chats that learn facts about people.
#[derive(Debug)]
pub struct Learning {
    looks: LabelledCounter<{ LOOK_ENDS.len() }>,
    spending: Spending,
}

impl Learning {
    /// Records a pass that the model has answered, perhaps in an invalid form.
    pub fn note(&self, understood: bool, usage: Usage, cost_micro_usd: Option<u64>) {
        self.looks.inc(usize::from(!understood));
        self.spending.note(usage, cost_micro_usd);
    }

    /// Records one that the model has not answered.
    pub fn note_failed(&self) {
        self.looks.inc(2);
    }
}

impl Metrics {
    /// The metrics of the server, with those of its `runs`.
    #[must_use]
    pub fn new(runs: &RunMetrics) -> Self {
        let metrics = Self {
            registry: Registry::default(),
            live: Gauge::default(),
            waiting: Gauge::default(),
            traces_sent: Counter::default(),
            traces_dropped: Counter::default(),
            learning: Learning {
                looks: LabelledCounter::new("end", LOOK_ENDS),
                spending: Spending::default(),
            },
        };
        let registry = metrics.registered(runs);
        Self {
            registry,
            ..metrics
        }
    }

    // Names lack the suffix and descriptions the full stop: the registry adds them.
    fn registered(&self, runs: &RunMetrics) -> Registry {
        let mut all = Registry::with_prefix(PREFIX);
        let version = Info::new([("version", env!("CARGO_PKG_VERSION"))]);
        all.register("build", "The version of the program", version);
        all.register("runs_live", "Runs that are going", self.live.clone());
        all.register(
            "runs_waiting",
            "Of those, runs that wait for a person",
            self.waiting.clone(),
        );
        runs.register(&mut all);
        let Learning { looks, spending } = &self.learning;
        all.register(
            "learning_looks",
            "Chats looked at to learn from them",
            looks.clone(),
        );
        all.register(
            "learning_tokens",
            "Tokens of these looks, which are of no run",
            spending.tokens.clone(),
        );
        all.register(
            "learning_cost_usd",
            "Cost of these looks where prices are known",
            spending.cost.clone(),
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

    /// Counts a run whose trace was sent to the collector, or was dropped.
    pub fn note_trace(&self, sent: bool) {
        _ = match sent {
            true => self.traces_sent.inc(),
            false => self.traces_dropped.inc(),
        };
    }

    /// All of them, in the text format of Prometheus.
    #[must_use]
    pub fn text(&self, runs: LiveCounts) -> String {
        let number = |count: usize| i64::try_from(count).unwrap_or(i64::MAX);
        self.live.set(number(runs.live));
        self.waiting.set(number(runs.waiting));
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
    let attempts = LabelledCounter::new("end", ATTEMPT_ENDS);
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

/// Metrics of the bus; empty if there is none.
#[must_use]
pub fn of_bus(bus: &Bus) -> String {
    let Some(counts) = bus.counts() else {
        return String::new();
    };
    let mut all = Registry::with_prefix(PREFIX);
    let is_up = ConstGauge::new(i64::from(bus.is_up()));
    all.register("bus_up", "Whether the bus is connected", is_up);
    for (name, help, count) in [
        ("bus_sent", "Messages sent over the bus", &counts.sent),
        (
            "bus_received",
            "Messages of other servers received",
            &counts.received,
        ),
        (
            "bus_dropped",
            "Messages dropped because a queue was full",
            &counts.dropped,
        ),
        (
            "bus_rejected",
            "Messages that no server with our key has sent",
            &counts.rejected,
        ),
        (
            "bus_lost",
            "Times that the connection was lost",
            &counts.lost,
        ),
    ] {
        all.register(name, help, ConstCounter::new(count.load(Relaxed)));
    }
    text(&all)
}

/// Metrics of runners of programs: the calls that wait, and the calls that each connected runner has, by its name.
#[must_use]
pub fn of_runners<'a>(
    waiting: u64,
    running: impl ExactSizeIterator<Item = (&'a str, u64)>,
) -> String {
    let number = |count: u64| i64::try_from(count).unwrap_or(i64::MAX);
    let mut all = Registry::with_prefix(PREFIX);
    all.register(
        "runners_connected",
        "Connected runners of programs",
        ConstGauge::new(number(running.len() as u64)),
    );
    all.register(
        "program_calls_waiting",
        "Program calls that wait for a runner",
        ConstGauge::new(number(waiting)),
    );
    let calls = Family::<Vec<(String, String)>, Gauge>::default();
    for (name, count) in running {
        // Two runners may have the same name.
        let label = vec![("runner".to_owned(), name.to_owned())];
        calls.get_or_create(&label).inc_by(number(count));
    }
    all.register(
        "program_calls_running",
        "Program calls that a runner has",
        calls,
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

#[cfg(test)]
mod tests {
    use domain::{AgentPath, EventBody, Outcome, RunEvent, RunId};

    use super::*;

    fn event(body: EventBody) -> RunEvent {
        RunEvent {
            run: RunId::generate(),
            seq: 1,
            at: 0,
            agent: AgentPath::main(),
            body,
        }
    }

    fn called(usage: Usage, cost_micro_usd: Option<u64>, duration_ms: u64) -> EventBody {
        EventBody::ModelCalled {
            model: "a".to_owned(),
            usage,
            cost_micro_usd,
            duration_ms,
            first_token_ms: None,
            broken_off: false,
        }
    }

    #[test]
    fn the_text_has_all_names_types_labels_and_values() {
        let runs = RunMetrics::default();
        let metrics = Metrics::new(&runs);
        for took_ms in [10, 50, 51, 400] {
            runs.note(&event(called(Usage::default(), None, took_ms)));
        }
        let usage = Usage {
            input_tokens: 7,
            output_tokens: 3,
            ..Usage::default()
        };
        runs.note(&event(called(usage, Some(1_500_000), 900_000)));
        runs.note(&event(EventBody::RunFinished {
            outcome: Outcome::Cancelled,
            problem: None,
            usage,
            cost_micro_usd: None,
        }));
        metrics.learning.note(false, usage, None);
        let live = LiveCounts {
            live: 2,
            waiting: 1,
        };
        let text = metrics.text(live) + &of_attempts(&AttemptCounts::default(), 4);
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
