//! Decodes `metadata` of a request, as sent by Open WebUI and others: the chat, attachments, and switched-off features.

use base64::{Engine, engine::general_purpose::STANDARD};
use serde_json::{Map, Value};

use crate::conversation::{Checked, InvalidRequest, present, text, wrong};

/// Maximum number of entries of a list.
const LIST_LIMIT: usize = 100;
/// Maximum length of a name of a chat, a tool, a file or a variable, bytes.
const NAME_LIMIT_BYTES: usize = 200;
/// Maximum length of a value of a variable, bytes.
const VALUE_LIMIT_BYTES: usize = 4_000;
/// Maximum size of the part that is passed to model servers with every call of a run, bytes.
const PASSED_ON_LIMIT_BYTES: usize = 32 << 10;

/// The fields with a meaning to agents. The rest, such as `filter_ids`, is private to the sender.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct RequestMetadata {
    /// The chat of another program: `chat_id`, or `session_id` if that is missing.
    pub chat_id: Option<String>,
    /// `files`: attachments of the person.
    pub files: Vec<AttachedFile>,
    /// `tool_ids`: the only allowed tools; all if empty.
    pub tool_ids: Vec<String>,
    /// `features`.
    pub features: Features,
    /// `variables`: facts about the person and the moment, by names without braces.
    pub variables: Vec<(String, String)>,
    /// The received object for model servers; without nulls and long values, such as file contents.
    pub passed_on: Map<String, Value>,
}

/// An attached file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AttachedFile {
    /// The file name, without folders.
    pub name: String,
    /// The content; `None` if only the name was sent.
    pub content: Option<Vec<u8>>,
}

/// Feature switches; `None` if unspecified.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Features {
    /// Searching the web.
    pub web_search: Option<bool>,
    /// Running programs.
    pub code_interpreter: Option<bool>,
    /// Memories of the person.
    pub memory: Option<bool>,
    /// Showing sources.
    pub citations: Option<bool>,
}

impl RequestMetadata {
    /// Decodes the field of a request; the default if it is missing.
    pub(crate) fn of(request: &Map<String, Value>) -> Checked<Self> {
        let fields = match present(request, "metadata") {
            None => return Ok(Self::default()),
            Some(Value::Object(fields)) => fields,
            Some(_) => return wrong("`metadata`", "an object"),
        };
        let id = |field: &str| {
            let what = format!("`metadata.{field}`");
            let id = present(fields, field)
                .map(|id| name(id, &what))
                .transpose()?;
            Ok(id.filter(|id| !id.is_empty()))
        };
        Ok(Self {
            chat_id: id("chat_id")?.or(id("session_id")?),
            files: list(fields, "files", AttachedFile::of)?,
            tool_ids: list(fields, "tool_ids", |id, at| name(id, at).map(Some))?,
            features: Features::of(fields)?,
            variables: variables(fields)?,
            passed_on: passed_on(fields),
        })
    }
}

/// The part that is passed to model servers.
#[must_use]
pub fn passed_on(metadata: &Map<String, Value>) -> Map<String, Value> {
    let mut described = Map::new();
    let mut room = PASSED_ON_LIMIT_BYTES;
    for (name, value) in metadata {
        let Some(value) = short(value).filter(|value| value != "") else {
            continue;
        };
        let bytes = name.len() + value.to_string().len();
        if bytes <= room {
            room -= bytes;
            described.insert(name.clone(), value);
        }
    }
    described
}

/// The value without nulls and long texts.
fn short(value: &Value) -> Option<Value> {
    match value {
        Value::Null => None,
        Value::String(text) if text.len() > VALUE_LIMIT_BYTES => None,
        Value::Array(items) => Some(items.iter().filter_map(short).collect()),
        Value::Object(fields) => {
            let fields = fields
                .iter()
                .filter_map(|(name, value)| Some((name.clone(), short(value)?)));
            Some(Value::Object(fields.collect()))
        }
        other => Some(other.clone()),
    }
}

impl Features {
    fn of(metadata: &Map<String, Value>) -> Checked<Self> {
        let features = match present(metadata, "features") {
            None => return Ok(Self::default()),
            Some(Value::Object(features)) => features,
            Some(_) => return wrong("`metadata.features`", "an object"),
        };
        let switch = |name: &str| match present(features, name) {
            None => Ok(None),
            Some(Value::Bool(on)) => Ok(Some(*on)),
            Some(_) => wrong(&format!("`metadata.features.{name}`"), "true or false"),
        };
        Ok(Self {
            web_search: switch("web_search")?,
            code_interpreter: switch("code_interpreter")?,
            memory: switch("memory")?,
            citations: switch("citations")?,
        })
    }
}

