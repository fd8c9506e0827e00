//! Files produced by tool calls: stored in the chat, reported in the log, and shown to the model.

use base64::{Engine, engine::general_purpose::STANDARD};
use data_encoding::HEXLOWER;
use domain::{Message, Part, Role, event::ToolFile};
use ring::digest::{SHA256, digest};

use crate::{
    Emitter, ToolContext, Workspace,
    workspace::{FileProblem, Path, media_type},
};

/// Maximum number of files reported for one call.
const MAX_FILES: usize = 32;
/// Maximum size of a file shown to the model, bytes.
const MAX_FOR_MODEL_BYTES: u64 = 5_000_000;
/// Maximum number of files shown to the model per call.
const MAX_FOR_MODEL: usize = 8;
/// If a conversation has more media from tools than this, the older ones are dropped.
const MAX_IN_CONTEXT: Bound = Bound {
    files: 16,
    bytes: 24_000_000,
};
/// How many are then kept. They are not dropped one by one, since each drop invalidates the server's prompt cache.
const LEFT_IN_CONTEXT: Bound = Bound {
    files: 8,
    bytes: 12_000_000,
};
/// Replaces a medium that was dropped.
const DROPPED: &str = "[not shown any more: read_file shows a picture again]";

struct Bound {
    files: usize,
    bytes: usize,
}

/// A result of a tool other than text.
#[derive(Debug)]
pub struct Returned<'a> {
    /// The content.
    pub bytes: &'a [u8],
    /// A name, used only for its extension; may be empty.
    pub name: &'a str,
    /// Whether it is HTML to be shown in a frame.
    pub embed: bool,
}

impl ToolContext {
    /// Stores a result of the tool as a file of the chat, once per content, and reports it when the call ends. Pictures
    /// and sounds are shown to the model.
    ///
    /// # Errors
    /// If there is no room for it, or the database does not respond.
    pub async fn keep_returned(
        &self,
        tool: &str,
        returned: &Returned<'_>,
    ) -> Result<ToolFile, FileProblem> {
        let file = keep_file(self.workspace(), &self.agent.emitter, tool, returned).await?;
        self.attach(file.clone());
        Ok(file)
    }

    /// Reports a new state of a file when the call ends, replacing an earlier one.
    pub(crate) fn attach(&self, file: ToolFile) {
        let mut files = self
            .files
            .lock()
            .unwrap_or_else(std::sync::PoisonError::into_inner);
        files.retain(|known| known.path != file.path);
        if files.len() < MAX_FILES {
            files.push(file);
        }
    }

    /// Reports a file that a program has written, if it is a medium.
    pub(crate) fn attach_written(&self, path: &Path, version: u64, bytes: &[u8]) {
        if let Some(media_type) = media_type(bytes) {
            self.attach(ToolFile {
                path: path.to_string(),
                version,
                media_type: media_type.to_owned(),
                size_bytes: bytes.len() as u64,
                for_model: false,
                embed: false,
                url: None,
                content: None,
            });
        }
    }
}

/// Stores a file produced by a tool or a model as a file of the chat, once per content.
///
/// # Errors
/// If there is no room for it, or the database does not respond.
pub(crate) async fn keep_file(
    workspace: &Workspace,
    emitter: &Emitter,
    tool: &str,
    returned: &Returned<'_>,
) -> Result<ToolFile, FileProblem> {
    let Returned { bytes, embed, .. } = *returned;
    let found = media_type(bytes);
    let (media_type, ending) = match found {
        _ if embed => ("text/html", "html"),
        Some(media_type) => (media_type, ending_of(media_type)),
        None => (
            "application/octet-stream",
            plain_ending(returned.name).unwrap_or("bin"),
        ),
    };
    let stem: String = tool
        .chars()
        .map(|c| if c.is_ascii_alphanumeric() { c } else { '-' })
        .take(40)
        .collect();
    let folder = workspace.results_folder();
    let path = Path::parse_file(&format!("{folder}/{stem}-{}.{ending}", short_hash(bytes)))?;
    let version = keep_once(workspace, emitter, &path, bytes).await?;
    Ok(ToolFile {
        path: path.to_string(),
        version,
        media_type: media_type.to_owned(),
        size_bytes: bytes.len() as u64,
        for_model: media_type.starts_with("image/") || media_type.starts_with("audio/"),
        embed,
        url: None,
        content: None,
    })
}

/// Writes a file whose name is derived from its content, unless it exists. Returns its version.
async fn keep_once(
    workspace: &Workspace,
    emitter: &Emitter,
    path: &Path,
    bytes: &[u8],
) -> Result<u64, FileProblem> {
    let written = match workspace.write_bytes(path, bytes, Some(0)).await {
        Err(FileProblem::Conflict(_)) => match workspace.read_bytes(path).await {
            Ok((there, version)) if there == bytes => return Ok(version),
            // It was deleted or changed.
            _ => workspace.write_bytes(path, bytes, None).await?,
        },
        written => written?,
    };
    emitter.emit(written.event(path)).await;
    Ok(written.version)
}

