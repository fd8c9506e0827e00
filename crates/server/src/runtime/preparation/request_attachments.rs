//! Attachments of a request in its `metadata`: files, variables and the tools that the run may use.

use std::fmt::Write;

use agent::{
    MEMORY_TOOLS, PROGRAM_TOOLS, Pattern, ToolChoice, Workspace,
    workspace::{FileProblem, Path},
};
use data_encoding::HEXLOWER;
use domain::{Message, Part, Role};
use ring::digest::{SHA256, digest};
use wire::RequestMetadata;

use crate::error::ApiError;

/// The folder for attached files.
const FOLDER: &str = "/attachments";
/// Open WebUI's prefix for the id of a tool server, and the one after it for an MCP server.
const SERVER: &str = "server:";
const MCP: &str = "mcp:";

/// The tools that search and read the web: built-in ones, and those of servers with the same names.
const WEB: [&str; 3] = ["web_*", "fetch_page", "*__web_*"];

/// Restrictions of the tools: a tool is allowed only if each of them allows it.
pub(crate) fn tool_choices(metadata: &RequestMetadata) -> Vec<ToolChoice> {
    let mut choices = Vec::new();
    if !metadata.tool_ids.is_empty() {
        let of_server = |id: &String| {
            let name = id.strip_prefix(SERVER).unwrap_or(id);
            let name = literal(name.strip_prefix(MCP).unwrap_or(name));
            [pattern(name.clone()), pattern(format!("{name}__*"))]
        };
        choices.push(ToolChoice::Only(
            metadata
                .tool_ids
                .iter()
                .flat_map(of_server)
                .flatten()
                .collect(),
        ));
    }
    let features = &metadata.features;
    let switched: [(Option<bool>, &[&str]); 3] = [
        (features.web_search, &WEB),
        (features.code_interpreter, &PROGRAM_TOOLS),
        (features.memory, &MEMORY_TOOLS),
    ];
    for (on, tools) in switched {
        if on == Some(false) {
            let patterns = tools.iter().filter_map(|tool| pattern((*tool).to_owned()));
            choices.push(ToolChoice::Except(patterns.collect()));
        }
    }
    choices
}

/// A name as a pattern that matches only itself.
fn literal(name: &str) -> String {
    name.replace('\\', r"\\").replace('*', r"\*")
}

/// Names are short enough to be valid. An invalid one would allow nothing.
fn pattern(text: String) -> Option<Pattern> {
    Pattern::try_from(text).ok()
}

/// Puts the files into the workspace, unless they are there already, and appends a list of all attachments to the last
/// user message.
///
/// # Errors
/// 4xx if a file is too large or the workspace is full.
pub(crate) async fn unpack(
    metadata: &RequestMetadata,
    workspace: &Workspace,
    history: &mut [Message],
) -> Result<(), ApiError> {
    let mut list = String::new();
    for file in &metadata.files {
        match &file.content {
            Some(content) => {
                let path = put(workspace, &file.name, content).await?;
                _ = writeln!(list, "- The file {path}, {} bytes", content.len());
            }
            None => {
                _ = writeln!(
                    list,
                    "- The file “{}”: only its name came along, not what it holds",
                    file.name
                )
            }
        }
    }
    for (name, value) in &metadata.variables {
        _ = writeln!(list, "- {name}: {value}");
    }
    let said = history
        .iter_mut()
        .rev()
        .find(|message| message.role == Role::User);
    if let (false, Some(said)) = (list.is_empty(), said) {
        let text = format!("\n\n[What the person's program sent along with this message:\n{list}]");
        said.content.push(Part::Text { text });
    }
    Ok(())
}

/// Returns the file's path. Clients send all files of a chat with each message: an existing file is not written again,
/// and later changes to it are not overwritten.
pub(crate) async fn put(
    workspace: &Workspace,
    name: &str,
    content: &[u8],
) -> Result<Path, ApiError> {
    let mut path = Path::parse_file(&format!("{FOLDER}/{name}"))?;
    let mut there = held(workspace, &path).await?;
    if there.as_ref().is_some_and(|there| there != content) {
        // The path is taken by another file of this name, or by a changed version. A folder named by the content hash
        // is unique.
        path = Path::parse_file(&format!("{FOLDER}/{}/{name}", fingerprint(content)))?;
        there = held(workspace, &path).await?;
    }
    if there.is_none() {
        workspace.write_bytes(&path, content, Some(0)).await?;
    }
    Ok(path)
}

async fn held(workspace: &Workspace, path: &Path) -> Result<Option<Vec<u8>>, ApiError> {
    match workspace.peek(path).await {
        Ok(there) => Ok(Some(there)),
        Err(FileProblem::Missing(_)) => Ok(None),
        Err(problem) => Err(problem.into()),
    }
}

/// A hash that distinguishes files of the same name.
fn fingerprint(content: &[u8]) -> String {
    HEXLOWER.encode(&digest(&SHA256, content).as_ref()[..6])
}

#[cfg(test)]
mod tests {
    use wire::Features;

    use super::*;

    fn is_allowed(metadata: &RequestMetadata, name: &str) -> bool {
        tool_choices(metadata)
            .iter()
            .all(|choice| choice.allows(name))
    }

    #[test]
    fn tools_are_named_by_themselves_or_by_their_server() {
        let named = |ids: &[&str]| RequestMetadata {
            tool_ids: ids.iter().map(|id| (*id).to_owned()).collect(),
            ..RequestMetadata::default()
        };
        assert!(is_allowed(&named(&[]), "python") && is_allowed(&named(&[]), "files__read"));
        let some = named(&["python", "server:mcp:files", "a*"]);
        for (name, expected) in [
            ("python", true),
            ("files__read", true),
            ("shell", false),
            ("python3", false),
            ("myfiles__read", false),
            ("abc", false),
            ("a*", true),
        ] {
            assert_eq!(is_allowed(&some, name), expected, "{name}");
        }
    }

    #[test]
    fn features_that_are_off_take_their_tools_away() {
        let features = |on: Option<bool>| RequestMetadata {
            features: Features {
                web_search: on,
                code_interpreter: on,
                memory: on,
                citations: on,
            },
            ..RequestMetadata::default()
        };
        for name in [
            "web_search",
            "fetch_page",
            "searx__web_search",
            "python",
            "shell",
            "memory_read",
            "ls",
        ] {
            assert!(
                is_allowed(&features(None), name) && is_allowed(&features(Some(true)), name),
                "{name}"
            );
            assert_eq!(
                is_allowed(&features(Some(false)), name),
                name == "ls",
                "{name}"
            );
        }
        assert!(!agent::may_remember(&tool_choices(&features(Some(false)))));
        assert!(agent::may_remember(&tool_choices(&features(None))));
    }
}
