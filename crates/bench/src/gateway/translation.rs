//! Answers of a model whose server speaks another format than the client, compared with answers passed through
//! unchanged, in one program and one run, taking turns.

use std::{hint::black_box, path::Path, time::Duration};

use anyhow::Context;
use domain::RunId;
use provider::{
    AnswerDecoder, AnswerEvent, StopReason, anthropic,
    bedrock::{self, FrameDecoder},
    gemini, openai_responses,
};
use scripted::ScriptedServer;
use serde_json::{Value, json};
use wire::gateway::{AnswerEncoder, ChatAnswer, Used};

use super::{
    load::{CHAT, Kind, Load, TOKENS, Tally, Target, put_on, try_once},
    upstreams::{Format, STREAM, WHOLE},
};
use crate::{
    client::Client,
    counting::allocations,
    process::Process,
    program::{Program, Setup},
    table::{Aim, Row, percentile, print, print_grid},
    turns::row,
};

const MESSAGES: &str = "/v1/messages";
/// Routes take turns, so that other load on the machine affects all of them.
const ROUNDS: usize = 10;
const ANSWERS: usize = 300;
const STREAMS: usize = 30;

/// The formats of client and server.
struct Route {
    name: &'static str,
    path: &'static str,
    upstream: Format,
    /// The index of the pass-through route to compare with; `None` for pass-through routes.
    beside: Option<usize>,
}

const ROUTES: [Route; 7] = [
    Route {
        name: "chat completions, passed on",
        path: CHAT,
        upstream: Format::Chat,
        beside: None,
    },
    Route {
        name: "  to Anthropic",
        path: CHAT,
        upstream: Format::Messages,
        beside: Some(0),
    },
    Route {
        name: "  to Gemini",
        path: CHAT,
        upstream: Format::Gemini,
        beside: Some(0),
    },
    Route {
        name: "  to Responses",
        path: CHAT,
        upstream: Format::Responses,
        beside: Some(0),
    },
    Route {
        name: "  to Bedrock",
        path: CHAT,
        upstream: Format::Converse,
        beside: Some(0),
    },
    Route {
        name: "messages, passed on",
        path: MESSAGES,
        upstream: Format::Messages,
        beside: None,
    },
    Route {
        name: "  to chat completions",
        path: MESSAGES,
        upstream: Format::Chat,
        beside: Some(5),
    },
];

/// The measurements of a route.
#[derive(Debug, Default)]
struct Figures {
    whole: Tally,
    streams: Tally,
    stream_cpu_s: f64,
}

impl Figures {
    /// The median and the 99th percentile for whole answers, milliseconds.
    fn whole_ms(&mut self) -> [f64; 2] {
        [0.5, 0.99].map(|share| percentile(&mut self.whole.latencies_ms, share))
    }

    /// Time per token of the median stream.
    #[expect(clippy::cast_precision_loss, reason = "a few hundred")]
    fn token_us(&mut self) -> f64 {
        percentile(&mut self.streams.ends_ms, 0.5) * 1000.0 / TOKENS as f64
    }

    #[expect(clippy::cast_precision_loss, reason = "a few millions")]
    fn token_cpu_us(&self) -> f64 {
        self.stream_cpu_s * 1e6 / self.streams.tokens as f64
    }

    async fn measure(
        &mut self,
        process: &Process,
        target: &Target,
        share: usize,
    ) -> anyhow::Result<()> {
        let load = |kind, answers| Load {
            kind,
            connections: 1,
            answers,
            time: Duration::from_secs(10),
        };
        self.whole
            .add(put_on(target, load(Kind::Whole, ANSWERS / share)).await?);
        let before = process.cpu_s()?;
        self.streams
            .add(put_on(target, load(Kind::Stream, STREAMS / share)).await?);
        self.stream_cpu_s += process.cpu_s()? - before;
        Ok(())
    }
}

pub(crate) async fn measure(program: &Path, quick: bool) -> anyhow::Result<()> {
    let mut upstreams = Vec::new();
    for format in Format::ALL {
        upstreams.push((format, format.start().await?));
    }
    let program = Program::start(Setup {
        program,
        upstream: None,
        data_dir: None,
        environment: &[],
    })?;
    for (format, server) in &upstreams {
        connect(&program, *format, server).await?;
    }
    let mut targets = Vec::new();
    for route in &ROUTES {
        let target = target(&program, route).await?;
        try_once(&target).await.with_context(|| route.name.trim())?;
        targets.push(target);
    }
    let mut figures: Vec<Figures> = ROUTES.iter().map(|_| Figures::default()).collect();
    let (rounds, share) = if quick { (2, 3) } else { (ROUNDS, 1) };
    // The first round is a warm-up.
    for round in 0..=rounds {
        for (target, figures) in targets.iter().zip(&mut figures) {
            figures.measure(&program.process, target, share).await?;
            if round == 0 {
                *figures = Figures::default();
            }
        }
    }
    show(figures);
    Ok(())
}

/// Adds a connection to a server of this format.
async fn connect(program: &Program, format: Format, server: &ScriptedServer) -> anyhow::Result<()> {
    let settings = match format {
        Format::Converse => json!({"region": "eu-central-1"}),
        _ => json!({}),
    };
    let body = json!({
        "name": format.kind(), "kind": format.kind(), "base_url": format!("http://{}", server.address()),
        "api_key": "sk-bench", "settings": settings,
    });
    let mut client = Client::connect(program.address).await?;
    client
        .call("POST", "/api/v1/connections", &body.to_string())
        .await?;
    Ok(())
}