impl AttachedFile {
    /// `None` if the entry is no file, such as a collection.
    fn of(entry: &Value, at: &str) -> Checked<Option<Self>> {
        let Value::Object(fields) = entry else {
            return wrong(at, "an object");
        };
        if !matches!(
            fields.get("type").and_then(Value::as_str),
            None | Some("file" | "image" | "text")
        ) {
            return Ok(None);
        }
        let named = ["/name", "/filename", "/file/filename", "/file/meta/name"];
        let named = named
            .iter()
            .find_map(|place| entry.pointer(place).filter(|name| !name.is_null()));
        let named = named
            .map(|named| name(named, &format!("the name of {at}")))
            .transpose()?;
        let named = named
            .as_deref()
            .and_then(|name| name.rsplit(['/', '\\']).next());
        let named = named
            .map(str::trim)
            .filter(|name| !matches!(*name, "" | "." | ".."));
        let data = entry
            .get("url")
            .and_then(Value::as_str)
            .and_then(|url| url.strip_prefix("data:"));
        let content = match data {
            Some(data) => Some(decoded(data, at)?),
            None => {
                let places = ["/file/data/content", "/data/content", "/content"];
                let words = places
                    .iter()
                    .find_map(|place| entry.pointer(place))
                    .and_then(Value::as_str);
                words.map(|words| words.as_bytes().to_vec())
            }
        };
        Ok(Some(Self {
            name: named.unwrap_or("file").to_owned(),
            content,
        }))
    }
}

/// The bytes of a `data:` URL, from after its colon.
fn decoded(data: &str, at: &str) -> Checked<Vec<u8>> {
    let bytes = data
        .split_once(";base64,")
        .and_then(|(_, data)| STANDARD.decode(data).ok());
    bytes.ok_or_else(|| {
        InvalidRequest(format!(
            "{at} has a `url` that is no valid data:…;base64,… address."
        ))
    })
}

fn variables(metadata: &Map<String, Value>) -> Checked<Vec<(String, String)>> {
    let variables = match present(metadata, "variables") {
        None => return Ok(Vec::new()),
        Some(Value::Object(variables)) if variables.len() <= LIST_LIMIT => variables,
        Some(_) => {
            return wrong(
                "`metadata.variables`",
                &format!("an object of at most {LIST_LIMIT} texts"),
            );
        }
    };
    let read = |(name, value): (&String, &Value)| {
        let bare = name.trim_matches(['{', '}', ' ']);
        let plain = !bare.is_empty()
            && bare.len() <= NAME_LIMIT_BYTES
            && bare
                .chars()
                .all(|c| c.is_alphanumeric() || c == '_' || c == '-');
        if !plain {
            return wrong(
                "A name in `metadata.variables`",
                "letters, digits, “_” and “-”",
            );
        }
        let what = format!("`metadata.variables.{bare}`");
        let value = match value {
            Value::Null => return Ok(None),
            Value::Number(_) | Value::Bool(_) => value.to_string(),
            value => text(value, &what)?.to_owned(),
        };
        if value.len() > VALUE_LIMIT_BYTES {
            return wrong(&what, &format!("at most {VALUE_LIMIT_BYTES} bytes long"));
        }
        Ok(Some((bare.to_owned(), value)))
    };
    let mut read: Vec<_> = variables
        .iter()
        .filter_map(|variable| read(variable).transpose())
        .collect::<Checked<_>>()?;
    read.sort();
    Ok(read)
}

/// The entries of a list; those for which `read` returns `None` are left out.
fn list<T>(
    metadata: &Map<String, Value>,
    field: &str,
    read: impl Fn(&Value, &str) -> Checked<Option<T>>,
) -> Checked<Vec<T>> {
    let entries = match present(metadata, field) {
        None => return Ok(Vec::new()),
        Some(Value::Array(entries)) if entries.len() <= LIST_LIMIT => entries,
        Some(_) => {
            return wrong(
                &format!("`metadata.{field}`"),
                &format!("a list of at most {LIST_LIMIT} entries"),
            );
        }
    };
    let read = |(number, entry)| read(entry, &format!("`metadata.{field}[{number}]`")).transpose();
    entries.iter().enumerate().filter_map(read).collect()
}

