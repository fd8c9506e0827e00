//! The identity of the caller as trusted model servers get it: the headers that Open WebUI established, and `metadata`
//! in the body.

use std::sync::Arc;

use agent::{ModelSettings, OneShot};
use axum::http::{HeaderMap, HeaderName, HeaderValue};
use domain::{CallTrace, ChatId, Message, MessageId, Part, Person, Role};
use llm::{CallerInfo, ChatModel};
use percent_encoding::{AsciiSet, CONTROLS, NON_ALPHANUMERIC, utf8_percent_encode};
use serde_json::{Map, Value, json};
use store::{Principal, StoreError, User, UserRole};

use crate::{
    gateway::{Gateway, models::ResolvedModel},
    identity::auth::{
        Authority, Caller, PERSON_EMAIL as EMAIL, PERSON_ID as ID, PERSON_NAME as NAME,
        PERSON_ROLE as ROLE,
    },
    platform::request_context,
};

/// The header with the chat's id.
pub(crate) const CHAT_ID: HeaderName = HeaderName::from_static("x-openwebui-chat-id");
/// The header with the name of a small task of a chat, such as a title: a receiver starts no agent for it.
pub(crate) const TASK: HeaderName = HeaderName::from_static("x-openwebui-task");

/// The characters that Python's `quote(name, safe=" ")` encodes, as Open WebUI does for names.
const IN_NAMES: &AsciiSet = &NON_ALPHANUMERIC
    .remove(b' ')
    .remove(b'-')
    .remove(b'.')
    .remove(b'_')
    .remove(b'~');

/// Fields of `metadata` that are lists, empty by default.
const LISTS: [&str; 3] = ["files", "tool_ids", "filter_ids"];
/// Fields of `metadata` that are objects, empty by default.
const OBJECTS: [&str; 2] = ["features", "variables"];

impl Caller {
    /// The id by which trusted servers know the caller.
    pub(crate) fn forwarded_id(&self) -> String {
        self.person
            .as_ref()
            .map_or_else(|| self.id().to_string(), |person| person.id.clone())
    }

    /// The caller information for a trusted server that a request is forwarded to: the account, or the person whom a
    /// trusted front end names, with that front end's chat. From any other caller, these headers could be forged.
    pub(crate) fn info(&self, headers: &HeaderMap) -> CallerInfo {
        let chat = headers.get(&CHAT_ID).filter(|_| self.person.is_some());
        let chat = chat.and_then(|chat| chat.to_str().ok());
        let headers = match &self.person {
            Some(person) => headers_of(person, chat),
            None => headers_of(&account(&self.user), None),
        };
        CallerInfo::new(headers, Map::new())
    }
}

impl Gateway {
    /// The caller information for trusted servers, for a call on this authority. `chat` is a chat of this server; a
    /// chat of a front end is in `metadata`, whose missing fields are filled in. `None` if no server is trusted.
    ///
    /// # Errors
    /// If the database fails.
    pub(crate) async fn caller_info(
        &self,
        authority: &Authority,
        chat: Option<ChatId>,
        mut metadata: Map<String, Value>,
    ) -> Result<Option<Arc<CallerInfo>>, StoreError> {
        if !self.models.catalogue().trusts_any() {
            return Ok(None);
        }
        let asker = self.asker(authority).await?;
        if let Some(chat) = chat {
            metadata.insert("chat_id".to_owned(), json!(chat));
        }
        metadata.insert("user_id".to_owned(), json!(asker.id));
        let lists = LISTS.map(|field| (field, json!([])));
        let objects = OBJECTS.map(|field| (field, json!({})));
        for (field, empty) in lists.into_iter().chain(objects) {
            metadata.entry(field).or_insert(empty);
        }
        // Any other key could name a chat that is not its own.
        let may_name = chat.is_some() || authority.principal.is_front_end_person();
        let chat = metadata
            .get("chat_id")
            .and_then(Value::as_str)
            .filter(|_| may_name);
        let mut headers = headers_of(&asker, chat);
        let task = metadata.get("task").and_then(Value::as_str);
        headers.extend(task.and_then(|task| Some((TASK, HeaderValue::from_str(task).ok()?))));
        Ok(Some(Arc::new(CallerInfo::new(headers, metadata))))
    }

