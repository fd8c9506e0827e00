//! Pipelines around a chat: their results, and what they cost the answer.

mod autocomplete;
mod beside;
mod look_ups;
mod search;
mod titles;

use std::path::Path;

use serde_json::Value;

use crate::{
    client::Client,
    program::{Program, Setup},
};

/// With a real model, measures only what requires one; otherwise everything else.
pub(crate) async fn measure(
    program: &Path,
    real_model: Option<&str>,
    quick: bool,
) -> anyhow::Result<()> {
    match real_model {
        None => {
            beside::measure(program, quick).await?;
            look_ups::measure(program, quick).await?;
            search::measure(program, quick).await
        }
        Some(base_url) => {
            autocomplete::measure(program, base_url, quick).await?;
            titles::measure(program, base_url, quick).await?;
            look_ups::with_real_model(program, base_url, quick).await
        }
    }
}

/// A program with only these pipelines enabled.
fn start(program: &Path, upstream: &str, on: &[&str]) -> anyhow::Result<Program> {
    let names = variables(on);
    let environment: Vec<(&str, &str)> = names.iter().map(|name| (name.as_str(), "true")).collect();
    let upstream = Some(upstream.to_owned());
    Program::start(Setup {
        program,
        upstream,
        data_dir: None,
        environment: &environment,
    })
}

/// The environment variables that enable them.
fn variables(on: &[&str]) -> Vec<String> {
    on.iter()
        .map(|name| format!("GLASSHOUSE_PIPELINES_ENABLE_{name}_GENERATION"))
        .collect()
}

async fn get(client: &mut Client, path: &str) -> anyhow::Result<Value> {
    let (_, answer) = client.call("GET", path, "").await?;
    Ok(serde_json::from_slice(&answer)?)
}

/// A pipeline's statistics, as shown to administrators.
async fn seen(client: &mut Client, name: &str) -> anyhow::Result<Value> {
    let list = get(client, "/api/v1/pipelines").await?;
    let found = list["pipelines"]
        .as_array()
        .into_iter()
        .flatten()
        .find(|one| one["name"] == name);
    Ok(found.cloned().unwrap_or_default())
}

/// Sends a task request like a front end. Returns the time taken in milliseconds, the model's JSON, and the number of
/// output tokens.
async fn ask_task(
    client: &mut Client,
    task: &str,
    body: &Value,
) -> anyhow::Result<(f64, Value, f64)> {
    let path = format!("/api/v1/tasks/{task}/completions");
    let (ms, answer) = client.call("POST", &path, &body.to_string()).await?;
    let answer: Value = serde_json::from_slice(&answer)?;
    let text = answer["choices"][0]["message"]["content"]
        .as_str()
        .unwrap_or_default();
    let tokens = answer["usage"]["completion_tokens"]
        .as_f64()
        .unwrap_or_default();
    Ok((ms, serde_json::from_str(text).unwrap_or_default(), tokens))
}