async fn target(program: &Program, route: &Route) -> anyhow::Result<Target> {
    let (_, list) = Client::connect(program.address)
        .await?
        .call("GET", "/api/v1/models", "")
        .await?;
    let list: Value = serde_json::from_slice(&list)?;
    let id = |name: &str| {
        let end = route.upstream.model(name);
        let models = list["models"].as_array().into_iter().flatten();
        let id = models
            .filter_map(|model| model["id"].as_str())
            .find(|id| id.ends_with(&end));
        id.map(str::to_owned)
            .with_context(|| format!("the program knows no model {end}"))
    };
    let models = [id(WHOLE)?, id(STREAM)?];
    Ok(Target {
        address: program.address,
        path: route.path,
        models,
        headers: String::new(),
    })
}

const COLUMNS: [&str; 9] = [
    "whole p50 ms",
    "added",
    "p99 ms",
    "added",
    "first token p50 ms",
    "µs/token",
    "added",
    "CPU µs/token",
    "allocations/token",
];

fn show(mut figures: Vec<Figures>) {
    let measured: Vec<_> = figures
        .iter_mut()
        .map(|it| {
            (
                it.whole_ms(),
                percentile(&mut it.streams.latencies_ms, 0.5),
                it.token_us(),
                it.token_cpu_us(),
            )
        })
        .collect();
    let mut lines = Vec::new();
    let mut aims = Vec::<Row>::new();
    for (route, (whole_ms, first_ms, token_us, cpu_us)) in ROUTES.iter().zip(&measured) {
        let beside = route.beside.map(|at| &measured[at]);
        let added = |of: f64, than: Option<f64>| {
            than.map_or_else(String::new, |than| format!("{:.2}", of - than))
        };
        let allocated = route.beside.map(|_| allocations_per_token(route));
        let cells = vec![
            format!("{:.2}", whole_ms[0]),
            added(whole_ms[0], beside.map(|it| it.0[0])),
            format!("{:.2}", whole_ms[1]),
            added(whole_ms[1], beside.map(|it| it.0[1])),
            format!("{first_ms:.2}"),
            format!("{token_us:.2}"),
            added(*token_us, beside.map(|it| it.2)),
            format!("{cpu_us:.1}"),
            allocated
                .flatten()
                .map_or_else(String::new, |count| format!("{count:.1}")),
        ];
        lines.push((route.name.to_owned(), Ok(cells)));
        if let Some(beside) = beside {
            aims.push(row(
                route.name,
                whole_ms[0] - beside.0[0],
                "ms",
                Some(Aim::AtMost(0.3)),
            ));
            aims.push(row(
                "    for a streamed token",
                token_us - beside.2,
                "µs",
                Some(Aim::AtMost(10.0)),
            ));
        }
    }
    let title = format!(
        "Translated beside passed on: whole answers, and streams of {TOKENS} tokens, one at a time"
    );
    print_grid(&title, &COLUMNS, &lines);
    print("What a translation adds to a whole answer", &aims);
}

/// Number of allocations per token in the codecs of a route to Chat Completions.
#[expect(clippy::cast_precision_loss, reason = "a few thousand")]
fn allocations_per_token(route: &Route) -> Option<f64> {
    let mut decoder: Box<dyn AnswerDecoder> = match route.upstream {
        Format::Chat => return None,
        Format::Messages => Box::new(anthropic::Decoder::default()),
        Format::Gemini => Box::new(gemini::Decoder::default()),
        Format::Responses => Box::new(openai_responses::ResponsesDecoder::default()),
        Format::Converse => Box::new(bedrock::Decoder::default()),
    };
    let mut encoder = ChatAnswer::new(RunId::generate(), 0, "m", "p", false);
    let writes = route.upstream.events(TOKENS);
    let mut sse = sse::Decoder::new(1 << 20);
    let mut frames = FrameDecoder::new(1 << 20);
    let mut events = Vec::new();
    let mut out = Vec::new();
    let before = allocations();
    for write in &writes {
        if route.upstream == Format::Converse {
            frames.feed(write);
            while let Some(Ok(frame)) = frames.next() {
                decoder
                    .event(Some(&frame.name), &frame.data, &mut events)
                    .ok()?;
            }
        } else {
            sse.feed(write);
            while let Some(Ok(event)) = sse.next() {
                decoder.event(event.name, &event.data, &mut events).ok()?;
            }
        }
        for event in events.drain(..) {
            encode(&mut encoder, event, &mut out);
        }
    }
    Some((allocations() - before) as f64 / writes.len() as f64)
}

fn encode(encoder: &mut ChatAnswer, event: AnswerEvent, out: &mut Vec<u8>) {
    let mut frames = Vec::new();
    match event {
        AnswerEvent::Finished { .. } => {
            encoder.finish(StopReason::Stop, Used::default(), &mut frames)
        }
        event => encoder.push(event, &mut frames),
    }
    out.clear();
    frames.iter().for_each(|frame| frame.write(out));
    black_box(&out);
}
