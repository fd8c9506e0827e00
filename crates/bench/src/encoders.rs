//! Cost per event of each format, from the log to the bytes sent: time and number of allocations.

#[expect(
    clippy::unwrap_used,
    reason = "they are made for tests, which may fail loudly"
)]
#[path = "../../wire/tests/golden/scenarios/mod.rs"]
mod scenarios;

use std::{hint::black_box, time::Instant};

use domain::{AgentPath, EventBody, RunEvent};
use sse::Frame;
use wire::{
    ag_ui::{AgUiEncoder, ClientRun},
    chat_stream::{ChatStreamEncoder, ChatStreamOptions},
    debug_events::DebugEvent,
    details::DetailsEncoder,
    markup::{MarkupEncoder, Writing},
    openai::{CompletionEncoder, CompletionOptions},
    responses::{ResponseEncoder, ResponseOptions},
    tool_calls::ToolCallsEncoder,
    ui_message_stream::UiMessageEncoder,
};

use crate::{
    counting::allocations,
    table::{Aim, Row, percentile, print, print_grid},
    turns::row,
};

/// Number of tokens of the text whose deltas are measured.
const TOKENS: u64 = 500;
/// Number of times each log is encoded; the median is reported.
const REPEATS: usize = 400;

/// Encodes an event as frames.
type Encoder = Box<dyn FnMut(&RunEvent) -> Vec<Frame>>;

struct Format {
    name: &'static str,
    /// Whether the aims apply: the formats through which most tokens are sent.
    hot: bool,
    /// Creates an encoder for a reader at the beginning of a log.
    make: fn() -> Encoder,
}

/// The formats of `GET /runs/{run}/events`. The stored form has no encoder, since its bytes already exist.
const FORMATS: [Format; 9] = [
    Format {
        name: "openai",
        hot: true,
        make: || {
            let mut encoder = CompletionEncoder::new(CompletionOptions::watching());
            Box::new(move |event| encoder.push(event))
        },
    },
    Format {
        name: "chat",
        hot: true,
        make: || {
            let mut encoder = ChatStreamEncoder::new(ChatStreamOptions::default());
            Box::new(move |event| encoder.push(event))
        },
    },
    Format {
        name: "ag_ui",
        hot: true,
        make: || {
            let mut encoder = AgUiEncoder::new(ClientRun::watching());
            Box::new(move |event| encoder.push(event))
        },
    },
    Format {
        name: "responses",
        hot: false,
        make: || {
            let mut encoder = ResponseEncoder::new(ResponseOptions::watching());
            Box::new(move |event| encoder.push(event))
        },
    },
    Format {
        name: "ui_message_stream",
        hot: false,
        make: || {
            let mut encoder = UiMessageEncoder::default();
            Box::new(move |event| encoder.push(event))
        },
    },
    Format {
        name: "tool_calls",
        hot: false,
        make: || {
            let mut encoder = ToolCallsEncoder::default();
            Box::new(move |event| encoder.push(event))
        },
    },
    Format {
        name: "markup",
        hot: false,
        make: || {
            let mut encoder = MarkupEncoder::new(Writing::default());
            Box::new(move |event| encoder.push(event))
        },
    },
    Format {
        name: "details",
        hot: false,
        make: || {
            let mut encoder = DetailsEncoder::new(Writing::default());
            Box::new(move |event| encoder.push(event))
        },
    },
    Format {
        name: "debug",
        hot: false,
        make: || {
            Box::new(|event| {
                let frame = |event: DebugEvent| serde_json::to_string(&event).unwrap_or_default();
                let data = DebugEvent::of(event, None).map(frame);
                data.map(|data| Frame {
                    id: Some(event.seq),
                    event: None,
                    data,
                })
                .into_iter()
                .collect()
            })
        },
    },
];

/// Average cost per event over a log.
struct Cost {
    time_us: f64,
    allocations: f64,
}

pub(crate) fn measure(quick: bool) -> anyhow::Result<()> {
    let repeats = if quick { REPEATS / 20 } else { REPEATS };
    // A single result of a megabyte would dominate the average.
    let scenarios: Vec<_> = scenarios::all()
        .into_iter()
        .filter(|(name, _)| *name != "huge_result")
        .collect();
    let (before, tokens) = text()?;
    let mut lines = Vec::new();
    let mut aims = Vec::<Row>::new();
    for Format { name, hot, make } in FORMATS {
        let token = cost(make, repeats, &[(&before, &tokens)]);
        let logs: Vec<_> = scenarios
            .iter()
            .map(|(_, log)| (&[][..], &log[..]))
            .collect();
        let whole = cost(make, repeats, &logs);
        let cells = [
            token.time_us,
            token.allocations,
            whole.time_us,
            whole.allocations,
        ];
        lines.push((
            name.to_owned(),
            Ok(cells.map(|figure| format!("{figure:.2}")).to_vec()),
        ));
        if hot {
            aims.push(row(name, token.time_us, "µs", Some(Aim::AtMost(2.0))));
            aims.push(row(
                name,
                token.allocations,
                "allocs",
                Some(Aim::AtMost(2.0)),
            ));
        }
    }
    let columns = ["a token µs", "allocations", "any event µs", "allocations"];
    print_grid(
        "Encoders: a token of an answer, and the events of all golden logs on average",
        &columns,
        &lines,
    );
    print("A token in the formats that most of them go through", &aims);
    Ok(())
}

/// A log up to an answer's first delta, and the rest.
fn text() -> anyhow::Result<(Vec<RunEvent>, Vec<RunEvent>)> {
    let run = "run_0192f0c1d2e3f4a5b6c7d8e9fa0b1c2d".parse()?;
    let event = |seq, body| RunEvent {
        run,
        seq,
        at: 1_763_760_000_000,
        agent: AgentPath::main(),
        body,
    };
    let item = || "t1".to_owned();
    let delta = |seq| {
        event(
            seq,
            EventBody::TextDelta {
                item: item(),
                delta: "token ".into(),
            },
        )
    };
    let before = vec![
        event(
            1,
            EventBody::RunStarted {
                chat: None,
                message: None,
                model: "scripted".into(),
            },
        ),
        event(
            2,
            EventBody::StepStarted {
                step: 1,
                last: None,
            },
        ),
        event(3, EventBody::TextStarted { item: item() }),
        delta(4),
    ];
    Ok((before, (5..5 + TOKENS).map(delta).collect()))
}

/// Encodes logs, each given as a beginning that is not measured and the measured rest.
#[expect(clippy::cast_precision_loss, reason = "a few thousand events")]
fn cost(make: fn() -> Encoder, repeats: usize, logs: &[(&[RunEvent], &[RunEvent])]) -> Cost {
    let events = logs.iter().map(|(_, log)| log.len()).sum::<usize>() as f64;
    let mut times_us = Vec::with_capacity(repeats);
    let mut allocated = 0;
    let mut out = Vec::new();
    for _ in 0..repeats {
        let mut time_us = 0.0;
        let mut count = 0;
        for (before, log) in logs {
            let mut encode = make();
            for event in *before {
                black_box(encode(event));
            }
            let began = Instant::now();
            let earlier = allocations();
            for event in *log {
                out.clear();
                encode(event).iter().for_each(|frame| frame.write(&mut out));
                black_box(&out);
            }
            time_us += began.elapsed().as_secs_f64() * 1e6;
            count += allocations() - earlier;
        }
        times_us.push(time_us);
        // The last count is used: by then the buffer has reached its maximum size, as in a long stream.
        allocated = count;
    }
    Cost {
        time_us: percentile(&mut times_us, 0.5) / events,
        allocations: allocated as f64 / events,
    }
}
