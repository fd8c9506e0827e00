//! Many paced streams at once: the delay of the first token through Glasshouse compared with the model server alone.

use std::{net::SocketAddr, path::Path, sync::Arc, time::Duration};

use scripted::{Behaviour, Finish, Reply, ScriptedServer, ServerOptions, Step};
use tokio::time::Instant;

use crate::{
    client::Client,
    program::{Program, Setup},
    table::{Aim, percentile, print},
    turns::{request, row, until_model_known, upstream},
};

/// Numbers of concurrent streams. The driver and the model share the machine with the program.
const LEVELS: [u32; 3] = [250, 500, 1000];
const TOKENS: usize = 100;
const TOKENS_PER_SECOND: f64 = 30.0;
/// The streams start spread over this time, as people would.
const SPREAD: Duration = Duration::from_secs(3);

pub(crate) async fn measure(program: &Path, quick: bool) -> anyhow::Result<()> {
    for streams in if quick { &LEVELS[..1] } else { &LEVELS[..] } {
        measure_level(program, *streams).await?;
    }
    Ok(())
}

async fn measure_level(program: &Path, streams: u32) -> anyhow::Result<()> {
    let reply = Reply::stream(&[
        Step::Text {
            text: "token ".repeat(TOKENS),
            tokens_per_second: Some(TOKENS_PER_SECOND),
        },
        Step::Usage {
            input_tokens: 10,
            output_tokens: 100,
        },
        Step::Finish {
            reason: Finish::Stop,
        },
    ]);
    let options = ServerOptions {
        keep_requests: false,
        ..ServerOptions::default()
    };
    let model = ScriptedServer::start_with(Behaviour::always(reply), options).await?;
    let upstream = upstream(&model)?;
    let program = Program::start(Setup {
        program,
        upstream: Some(model.base_url()),
        data_dir: None,
        environment: &[],
    })?;
    until_model_known(&program).await?;
    let mut direct = first_tokens(
        upstream,
        "/v1/chat/completions",
        "\"content\":\"token",
        streams,
    )
    .await?;
    let cpu_before = program.process.cpu_s()?;
    let mut through = first_tokens(
        program.address,
        "/chat/stream",
        "\"type\":\"token\"",
        streams,
    )
    .await?;
    let cpu_us = (program.process.cpu_s()? - cpu_before) * 1e6 / (f64::from(streams) * 100.0);
    let (_, peak_mb) = program.process.memory_mb()?;
    let [p50, p99] = [0.5, 0.99].map(|share| {
        let direct = percentile(&mut direct, share);
        let through = percentile(&mut through, share);
        (direct, through, through - direct)
    });
    // The aim applies to the largest number of streams.
    let aim = (streams == LEVELS[LEVELS.len() - 1]).then_some(Aim::AtMost(20.0));
    print(
        &format!("{streams} streams at 30 tokens a second, everything stored"),
        &[
            row(
                "first token straight from the model, p50",
                p50.0,
                "ms",
                None,
            ),
            row("first token through us, p50", p50.1, "ms", None),
            row(
                "first token straight from the model, p99",
                p99.0,
                "ms",
                None,
            ),
            row("first token through us, p99", p99.1, "ms", None),
            row("added to the first token, p50", p50.2, "ms", None),
            row("added to the first token, p99", p99.2, "ms", aim),
            row("processor time of one token", cpu_us, "µs", None),
            row("peak memory", peak_mb, "MB", None),
        ],
    );
    Ok(())
}

/// Time from each stream's request to its first token, milliseconds.
async fn first_tokens(
    address: SocketAddr,
    path: &'static str,
    mark: &'static str,
    streams: u32,
) -> anyhow::Result<Vec<f64>> {
    let body: Arc<str> = request().into();
    // All connect before the first begins, since a burst of connections is not what is measured here.
    let mut clients = Vec::new();
    for _ in 0..streams {
        clients.push(Client::connect(address).await?);
    }
    let began = Instant::now();
    let mut workers = tokio::task::JoinSet::new();
    for (mut client, number) in clients.into_iter().zip(0..) {
        let body = Arc::clone(&body);
        workers.spawn(async move {
            tokio::time::sleep_until(began + SPREAD * number / streams).await;
            client.stream(path, &body, mark.as_bytes()).await
        });
    }
    let mut first = Vec::new();
    while let Some(timing) = workers.join_next().await {
        first.extend(timing??.mark_ms);
    }
    Ok(first)
}
