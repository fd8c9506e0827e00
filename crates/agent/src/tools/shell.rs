//! `shell`: runs a command in the chat's sandbox.

use sandbox::{Collected, Ended, Outcome};
use schemars::JsonSchema;
use serde::Deserialize;

use crate::{Tool, ToolFailure, programs::Programs, tool::ToolContext};

#[derive(Deserialize, JsonSchema)]
struct Arguments {
    /// The commands for `/bin/sh`, run in the folder `/files`.
    #[schemars(length(min = 1, max = 50000))]
    command: String,
}

pub(crate) fn tool(programs: &Programs) -> Result<Tool, ToolFailure> {
    let seconds = programs.limits().wall_ms / 1000;
    let description = format!(
        "Runs a shell command in a sandbox without network. The chat's files are in /files (the file /notes.md is \
         /files/notes.md); what a command changes there is kept. Nothing else is. Limit: {seconds} seconds."
    );
    let kind = programs.kind();
    let programs = programs.clone();
    Tool::new("shell", &description, kind, move |arguments, context| {
        shell(programs.clone(), arguments, context)
    })
}

async fn shell(
    programs: Programs,
    arguments: Arguments,
    context: ToolContext,
) -> Result<String, ToolFailure> {
    let (outcome, files) = programs
        .run_script(&context, &arguments.command, &[])
        .await?;
    let report = report(&outcome, &files);
    if report.is_empty() {
        context.note_for_model("It printed nothing and changed no files.");
    }
    if matches!(outcome.ended, Ended::Exit(_)) {
        Ok(report)
    } else {
        Err(ToolFailure(report))
    }
}

/// Output, errors, exit status and changed files; empty parts are omitted.
fn report(outcome: &Outcome, files: &[String]) -> String {
    let mut parts = output(&outcome.stdout, &outcome.stderr);
    match &outcome.ended {
        Ended::Exit(0) => {}
        ended => parts.push(format!("[{ended}]")),
    }
    parts.extend(changed(files));
    parts.join("\n")
}

pub(super) fn output(stdout: &Collected, stderr: &Collected) -> Vec<String> {
    let mut parts = Vec::new();
    if !stdout.text.trim_end().is_empty() {
        parts.push(stdout.text.trim_end().to_owned());
    }
    if !stderr.text.trim_end().is_empty() {
        parts.push(format!("[standard error]\n{}", stderr.text.trim_end()));
    }
    parts
}

pub(super) fn changed(files: &[String]) -> Option<String> {
    (!files.is_empty()).then(|| format!("[files: {}]", files.join("; ")))
}
