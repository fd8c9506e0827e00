//! What a request brings along in its `metadata`, for the run that answers it: files, what is known of the moment, and which
//! tools may be used.

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

/// The folder of the files that came along.
const FOLDER: &str = "/attachments";
/// How Open WebUI begins the id of a server of tools, and then of one that speaks MCP.
const SERVER: &str = "server:";
const MCP: &str = "mcp:";

/// The tools that search and read the web, ours and those of servers that call theirs so.
const WEB: [&str; 3] = ["web_*", "fetch_page", "*__web_*"];

/// Which tools may be used: each choice has to let one through.
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

/// A name as a pattern that fits nothing else.
fn literal(name: &str) -> String {
    name.replace('\\', r"\\").replace('*', r"\*")
}

/// Names are short: none is refused, and one that were would allow nothing.
fn pattern(text: String) -> Option<Pattern> {
    Pattern::try_from(text).ok()
}

/// Puts the files into the workspace, where they are not there yet, and tells the model of all that came with the last
/// message.
///
/// # Errors
/// 4xx where a file is too large, or there is no room for it.
pub(crate) async fn unpack(
    metadata: &RequestMetadata,
    workspace: &Workspace,
    history: &mut [Message],
) -> Result<(), ApiError> {
    let mut told = String::new();
    for file in &metadata.files {
        match &file.content {
            Some(content) => {
                let path = put(workspace, &file.name, content).await?;
                _ = writeln!(told, "- The file {path}, {} bytes", content.len());
            }
            None => {
                _ = writeln!(
                    told,
                    "- The file “{}”: only its name came along, not what it holds",
                    file.name
                )
            }
        }
    }
    for (name, value) in &metadata.variables {
        _ = writeln!(told, "- {name}: {value}");
    }
    let said = history
        .iter_mut()
        .rev()
        .find(|message| message.role == Role::User);
    if let (false, Some(said)) = (told.is_empty(), said) {
        let text = format!("\n\n[What the person's program sent along with this message:\n{told}]");
        said.content.push(Part::Text { text });
    }
    Ok(())
}

/// Where the file is now. Programs send the files of a chat with each message: one that is there is not written again, and
/// what became of it meanwhile is not overwritten.
pub(crate) async fn put(
    workspace: &Workspace,
    name: &str,
    content: &[u8],
) -> Result<Path, ApiError> {
    let mut path = Path::parse_file(&format!("{FOLDER}/{name}"))?;
    let mut there = held(workspace, &path).await?;
    if there.as_ref().is_some_and(|there| there != content) {
        // Another of this name, or an earlier one that has been changed since. What has a folder for its content is this one.
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

/// Tells contents of one name apart.
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