fn name(value: &Value, what: &str) -> Checked<String> {
    match text(value, what)? {
        name if name.len() > NAME_LIMIT_BYTES => {
            wrong(what, &format!("at most {NAME_LIMIT_BYTES} bytes long"))
        }
        name if name.chars().any(char::is_control) => wrong(what, "without control characters"),
        name => Ok(name.to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn read(metadata: Value) -> Checked<RequestMetadata> {
        RequestMetadata::of(json!({ "metadata": metadata }).as_object().unwrap())
    }

    fn refused(metadata: Value, because: &str) {
        let why = read(metadata.clone()).unwrap_err().to_string();
        assert!(why.contains(because), "{metadata}: {why}");
    }

    #[test]
    fn open_webui_metadata_is_read() {
        let sent = json!({
            "user_id": "u", "chat_id": "c 1", "session_id": "s", "message_id": "m", "filter_ids": ["f"],
            "tool_ids": ["python", "server:mcp:files"],
            "files": [
                {"type": "file", "id": "7", "name": "plan.md", "file": {"filename": "p", "data": {"content": "# Plan"}}},
                {"type": "collection", "name": "all of them"},
                {"type": "image", "url": "data:image/png;base64,AAEC"},
                {"type": "file", "name": "../up/scan.pdf", "url": "https://chat.test/api/v1/files/8"},
            ],
            "features": {"citations": false, "web_search": true, "image_generation": true},
            "variables": {"{{USER_NAME}}": "Анна", "{{CURRENT_DATE}}": "2026-11-23", "x": null, "n": 3},
        });
        let metadata = read(sent.clone());
        let file = |name: &str, content: Option<&[u8]>| AttachedFile {
            name: name.to_owned(),
            content: content.map(<[u8]>::to_vec),
        };
        let expected = RequestMetadata {
            chat_id: Some("c 1".into()),
            files: vec![
                file("plan.md", Some(b"# Plan")),
                file("file", Some(&[0, 1, 2])),
                file("scan.pdf", None),
            ],
            tool_ids: vec!["python".into(), "server:mcp:files".into()],
            features: Features {
                web_search: Some(true),
                citations: Some(false),
                ..Features::default()
            },
            variables: vec![
                ("CURRENT_DATE".into(), "2026-11-23".into()),
                ("USER_NAME".into(), "Анна".into()),
                ("n".into(), "3".into()),
            ],
            passed_on: passed_on(sent.as_object().unwrap()),
        };
        assert_eq!(metadata, Ok(expected));
    }

    #[test]
    fn all_that_is_short_is_passed_on() {
        let sent = json!({
            "user_id": "u", "own": {"deep": [1, null, "x".repeat(4_001)]}, "none": null,
            "files": [{"id": "7", "file": {"data": {"content": "x".repeat(4_001)}}}],
            "long": vec!["x".repeat(4_000); 9],
        });
        let described = passed_on(sent.as_object().unwrap());
        let expected = json!({
            "user_id": "u", "own": {"deep": [1]}, "files": [{"id": "7", "file": {"data": {}}}],
        });
        assert_eq!(Value::Object(described), expected);
    }

    #[test]
    fn a_session_id_replaces_a_missing_chat_id() {
        assert_eq!(
            read(json!({"session_id": "s"})).unwrap().chat_id.as_deref(),
            Some("s")
        );
        for nothing in [
            json!({}),
            json!(null),
            json!({"chat_id": null}),
            json!({"chat_id": "", "files": null}),
        ] {
            assert_eq!(read(nothing), Ok(RequestMetadata::default()));
        }
    }

    #[test]
    fn invalid_metadata_is_named() {
        refused(json!("x"), "`metadata` must be an object");
        refused(json!({"chat_id": 1}), "`metadata.chat_id` must be a string");
        refused(json!({"session_id": {}}), "`metadata.session_id`");
        refused(json!({"chat_id": "x".repeat(201)}), "at most 200 bytes");
        refused(
            json!({"tool_ids": "python"}),
            "`metadata.tool_ids` must be a list",
        );
        refused(
            json!({"tool_ids": ["a", 1]}),
            "`metadata.tool_ids[1]` must be a string",
        );
        refused(json!({"tool_ids": vec!["a"; 101]}), "at most 100");
        refused(
            json!({"features": []}),
            "`metadata.features` must be an object",
        );
        refused(
            json!({"features": {"web_search": "no"}}),
            "`metadata.features.web_search` must be true or false",
        );
        refused(
            json!({"files": ["a"]}),
            "`metadata.files[0]` must be an object",
        );
        refused(json!({"files": [{"name": "a\0b"}]}), "NUL");
        refused(
            json!({"files": [{"name": "a", "url": "data:text/plain,hi"}]}),
            "`metadata.files[0]`",
        );
        refused(json!({"variables": {"a b": "x"}}), "`metadata.variables`");
        refused(
            json!({"variables": {"a": ["x"]}}),
            "`metadata.variables.a` must be a string",
        );
        refused(
            json!({"variables": {"a": "x".repeat(4001)}}),
            "at most 4000 bytes",
        );
    }
}
