//! Pictures that a model makes, stored once as files of the chat. In the log the provider's data refers to the file; in a
//! request to the provider it contains the picture again.

use std::borrow::Cow;

use base64::{
    Engine, alphabet,
    engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig, general_purpose::STANDARD},
};
use domain::{
    LocalizedText, Message, Part, StoredBlock,
    event::{NoticeLevel, ToolFile},
};
use llm::{IMAGE_GENERATION, picture_places};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::{
    Workspace,
    code::picture_link,
    messages,
    tool_files::{Returned, keep_file},
    turns::AgentContext,
    workspace::{BYTES_LIMIT, Path, picture_type},
};

/// Maximum number and bytes of pictures that a request gives back to its provider. Of older ones the model reads the link in
/// its answer.
const MAX_GIVEN_BACK: usize = 8;
const MAX_GIVEN_BACK_BYTES: usize = 24_000_000;

/// Some providers leave the padding out.
const BASE64: GeneralPurpose = GeneralPurpose::new(
    &alphabet::STANDARD,
    GeneralPurposeConfig::new().with_decode_padding_mode(DecodePaddingMode::Indifferent),
);

/// Replaces a picture in the provider's data.
#[derive(Debug, PartialEq, Serialize, Deserialize)]
struct Reference {
    file: String,
    version: u64,
    /// The part of a `data:` URL before the Base64.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    prefix: String,
}

/// The stored pictures of a piece of data.
#[derive(Debug)]
pub(crate) struct Made {
    pub(crate) files: Vec<ToolFile>,
    /// Every picture was stored, so that the data can be given back.
    pub(crate) is_whole: bool,
}

/// Whether the data have pictures.
pub(crate) fn has_pictures(data: &Value) -> bool {
    !picture_places(data).is_empty()
}

/// Stores the pictures of a piece of data as files, and replaces them by references. A failure becomes a notice.
pub(crate) async fn keep_pictures(agent: &AgentContext, data: &mut Value) -> Made {
    let mut made = Made {
        files: Vec::new(),
        is_whole: true,
    };
    for place in picture_places(data) {
        let Some(picture) = data.pointer_mut(&place) else {
            continue;
        };
        let (prefix, base64) = split_data_url(picture.as_str().unwrap_or_default());
        match keep(agent, base64).await {
            Ok(file) => {
                *picture = json!(Reference {
                    file: file.path.clone(),
                    version: file.version,
                    prefix: prefix.to_owned(),
                });
                made.files.push(file);
            }
            Err(why) => {
                made.is_whole = false;
                agent.notice(NoticeLevel::Warning, why).await;
            }
        }
    }
    made
}

/// Splits a `data:` URL before its Base64; plain Base64 has nothing before it.
fn split_data_url(picture: &str) -> (&str, &str) {
    let start = if picture.starts_with("data:") {
        picture.find(',').map_or(0, |comma| comma + 1)
    } else {
        0
    };
    picture.split_at(start)
}

async fn keep(agent: &AgentContext, base64: &str) -> Result<ToolFile, LocalizedText> {
    let size = base64.len() / 4 * 3;
    if size > BYTES_LIMIT + 3 {
        return Err(messages::Runs::MadePictureTooLarge {
            size: size as u64,
            limit: BYTES_LIMIT as u64,
        }
        .into());
    }
    let bytes = BASE64
        .decode(base64)
        .map_err(|_| messages::Runs::MadePictureUnreadable)?;
    if picture_type(&bytes).is_none() {
        return Err(messages::Runs::MadePictureUnreadable.into());
    }
    let picture = Returned {
        bytes: &bytes,
        name: "",
        embed: false,
    };
    let kept = keep_file(
        &agent.run.deps.workspace,
        &agent.emitter,
        IMAGE_GENERATION,
        &picture,
    )
    .await;
    // The provider has its own form for the way back.
    kept.map(|file| ToolFile {
        for_model: false,
        ..file
    })
    .map_err(LocalizedText::from)
}