/// The parts of a call's files for the model, besides its text.
pub(crate) async fn parts_for_model(workspace: &Workspace, files: &[ToolFile]) -> Vec<Part> {
    let mut parts = Vec::new();
    for file in files
        .iter()
        .filter(|file| file.for_model)
        .take(MAX_FOR_MODEL)
    {
        if file.size_bytes > MAX_FOR_MODEL_BYTES {
            let text = format!(
                "[{} is too large to be shown to you: {} bytes]",
                file.path, file.size_bytes
            );
            parts.push(Part::Text { text });
            continue;
        }
        let Ok(path) = Path::parse_file(&file.path) else {
            continue;
        };
        match workspace.read_version(&path, file.version).await {
            Ok(Some(bytes)) => {
                let url = format!(
                    "data:{};base64,{}",
                    file.media_type,
                    STANDARD.encode(&bytes)
                );
                parts.push(if file.is_picture() {
                    Part::Image { url }
                } else {
                    Part::Audio { url }
                });
            }
            Ok(None) => {}
            Err(problem) => {
                tracing::debug!(%problem, path = file.path, "failed to read a file of a call for the model")
            }
        }
    }
    parts
}

/// Drops the older media from tools if a conversation has many, since each request would carry all of them.
pub(crate) fn drop_old_media(messages: &mut [Message]) {
    let mut files = 0;
    let mut bytes = 0;
    for url in messages
        .iter()
        .filter(|message| message.role == Role::Tool)
        .flat_map(media_of)
    {
        files += 1;
        bytes += url.len();
    }
    if files <= MAX_IN_CONTEXT.files && bytes <= MAX_IN_CONTEXT.bytes {
        return;
    }
    let mut files = 0;
    let mut bytes = 0;
    for message in messages
        .iter_mut()
        .rev()
        .filter(|message| message.role == Role::Tool)
    {
        for part in message.content.iter_mut().rev() {
            let Some(url) = part.medium() else { continue };
            files += 1;
            bytes += url.len();
            if files > LEFT_IN_CONTEXT.files || bytes > LEFT_IN_CONTEXT.bytes {
                *part = Part::Text {
                    text: DROPPED.to_owned(),
                };
            }
        }
    }
}

fn media_of(message: &Message) -> impl Iterator<Item = &str> {
    message.content.iter().filter_map(Part::medium)
}

fn short_hash(bytes: &[u8]) -> String {
    HEXLOWER.encode(&digest(&SHA256, bytes).as_ref()[..6])
}

/// The usual extension for this media type.
fn ending_of(media_type: &str) -> &'static str {
    match media_type {
        "image/png" => "png",
        "image/jpeg" => "jpg",
        "image/gif" => "gif",
        "image/webp" => "webp",
        "audio/wav" => "wav",
        "audio/mpeg" => "mp3",
        "audio/ogg" => "ogg",
        "audio/flac" => "flac",
        "audio/mp4" => "m4a",
        "video/mp4" => "mp4",
        "video/quicktime" => "mov",
        "video/webm" => "webm",
        "application/pdf" => "pdf",
        _ => "bin",
    }
}

/// The extension of a name, if it is short and plain.
fn plain_ending(name: &str) -> Option<&str> {
    let (_, ending) = name
        .rsplit_once('/')
        .map_or(name, |(_, last)| last)
        .rsplit_once('.')?;
    let is_plain =
        (1..=8).contains(&ending.len()) && ending.bytes().all(|byte| byte.is_ascii_alphanumeric());
    is_plain.then_some(ending)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn with_picture(size: usize) -> Message {
        let mut message = Message::tool_result("c", "[Picture: /results/a.png]");
        message.content.push(Part::Image {
            url: "x".repeat(size),
        });
        message
    }

    #[test]
    fn a_conversation_with_many_pictures_loses_the_older_ones() {
        let mut messages = vec![with_picture(10); MAX_IN_CONTEXT.files];
        drop_old_media(&mut messages);
        assert_eq!(
            messages.iter().flat_map(media_of).count(),
            16,
            "so many may stay"
        );
        messages.push(with_picture(11));
        drop_old_media(&mut messages);
        assert_eq!(
            messages.iter().flat_map(media_of).count(),
            LEFT_IN_CONTEXT.files
        );
        assert_eq!(
            media_of(&messages[16]).next().map(str::len),
            Some(11),
            "the newest stays"
        );
        assert_eq!(
            messages[0].plain_text(),
            format!("[Picture: /results/a.png]\n{DROPPED}")
        );

        let mut large = vec![with_picture(13_000_000); 2];
        drop_old_media(&mut large);
        assert_eq!(
            large.iter().flat_map(media_of).count(),
            0,
            "one alone is too large"
        );
    }

    #[test]
    fn pictures_that_a_person_sent_stay() {
        let mut messages = vec![Message {
            role: Role::User,
            ..with_picture(30_000_000)
        }];
        drop_old_media(&mut messages);
        assert_eq!(messages.iter().flat_map(media_of).count(), 1);
    }

    #[test]
    fn endings_are_short_and_plain() {
        for (name, expected) in [
            ("file:///a/b.csv", Some("csv")),
            ("ui://a/b", None),
            ("a.", None),
            ("a.b/c", None),
            ("x.tar.gz", Some("gz")),
            ("x.p h", None),
            ("x.verylongending", None),
        ] {
            assert_eq!(plain_ending(name), expected, "{name}");
        }
    }
}
