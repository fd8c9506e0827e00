//! Chat completions forwarded to a model server: through Glasshouse, a raw copy and other gateways.

mod contenders;
mod load;
pub(crate) mod translation;
mod upstreams;

use std::{
    path::{Path, PathBuf},
    time::Duration,
};

use contenders::{Contender, GLASSHOUSE, RAW_COPY, Started, UPSTREAM};
use load::{Kind, Load, TOKENS, Tally, put_on};

use crate::{
    process::Process,
    table::{Aim, percentile, print, print_grid},
    turns::{row, upstream},
};

/// Other gateways, if installed.
pub(crate) struct Peers {
    /// LiteLLM's program.
    pub(crate) litellm: Option<PathBuf>,
    /// Portkey's script for Node.
    pub(crate) portkey: Option<PathBuf>,
}

/// Contenders take turns, so that other load on the machine affects all of them.
const ROUNDS: usize = 4;
/// Time per contender and level; slow ones complete fewer answers.
const TIME: Duration = Duration::from_secs(16);
/// Kind, connections, and answers wanted per contender.
const LEVELS: [(Kind, usize, usize); 5] = [
    (Kind::Whole, 1, 4000),
    (Kind::Whole, 10, 8000),
    (Kind::Stream, 1, 200),
    (Kind::Stream, 10, 1000),
    (Kind::Stream, 100, 2000),
];

/// Performance and cost of a contender at one level.
#[derive(Debug, Default)]
struct Figures {
    tally: Tally,
    /// CPU time of its process; unknown for the upstream, which shares ours.
    cpu_s: Option<f64>,
    /// Its peak memory so far.
    peak_mb: Option<f64>,
}

/// Figures, or why there are none.
type Outcome = Result<Figures, String>;

pub(crate) async fn measure(program: &Path, peers: &Peers, quick: bool) -> anyhow::Result<()> {
    let model = load::model().await?;
    let contenders = contenders::start(program, peers, upstream(&model)?).await;
    for contender in contenders.iter().flatten() {
        warm_up(contender).await;
    }
    let (rounds, share) = if quick { (1, 10) } else { (ROUNDS, 1) };
    for (kind, connections, answers) in LEVELS {
        let answers = (answers / share / rounds).max(connections);
        let load = Load {
            kind,
            connections,
            answers,
            time: TIME / u32::try_from(ROUNDS)?,
        };
        let mut outcomes: Vec<Outcome> = Vec::new();
        outcomes.resize_with(contenders.len(), || Ok(Figures::default()));
        for _ in 0..rounds {
            for (contender, outcome) in contenders.iter().zip(&mut outcomes) {
                take_turn(contender, load, outcome).await;
            }
        }
        show(load, &contenders, outcomes);
    }
    Ok(())
}

/// The main figures of forwarding.
pub(crate) struct ForwardFigures {
    /// Tokens a second of ten streams at once, as a share of what a program does that only copies bytes.
    pub(crate) stream_share: f64,
    /// What forwarding adds to the median time of an answer that comes whole, one at a time.
    pub(crate) whole_added_ms: f64,
}

/// Measures `program` against its upstream and a raw copy.
pub(crate) async fn figures(program: &Path, quick: bool) -> anyhow::Result<ForwardFigures> {
    let model = load::model().await?;
    let contenders = contenders::main_three(program, upstream(&model)?).await?;
    for contender in &contenders {
        warm_up(contender).await;
    }
    let (rounds, share) = if quick { (2, 4) } else { (ROUNDS, 1) };
    let measured = async |kind, connections, answers: usize| {
        let load = Load {
            kind,
            connections,
            answers: answers / share / rounds,
            time: TIME / u32::try_from(ROUNDS)?,
        };
        let mut figures: [Figures; 3] = Default::default();
        for _ in 0..rounds {
            for (contender, figures) in contenders.iter().zip(&mut figures) {
                figures.measure(contender, load).await?;
            }
        }
        anyhow::Ok(figures)
    };
    let [_, copy, ours] = measured(Kind::Stream, 10, 1000).await?;
    let stream_share = ours.rate(Kind::Stream) / copy.rate(Kind::Stream);
    let [mut direct, _, mut ours] = measured(Kind::Whole, 1, 4000).await?;
    Ok(ForwardFigures {
        stream_share,
        whole_added_ms: ours.latencies()[0] - direct.latencies()[0],
    })
}

/// Warms up caches and JIT compilers. A failure here will recur where it is counted.
async fn warm_up(contender: &Contender) {
    let time = Duration::from_secs(3);
    for (kind, answers) in [(Kind::Whole, 1000), (Kind::Stream, 50)] {
        let _ = put_on(
            &contender.target,
            Load {
                kind,
                connections: 10,
                answers,
                time,
            },
        )
        .await;
    }
}

async fn take_turn(contender: &Started, load: Load, outcome: &mut Outcome) {
    let done = match (contender, outcome.as_mut()) {
        (Ok(contender), Ok(figures)) => figures.measure(contender, load).await,
        _ => return,
    };
    if let Err(error) = done {
        *outcome = Err(format!("{error:#}"));
    }
}

impl Figures {
    async fn measure(&mut self, contender: &Contender, load: Load) -> anyhow::Result<()> {
        // A hundred answers begun in time can take a slow contender far longer.
        if self.tally.elapsed >= TIME {
            return Ok(());
        }
        let process = contender.process();
        let before = process.map(Process::cpu_s).transpose()?;
        self.tally.add(put_on(&contender.target, load).await?);
        if let (Some(process), Some(before)) = (process, before) {
            *self.cpu_s.get_or_insert_default() += process.cpu_s()? - before;
            self.peak_mb = Some(process.memory_mb()?.1);
        }
        Ok(())
    }

