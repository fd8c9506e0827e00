//! Signed links to a run's files for external readers: in its answer and with its calls, including the content for
//! readers that cannot follow links.

use std::{borrow::Cow, collections::HashMap, sync::Arc};

use agent::workspace::Path;
use axum::http::HeaderMap;
use base64::{Engine, engine::general_purpose::STANDARD};
use domain::{EventBody, RunEvent, RunId, event::ToolFile};
use store::{Store, StoreError};

use crate::{
    app::App,
    identity::auth::own_url,
    platform::clock::Clock,
    runtime::file_links::{FileLinks, FilePlace, LinkText},
};

/// Maximum size of inlined pictures and of inlined HTML, bytes.
const MAX_PICTURE_BYTES: u64 = 1_000_000;
const MAX_EMBED_BYTES: u64 = 500_000;
/// Maximum size of all inlined content of one answer, bytes.
const MAX_INLINE_BYTES: u64 = 4_000_000;

/// Whether a reader gets the content of pictures and HTML with a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Contents {
    /// The reader fetches them by their links.
    Linked,
    /// The reader can only show inline content.
    Inline,
}

/// Resolves the files of one run for a reader.
pub struct RunFiles {
    store: Store,
    links: Arc<FileLinks>,
    clock: Clock,
    run: RunId,
    /// The public URL of this server; `None` if unknown, and then texts are not changed.
    base_url: Option<String>,
    contents: Contents,
    /// The run's workspace, once loaded.
    place: Option<FilePlace>,
    /// The latest known version of each file.
    versions: HashMap<String, u64>,
    /// The texts that are being streamed.
    texts: HashMap<String, LinkText>,
    inlined_bytes: u64,
}

impl RunFiles {
    /// For a reader who sent these headers and may read all files of the run.
    pub(crate) fn new(app: &App, run: RunId, headers: &HeaderMap, contents: Contents) -> Self {
        Self {
            store: app.store.clone(),
            links: Arc::clone(&app.file_links),
            clock: app.clock.clone(),
            run,
            base_url: own_url(&app.config.now(), headers).ok(),
            contents,
            place: None,
            versions: HashMap::new(),
            texts: HashMap::new(),
            inlined_bytes: 0,
        }
    }
}

/// The reader's version of the event, with links if it has `files`; `None` if nothing of it can be sent yet.
pub(crate) async fn for_reader<'e>(
    files: Option<&mut RunFiles>,
    event: &'e RunEvent,
) -> Option<Cow<'e, RunEvent>> {
    match files {
        Some(files) => files.read(event).await,
        None => Some(Cow::Borrowed(event)),
    }
}

