//! Applies the result of a runner to the files of the chat, with the same checks as for programs on this machine.

use std::collections::HashMap;

use runner_protocol::{CallResult, ManifestFile, Outcome, Sha256, Work, is_kept};

use super::{
    apply::{Applied, MORE, delete, shorten, write, write_again},
    known_files::KnownFiles,
    sync::Base,
    turn::refused,
};
use crate::{ToolFailure, tool::ToolContext, workspace::Path};

/// The call whose result is applied.
pub(super) struct Applying<'a> {
    pub(super) context: &'a ToolContext,
    pub(super) lease: &'a str,
    pub(super) work: &'a Work,
}

/// What an earlier server has told of the files of this call.
pub(super) fn told_before(text: &str) -> Vec<String> {
    serde_json::from_str(text).unwrap_or_default()
}

/// Applies a result. Returns how the program ended, and the changed files as lines for the model.
pub(super) async fn apply(
    applying: &Applying<'_>,
    result: CallResult,
    known: &mut KnownFiles,
) -> Result<(Outcome, Vec<String>), ToolFailure> {
    let CallResult {
        mut outcome,
        changed,
        deleted,
        left_out,
        more,
    } = result;
    let found: HashMap<&str, &ManifestFile> = applying
        .work
        .files
        .iter()
        .map(|file| (file.path.as_str(), file))
        .collect();
    let mut lines = applying.work.left_out.clone();
    lines.extend(left_out);
    // A runner that did not look at all files cannot know that one is gone.
    for name in deleted.iter().filter(|_| !more) {
        if let Some(file) = found.get(name.as_str()) {
            lines.extend(applying.delete(file, known).await?);
        }
    }
    for file in &changed {
        let before = found.get(file.path.as_str()).copied();
        if is_kept(&file.path) || before.is_some() {
            lines.push(applying.write(file, before, known).await?);
        }
    }
    if more {
        lines.push(MORE.to_owned());
    }
    shorten(&mut lines);
    if let Outcome::Cell { cell, .. } = &mut outcome {
        let is_there = |path: &String| {
            found.contains_key(path.as_str()) || changed.iter().any(|file| file.path == *path)
        };
        cell.pictures.retain(is_there);
    }
    applying.note_taken(&lines).await?;
    Ok((outcome, lines))
}

impl Applying<'_> {
    async fn delete(
        &self,
        file: &ManifestFile,
        known: &mut KnownFiles,
    ) -> Result<Option<String>, ToolFailure> {
        let path = Path::parse_file(&format!("/{}", file.path))?;
        known.remove(path.as_str());
        delete(self.context, &path, base(file)).await
    }

    async fn write(
        &self,
        file: &ManifestFile,
        before: Option<&ManifestFile>,
        known: &mut KnownFiles,
    ) -> Result<String, ToolFailure> {
        let name = format!("/{}", file.path);
        let path = match Path::parse_file(&name) {
            Ok(path) if path.as_str() == name => path,
            _ => {
                return Ok(format!(
                    "{name:?} was not kept: the chat's files cannot have that name"
                ));
            }
        };
        let store = self.context.workspace().store();
        let content = store
            .program_file(self.lease, &file.sha256.to_string())
            .await;
        let content = content.map_err(refused)?;
        // What is checked when it arrives is checked again before it is used.
        let Some(content) = content.filter(|content| Sha256::of(content) == file.sha256) else {
            return Ok(format!("{path} was not kept: its content did not arrive"));
        };
        let before = before.map(base);
        let applied = match self.context.is_continued {
            true => write_again(self.context, &path, &content, before).await?,
            false => write(self.context, &path, &content, before).await?,
        };
        match applied {
            Applied::Kept { version, line } => {
                let file = ManifestFile {
                    version,
                    ..file.clone()
                };
                known.insert(name, file);
                Ok(line)
            }
            Applied::NotKept(line) => {
                known.remove(&name);
                Ok(line)
            }
        }
    }

    /// Notes that everything is in the chat, for a server that has to continue after this one.
    async fn note_taken(&self, lines: &[String]) -> Result<(), ToolFailure> {
        let text = serde_json::to_string(lines).unwrap_or_default();
        let store = self.context.workspace().store();
        let run = self.context.agent.run.deps.trace.run;
        let taken = store
            .take_program_call(run, &self.context.call, &text)
            .await;
        taken.map_err(refused)
    }
}

fn base(file: &ManifestFile) -> Base {
    Base {
        version: file.version,
        hash: file.sha256,
    }
}