    /// [`Gateway::caller_info`] without a chat and `metadata`, for calls that do not belong to a conversation.
    ///
    /// # Errors
    /// If the database fails.
    pub(crate) async fn caller_headers(
        &self,
        principal: &Principal,
    ) -> Result<CallerInfo, StoreError> {
        let authority = Authority {
            principal: principal.clone(),
            key_models: None,
            person: None,
        };
        Ok(CallerInfo::new(
            headers_of(&self.asker(&authority).await?, None),
            Map::new(),
        ))
    }

    async fn asker(&self, authority: &Authority) -> Result<Person, StoreError> {
        Ok(match (&authority.person, &authority.principal.person) {
            (Some(person), _) => Person::clone(person),
            (None, Some(id)) => Person {
                id: id.clone(),
                ..Person::default()
            },
            (None, None) => account(&self.store.user(authority.principal.account).await?),
        })
    }
}

/// The headers for this person and chat. Characters that are invalid in a header are encoded.
fn headers_of(person: &Person, chat: Option<&str>) -> HeaderMap {
    let plain = |text: &str| utf8_percent_encode(text.trim(), CONTROLS).to_string();
    let values = [
        (ID, Some(plain(&person.id))),
        (
            NAME,
            person
                .name
                .as_deref()
                .map(|name| utf8_percent_encode(name.trim(), IN_NAMES).to_string()),
        ),
        (EMAIL, person.email.as_deref().map(plain)),
        (ROLE, person.role.as_deref().map(plain)),
        (CHAT_ID, chat.map(plain)),
    ];
    let filled = values
        .into_iter()
        .filter_map(|(name, value)| Some((name, value.filter(|value| !value.is_empty())?)));
    filled
        .filter_map(|(name, value)| Some((name, HeaderValue::from_str(&value).ok()?)))
        .collect()
}

/// An account in the form in which front ends name their users.
fn account(user: &User) -> Person {
    let role = match user.role {
        UserRole::Admin => "admin",
        UserRole::User => "user",
    };
    Person {
        id: user.id.to_string(),
        name: Some(user.name.clone()),
        email: Some(user.email.clone()),
        role: Some(role.to_owned()),
    }
}

/// The settings and the caller of a model call outside of runs.
pub(crate) struct OneShotAbout {
    settings: ModelSettings,
    caller: Option<Arc<CallerInfo>>,
    trace: Option<CallTrace>,
}

impl OneShotAbout {
    /// The call of this model with these settings.
    pub(crate) fn of<'a>(&'a self, model: &'a ChatModel) -> OneShot<'a> {
        let Self {
            settings,
            caller,
            trace,
        } = self;
        OneShot {
            model,
            settings,
            caller: caller.as_ref(),
            trace: trace.as_ref(),
        }
    }
}

impl Gateway {
    /// The settings of `model` for a call outside of runs, on behalf of the authority it was resolved for.
    ///
    /// # Errors
    /// If the database fails.
    pub(crate) async fn one_shot(
        &self,
        model: &ResolvedModel,
        chat: Option<ChatId>,
        metadata: Map<String, Value>,
    ) -> Result<OneShotAbout, StoreError> {
        Ok(OneShotAbout {
            settings: model.callable().settings,
            caller: self.caller_info(&model.authority, chat, metadata).await?,
            trace: request_context::request_id().map(|_| request_context::passed_on()),
        })
    }
}

/// The fields that a turn adds to the `metadata` of its caller.
pub(crate) struct TurnMetadata<'a> {
    /// The message that the answer is written to.
    pub(crate) message: Option<MessageId>,
    /// The conversation, which ends with the request.
    pub(crate) history: &'a [Message],
    /// Whether the web is searched before the answer.
    pub(crate) web_search: bool,
    /// Whether programs can be run.
    pub(crate) code_interpreter: bool,
    /// Whether memories of the person are used.
    pub(crate) memory: bool,
}

