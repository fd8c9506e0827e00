//! Watches an agent at work through `/chat/stream`: `glasshouse-example "Which files are there?" [MODEL]`.

use std::{env, io::Write};

use anyhow::{Context, bail};
use futures_util::StreamExt;
use reqwest::{Client, Response};
use serde::Deserialize;
use serde_json::{Value, json};
use sse_stream::SseStream;

/// What each event holds. New types may come; those that this program does not know are ignored.
#[derive(Deserialize)]
struct Frame {
    #[serde(rename = "type")]
    kind: String,
    data: Value,
}

#[derive(Deserialize)]
struct Token {
    content: String,
    agent_depth: u32,
}

#[derive(Deserialize)]
struct ToolStart {
    name: String,
    args: Option<Value>,
}

#[derive(Deserialize)]
struct ToolEnd {
    name: String,
    result: String,
    error: bool,
}

#[derive(Deserialize)]
struct Failure {
    message: String,
}

#[derive(Deserialize)]
struct Done {
    outcome: String,
    usage: Usage,
}

#[derive(Deserialize)]
struct Usage {
    input_tokens: u64,
    output_tokens: u64,
}

struct Glasshouse {
    http: Client,
    url: String,
    key: String,
}

#[tokio::main]
async fn main() -> anyhow::Result<()> {
    // For servers with https.
    let _ = rustls::crypto::ring::default_provider().install_default();
    let mut arguments = env::args().skip(1);
    let message = arguments
        .next()
        .context("usage: glasshouse-example MESSAGE [MODEL]")?;
    let model = arguments.next().unwrap_or_else(|| "tour".to_owned());
    let server = Glasshouse {
        http: Client::new(),
        url: env::var("GLASSHOUSE_URL").unwrap_or_else(|_| "http://127.0.0.1:8000".to_owned()),
        key: env::var("GLASSHOUSE_KEY").context(
            "set GLASSHOUSE_KEY; `glasshouse key create --user you@example.org` creates one",
        )?,
    };
    server.watch(&message, &model).await
}

impl Glasshouse {
    /// Shows a run to its end, over as many connections as that takes.
    async fn watch(&self, message: &str, model: &str) -> anyhow::Result<()> {
        let mut response = self.ask(message, model).await?;
        let run = response
            .headers()
            .get("x-run-id")
            .and_then(|id| id.to_str().ok())
            .context("the answer names no run")?
            .to_owned();
        let mut last_id = "0".to_owned();
        while !show_all(response, &mut last_id).await? {
            eprintln!("The connection was lost; resuming after event {last_id}.");
            response = self.resume(&run, &last_id).await?;
        }
        Ok(())
    }

    async fn ask(&self, message: &str, model: &str) -> anyhow::Result<Response> {
        let body = json!({"messages": [{"role": "user", "content": message}], "model": model});
        let request = self.http.post(format!("{}/chat/stream", self.url));
        checked(request.bearer_auth(&self.key).json(&body).send().await?).await
    }

    async fn resume(&self, run: &str, last_id: &str) -> anyhow::Result<Response> {
        let url = format!("{}/runs/{run}/events?format=chat", self.url);
        let request = self.http.get(url).bearer_auth(&self.key);
        checked(request.header("last-event-id", last_id).send().await?).await
    }
}

/// The response, or the server's words about what is wrong.
async fn checked(response: Response) -> anyhow::Result<Response> {
    let status = response.status();
    if !status.is_success() {
        bail!("{status}: {}", response.text().await?);
    }
    Ok(response)
}

/// Shows the frames of one connection; false if it ended before the run did.
async fn show_all(response: Response, last_id: &mut String) -> anyhow::Result<bool> {
    let mut events = SseStream::from_bytes_stream(response.bytes_stream());
    while let Some(Ok(event)) = events.next().await {
        if let Some(data) = event.data {
            let frame = serde_json::from_str(&data).context("unexpected frame")?;
            if show(frame)? {
                return Ok(true);
            }
        }
        if let Some(id) = event.id {
            *last_id = id;
        }
    }
    Ok(false)
}

/// Prints a frame; true if it is the last one.
fn show(frame: Frame) -> anyhow::Result<bool> {
    match frame.kind.as_str() {
        "token" => {
            let token: Token = serde_json::from_value(frame.data)?;
            // The texts of sub-agents are not the answer.
            if token.agent_depth == 0 {
                print!("{}", token.content);
                std::io::stdout().flush()?;
            }
        }
        "tool_start" => {
            let call: ToolStart = serde_json::from_value(frame.data)?;
            println!("→ {}({})", call.name, call.args.unwrap_or_default());
        }
        "tool_end" => {
            let call: ToolEnd = serde_json::from_value(frame.data)?;
            let beginning: String = call.result.chars().take(100).collect();
            println!(
                "{} {}: {beginning}",
                if call.error { "✗" } else { "✓" },
                call.name
            );
        }
        "error" => {
            let failure: Failure = serde_json::from_value(frame.data)?;
            eprintln!("failed: {}", failure.message);
        }
        "done" => {
            let Done { outcome, usage } = serde_json::from_value(frame.data)?;
            println!(
                "\n{outcome}, {} + {} tokens",
                usage.input_tokens, usage.output_tokens
            );
            return Ok(true);
        }
        _ => {}
    }
    Ok(false)
}