    /// Total number of answers or tokens.
    fn count(&self, kind: Kind) -> usize {
        match kind {
            Kind::Whole => self.tally.latencies_ms.len(),
            Kind::Stream => self.tally.tokens,
        }
    }

    #[expect(clippy::cast_precision_loss, reason = "a few millions")]
    fn rate(&self, kind: Kind) -> f64 {
        self.count(kind) as f64 / self.tally.elapsed.as_secs_f64()
    }

    #[expect(clippy::cast_precision_loss, reason = "a few millions")]
    fn cpu_us(&self, kind: Kind) -> Option<f64> {
        self.cpu_s
            .map(|cpu_s| cpu_s * 1e6 / self.count(kind) as f64)
    }

    /// The median and the 99th percentile of the latencies, milliseconds.
    fn latencies(&mut self) -> [f64; 2] {
        [0.5, 0.99].map(|share| percentile(&mut self.tally.latencies_ms, share))
    }
}

fn show(load: Load, contenders: &[Started], mut outcomes: Vec<Outcome>) {
    let Load {
        kind, connections, ..
    } = load;
    let names: Vec<&str> = contenders.iter().map(contenders::name).collect();
    let mut of = |name: &str| {
        let at = names.iter().position(|other| *other == name)?;
        let figures = outcomes.get_mut(at)?.as_mut().ok()?;
        Some((
            figures.rate(kind),
            figures.latencies(),
            figures.peak_mb.unwrap_or_default(),
        ))
    };
    let direct = of(UPSTREAM);
    let copy = of(RAW_COPY);
    let ours = of(GLASSHOUSE);
    let direct_ms = direct.map(|it| it.1);
    let copy_rate = copy.map(|it| it.0);
    let lines: Vec<_> = contenders
        .iter()
        .zip(outcomes)
        .map(|(contender, outcome)| {
            let why_not = || contender.as_ref().err().map(|(_, why)| Err(why.clone()));
            let cells = outcome.map(|figures| cells(kind, figures, direct_ms, copy_rate));
            (
                contenders::name(contender).to_owned(),
                why_not().unwrap_or(cells),
            )
        })
        .collect();
    let (title, columns) = match kind {
        Kind::Whole => (
            format!("{connections} at a time, answered whole"),
            WHOLE_COLUMNS,
        ),
        Kind::Stream => (
            format!("{connections} at a time, streams of {TOKENS} tokens"),
            STREAM_COLUMNS,
        ),
    };
    print_grid(&title, &columns, &lines);
    if let (Some((rate, ours_ms, peak_mb)), Some(direct_ms), Some(copy_rate)) =
        (ours, direct_ms, copy_rate)
    {
        show_aims(
            load,
            rate,
            [ours_ms[0] - direct_ms[0], ours_ms[1] - direct_ms[1]],
            peak_mb,
            copy_rate,
        );
    }
}

const WHOLE_COLUMNS: [&str; 9] = [
    "answers",
    "a second",
    "of the copy",
    "p50 ms",
    "added",
    "p99 ms",
    "added",
    "CPU µs each",
    "peak MB",
];
const STREAM_COLUMNS: [&str; 9] = [
    "streams",
    "tokens/s",
    "of the copy",
    "first p50 ms",
    "added",
    "first p99 ms",
    "added",
    "CPU µs/token",
    "peak MB",
];

fn cells(
    kind: Kind,
    mut figures: Figures,
    direct_ms: Option<[f64; 2]>,
    copy_rate: Option<f64>,
) -> Vec<String> {
    let [p50, p99] = figures.latencies();
    let added = |at: usize, ms: f64| {
        direct_ms.map_or_else(String::new, |direct| format!("{:.2}", ms - direct[at]))
    };
    let some =
        |figure: Option<f64>| figure.map_or_else(String::new, |figure| format!("{figure:.1}"));
    let rate = figures.rate(kind);
    vec![
        figures.tally.latencies_ms.len().to_string(),
        format!("{rate:.0}"),
        copy_rate.map_or_else(String::new, |copy| format!("{:.2}", rate / copy)),
        format!("{p50:.2}"),
        added(0, p50),
        format!("{p99:.2}"),
        added(1, p99),
        some(figures.cpu_us(kind)),
        some(figures.peak_mb),
    ]
}

fn show_aims(load: Load, rate: f64, added_ms: [f64; 2], peak_mb: f64, copy_rate: f64) {
    let memory = row("peak memory", peak_mb, "MB", Some(Aim::AtMost(60.0)));
    let rows = match (load.kind, load.connections) {
        (Kind::Whole, 10) => vec![
            row(
                "added by us, p50",
                added_ms[0],
                "ms",
                Some(Aim::AtMost(0.5)),
            ),
            row(
                "added by us, p99",
                added_ms[1],
                "ms",
                Some(Aim::AtMost(2.0)),
            ),
            // On a slow or busy machine, the aim is relative to the raw copy.
            row(
                "answers a second",
                rate,
                "1/s",
                Some(Aim::AtLeast((copy_rate * 0.8).min(10_000.0))),
            ),
            memory,
        ],
        (Kind::Stream, 10 | 100) => {
            vec![
                row(
                    "tokens a second",
                    rate,
                    "1/s",
                    Some(Aim::AtLeast(300_000.0)),
                ),
                memory,
            ]
        }
        (Kind::Whole | Kind::Stream, _) => return,
    };
    print("Glasshouse against its aims", &rows);
}