impl TurnMetadata<'_> {
    /// The metadata with these fields; fields that the caller set are kept.
    pub(crate) fn added_to(&self, mut metadata: Map<String, Value>) -> Map<String, Value> {
        if let Some(message) = self.message {
            metadata.insert("message_id".to_owned(), json!(message));
        }
        let Self {
            web_search,
            code_interpreter,
            memory,
            ..
        } = self;
        let features = json!({"web_search": web_search, "code_interpreter": code_interpreter, "memory": memory});
        metadata.entry("features").or_insert(features);
        metadata
            .entry("files")
            .or_insert_with(|| files(self.history));
        metadata
    }
}

/// The attachments of the last user message, in Open WebUI's form. Their contents are left out.
fn files(history: &[Message]) -> Value {
    let asked = history.iter().rfind(|message| message.role == Role::User);
    let medium = |kind: &str, url: &str| match url.starts_with("data:") {
        true => json!({"type": kind}),
        false => json!({"type": kind, "url": url}),
    };
    let file = |part: &Part| match part {
        Part::Document { document, name, .. } => {
            Some(json!({"type": "file", "id": document, "name": name}))
        }
        Part::Collection { collection, name } => {
            Some(json!({"type": "collection", "id": collection, "name": name}))
        }
        Part::Image { url } => Some(medium("image", url)),
        Part::Audio { url } => Some(medium("audio", url)),
        Part::Video { url } => Some(medium("video", url)),
        Part::File { url, name, .. } => {
            let mut file = medium("file", url);
            file["name"] = name.as_str().into();
            Some(file)
        }
        Part::Text { .. } => None,
    };
    asked.map_or_else(
        || json!([]),
        |message| message.content.iter().filter_map(file).collect(),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn headers(name: &str, email: &str) -> HeaderMap {
        let some = |text: &str| Some(text.to_owned());
        let person = Person {
            id: "7".into(),
            name: some(name),
            email: some(email),
            role: some("user"),
        };
        headers_of(&person, Some("chat 1"))
    }

    /// As Open WebUI 0.12.4 writes them: `quote(user.name.strip(), safe=" ")`.
    #[test]
    fn names_are_encoded_as_open_webui_does() {
        for (name, expected) in [
            (" Ada Lovelace ", "Ada Lovelace"),
            ("Анна", "%D0%90%D0%BD%D0%BD%D0%B0"),
            ("R&D/Ops 50%", "R%26D%2FOps 50%25"),
            ("a-b_c.d~e", "a-b_c.d~e"),
            ("O'Neil \"x\"", "O%27Neil %22x%22"),
        ] {
            assert_eq!(headers(name, "a@b")[&NAME], expected, "{name}");
        }
    }

    #[test]
    fn nothing_breaks_out_of_a_header() {
        let headers = headers("a\r\nX-Admin: 1", "ann\r\nX-Admin: 1@example.org");
        assert_eq!(headers[&NAME], "a%0D%0AX-Admin%3A 1");
        assert_eq!(headers[&EMAIL], "ann%0D%0AX-Admin: 1@example.org");
        assert_eq!(headers[&CHAT_ID], "chat 1");
        assert_eq!(headers.len(), 5);
        let without_person = headers_of(
            &Person {
                id: "7".into(),
                name: Some(" ".into()),
                ..Person::default()
            },
            None,
        );
        assert_eq!(without_person.len(), 1, "what is empty is left out");
    }

    #[test]
    fn a_turn_adds_what_the_caller_has_not_said() {
        let url = "https://example.org/a.png".to_owned();
        let history = [
            Message {
                content: vec![Part::Image { url }],
                ..Message::text(Role::User, "")
            },
            Message::text(Role::Assistant, "Nice."),
        ];
        let turn = TurnMetadata {
            message: None,
            history: &history,
            web_search: true,
            code_interpreter: false,
            memory: false,
        };
        let added = turn.added_to(Map::new());
        assert_eq!(
            added["files"],
            json!([{"type": "image", "url": "https://example.org/a.png"}])
        );
        assert_eq!(added["features"]["web_search"], true);
        let said = json!({"features": {"web_search": false}, "files": []});
        let kept = turn.added_to(said.as_object().cloned().unwrap());
        assert_eq!(Value::Object(kept), said);
    }
}