/// The conversation with the latest pictures in the data that goes back to this provider. They replace the links that
/// people see. Data whose picture is gone is left out.
pub(crate) async fn with_pictures<'m>(
    workspace: &Workspace,
    messages: &'m [Message],
    provider: &str,
) -> Cow<'m, [Message]> {
    if !messages
        .iter()
        .any(|message| wants_pictures(message, provider))
    {
        return Cow::Borrowed(messages);
    }
    let mut messages = messages.to_vec();
    let mut room = Room {
        pictures: MAX_GIVEN_BACK,
        bytes: MAX_GIVEN_BACK_BYTES,
    };
    for message in messages
        .iter_mut()
        .rev()
        .filter(|message| wants_pictures(message, provider))
    {
        let Some(provenance) = message.provenance.as_deref_mut() else {
            continue;
        };
        let mut blocks = Vec::new();
        let mut links = Vec::new();
        for mut block in std::mem::take(&mut provenance.blocks) {
            let is_given = match &mut block {
                StoredBlock::Other { data } => fill(workspace, data, &mut room, &mut links).await,
                _ => true,
            };
            blocks.extend(is_given.then_some(block));
        }
        leave_out(&links, &mut message.content, &mut blocks);
        provenance.blocks = blocks;
    }
    Cow::Owned(messages)
}

struct Room {
    pictures: usize,
    bytes: usize,
}

fn wants_pictures(message: &Message, provider: &str) -> bool {
    let provenance = message
        .provenance
        .as_deref()
        .filter(|it| it.provider == provider);
    provenance.is_some_and(|it| {
        it.blocks
            .iter()
            .any(|block| matches!(block, StoredBlock::Other { data } if has_pictures(data)))
    })
}

/// Replaces references by pictures, and collects the links to these. Whether the data is complete.
async fn fill(
    workspace: &Workspace,
    data: &mut Value,
    room: &mut Room,
    links: &mut Vec<String>,
) -> bool {
    for place in picture_places(data) {
        let Some(value) = data.pointer_mut(&place) else {
            continue;
        };
        // It may have come unchanged with the request.
        let Ok(reference) = Reference::deserialize(&*value) else {
            continue;
        };
        let Some(picture) = read(workspace, &reference, room).await else {
            return false;
        };
        *value = Value::String(picture);
        links.push(picture_link(&reference.file));
    }
    true
}

async fn read(workspace: &Workspace, reference: &Reference, room: &mut Room) -> Option<String> {
    let path = Path::parse_file(&reference.file)
        .ok()
        .filter(|_| room.pictures > 0)?;
    let read = workspace.read_version(&path, reference.version).await;
    let read = read.inspect_err(
        |problem| tracing::debug!(%problem, "a picture is not given back to its provider"),
    );
    let bytes = read
        .ok()
        .flatten()
        .filter(|bytes| bytes.len() <= room.bytes)?;
    room.pictures -= 1;
    room.bytes -= bytes.len();
    Some(format!("{}{}", reference.prefix, STANDARD.encode(bytes)))
}

/// Leaves the texts out that are nothing but one of these links: the model has not written them.
fn leave_out(links: &[String], content: &mut Vec<Part>, blocks: &mut Vec<StoredBlock>) {
    let mut at = 0;
    blocks.retain(|block| {
        if !matches!(block, StoredBlock::Text { .. }) {
            return true;
        }
        let text = content.get(at).and_then(Part::as_text);
        let is_link = text.is_some_and(|text| links.iter().any(|link| link == text));
        if is_link {
            content.remove(at);
        } else {
            at += 1;
        }
        !is_link
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_data_url_is_split_before_its_base64() {
        assert_eq!(
            split_data_url("data:image/png;base64,AA=="),
            ("data:image/png;base64,", "AA==")
        );
        assert_eq!(split_data_url("AA=="), ("", "AA=="));
        assert_eq!(
            split_data_url("https://example.org/a.png,b"),
            ("", "https://example.org/a.png,b")
        );
        assert_eq!(split_data_url("data:"), ("", "data:"));
    }

    #[test]
    fn only_links_to_the_pictures_are_left_out() {
        let text = |text: &str| Part::Text {
            text: text.to_owned(),
        };
        let block = || StoredBlock::Text { data: None };
        let other = || StoredBlock::Other { data: json!({}) };
        let link = picture_link("/results/a.png");
        let another = picture_link("/results/b.png");
        let mut content = vec![
            text("So: "),
            text(&link),
            text(&another),
            text(&format!("See {link}")),
        ];
        let mut blocks = vec![block(), other(), block(), block(), block()];
        leave_out(std::slice::from_ref(&link), &mut content, &mut blocks);
        assert_eq!(
            content,
            [text("So: "), text(&another), text(&format!("See {link}"))]
        );
        assert_eq!(blocks, [block(), other(), block(), block()]);
    }
}