impl RunFiles {
    /// The reader's version of the event; `None` if nothing of it can be sent yet.
    async fn read<'e>(&mut self, event: &'e RunEvent) -> Option<Cow<'e, RunEvent>> {
        match &event.body {
            EventBody::FileChanged {
                path,
                version,
                deleted,
                ..
            } => {
                match deleted {
                    true => drop(self.versions.remove(path)),
                    false => drop(self.versions.insert(path.clone(), *version)),
                }
                Some(Cow::Borrowed(event))
            }
            EventBody::TextDelta { item, delta } if self.base_url.is_some() => {
                self.read_delta(event, item, delta).await
            }
            EventBody::TextFinished {
                item,
                text,
                answer,
                reasoning,
            } if self.base_url.is_some() => {
                self.texts.remove(item);
                if !text.contains("](") || !self.look().await {
                    return Some(Cow::Borrowed(event));
                }
                let text = LinkText::whole(text, |address| self.find(address));
                let item = item.clone();
                let answer = *answer;
                let reasoning = *reasoning;
                let body = EventBody::TextFinished {
                    item,
                    text,
                    answer,
                    reasoning,
                };
                Some(with_body(event, body))
            }
            EventBody::ToolFinished { files, .. } if !files.is_empty() && self.look().await => {
                let mut files = files.clone();
                for file in &mut files {
                    self.fill(file).await;
                }
                let mut body = event.body.clone();
                if let EventBody::ToolFinished { files: listed, .. } = &mut body {
                    *listed = files;
                }
                Some(with_body(event, body))
            }
            _ => Some(Cow::Borrowed(event)),
        }
    }

    async fn read_delta<'e>(
        &mut self,
        event: &'e RunEvent,
        item: &str,
        delta: &str,
    ) -> Option<Cow<'e, RunEvent>> {
        if !self.texts.contains_key(item) {
            self.texts.insert(item.to_owned(), LinkText::default());
        }
        let passes = self
            .texts
            .get_mut(item)
            .is_none_or(|text| text.passes(delta));
        if passes || !self.look().await {
            return Some(Cow::Borrowed(event));
        }
        let mut text = self.texts.remove(item).unwrap_or_default();
        let delta = text.push(delta, |address| self.find(address));
        self.texts.insert(item.to_owned(), text);
        let body = EventBody::TextDelta {
            item: item.to_owned(),
            delta,
        };
        (!matches!(&body, EventBody::TextDelta { delta, .. } if delta.is_empty()))
            .then(|| with_body(event, body))
    }

    /// Loads the run's workspace and its files, once. Returns whether they are known.
    async fn look(&mut self) -> bool {
        if self.place.is_some() {
            return true;
        }
        match self.look_up().await {
            Ok(place) => self.place = Some(place),
            Err(error) => {
                tracing::debug!(run = %self.run, %error, "failed to load the files of a run for links")
            }
        }
        self.place.is_some()
    }

    async fn look_up(&mut self) -> Result<FilePlace, StoreError> {
        let (owner, workspace) = self.store.run_workspace(self.run).await?;
        for file in self.store.files(&workspace).await? {
            // Versions from the log take precedence: they belong to the text that follows.
            self.versions.entry(file.path).or_insert(file.version);
        }
        Ok(FilePlace { owner, workspace })
    }

    /// The signed link for a link target in a text, if it is a file.
    fn find(&self, address: &str) -> Option<String> {
        let path = decoded(address.strip_prefix("sandbox:").unwrap_or(address))?;
        let path = Path::parse_file(&path).ok()?;
        // The path of the files inside the sandbox.
        let (path, version) = self.version(path.as_str()).or_else(|| {
            self.version(
                path.as_str()
                    .strip_prefix("/files")
                    .filter(|rest| rest.starts_with('/'))?,
            )
        })?;
        let base_url = self.base_url.as_deref()?;
        Some(format!("{base_url}{}", self.address(path, version)?))
    }

    fn version<'p>(&self, path: &'p str) -> Option<(&'p str, u64)> {
        self.versions.get(path).map(|version| (path, *version))
    }

    fn address(&self, path: &str, version: u64) -> Option<String> {
        let place = self.place.as_ref()?;
        Some(
            self.links
                .address(place, path, version, self.clock.now_ms()),
        )
    }

    /// Adds a file's link and, if the reader needs it, its content.
    async fn fill(&mut self, file: &mut ToolFile) {
        let base_url = self.base_url.as_deref().unwrap_or_default();
        file.url = self
            .address(&file.path, file.version)
            .map(|address| format!("{base_url}{address}"));
        let limit = if file.embed {
            MAX_EMBED_BYTES
        } else {
            MAX_PICTURE_BYTES
        };
        let is_wanted = self.contents == Contents::Inline && (file.embed || file.is_picture());
        if !is_wanted
            || file.size_bytes > limit
            || self.inlined_bytes + file.size_bytes > MAX_INLINE_BYTES
        {
            return;
        }
        let Some(place) = &self.place else { return };
        match self
            .store
            .read_file_version(&place.workspace, &file.path, file.version)
            .await
        {
            Ok(Some(state)) if !state.deleted => {
                self.inlined_bytes += file.size_bytes;
                file.content = if file.embed {
                    String::from_utf8(state.content).ok()
                } else {
                    Some(format!(
                        "data:{};base64,{}",
                        file.media_type,
                        STANDARD.encode(&state.content)
                    ))
                };
            }
            Ok(_) => {}
            Err(error) => {
                tracing::debug!(run = %self.run, %error, "failed to inline a file of a call")
            }
        }
    }
}

fn with_body(event: &RunEvent, body: EventBody) -> Cow<'_, RunEvent> {
    Cow::Owned(RunEvent {
        run: event.run,
        seq: event.seq,
        at: event.at,
        agent: event.agent.clone(),
        body,
    })
}

/// The address without percent-encoding; `None` if it is not UTF-8.
fn decoded(address: &str) -> Option<String> {
    percent_encoding::percent_decode_str(address)
        .decode_utf8()
        .ok()
        .map(Cow::into_owned)
}
