//! Object storage for contents that never change: S3, Google Cloud Storage, Azure Blob Storage, or a folder.

mod http;
mod key;
mod problem;
mod settings;

use std::{fmt, ops::Range, sync::Arc};

use bytes::Bytes;
use futures_util::TryStreamExt;
use object_store::{ObjectStore, ObjectStoreExt, PutPayload, path::Path};

pub use key::Key;
pub use problem::Problem;
pub use settings::{InvalidSettings, Settings};

/// The name under which a probe is written.
const PROBE: &str = "probe";

/// An object storage. Cheap to clone; clones share their connections.
#[derive(Clone)]
pub struct Blobs(Arc<Inner>);

struct Inner {
    store: Box<dyn ObjectStore>,
    prefix: Path,
    place: String,
}

impl fmt::Debug for Blobs {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Blobs({})", self.0.place)
    }
}

impl Blobs {
    /// The object storage of these settings; it is not asked yet.
    ///
    /// # Errors
    /// A sentence that names the setting.
    pub fn new(settings: &Settings) -> Result<Self, InvalidSettings> {
        let (store, prefix) = settings.connect()?;
        let place = settings.url.clone();
        Ok(Self(Arc::new(Inner {
            store,
            prefix,
            place,
        })))
    }

    /// Where it is, for people: the URL of the settings.
    #[must_use]
    pub fn place(&self) -> &str {
        &self.0.place
    }

    /// Stores a content; returns once the storage has confirmed it.
    ///
    /// # Errors
    /// If it may not be stored. Then it may be there all the same.
    pub async fn put(&self, key: &Key, content: Bytes) -> Result<(), Problem> {
        self.write(key.as_str(), content).await
    }

    /// A whole content, compared with the hash in its key.
    ///
    /// # Errors
    /// `Missing` if there is no such object, `Damaged` if it has another content.
    pub async fn get(&self, key: &Key) -> Result<Bytes, Problem> {
        let content = self.read(key.as_str()).await?;
        match key.is_of(&content) {
            true => Ok(content),
            false => Err(Problem::Damaged(self.name(key.as_str()))),
        }
    }

    /// Part of a content, which the caller has to verify.
    ///
    /// # Errors
    /// `Missing` if there is no such object, `Damaged` if it ends earlier.
    pub async fn get_range(&self, key: &Key, range: Range<u64>) -> Result<Bytes, Problem> {
        let length = range.end.saturating_sub(range.start);
        let path = self.path(key.as_str());
        let part = self.0.store.get_range(&path, range).await;
        let part = part.map_err(|error| self.problem(key.as_str(), &error))?;
        match part.len() as u64 == length {
            true => Ok(part),
            false => Err(Problem::Damaged(self.name(key.as_str()))),
        }
    }

    /// Deletes a content, if it is there.
    ///
    /// # Errors
    /// If the storage does not confirm it.
    pub async fn delete(&self, key: &Key) -> Result<(), Problem> {
        self.remove(key.as_str()).await
    }

    /// The keys of all contents. Objects of other names are left out.
    ///
    /// # Errors
    /// If they cannot be listed.
    pub async fn keys(&self) -> Result<Vec<Key>, Problem> {
        let listed = self.0.store.list(Some(&self.0.prefix));
        let keys = listed.try_filter_map(async |object| {
            let path = object.location.as_ref();
            let name = path.strip_prefix(self.0.prefix.as_ref()).unwrap_or(path);
            Ok(Key::parse(name.trim_start_matches('/')))
        });
        keys.try_collect()
            .await
            .map_err(|error| self.problem("", &error))
    }

    /// Stores a text under a name of its own, such as one that tells whose storage this is.
    ///
    /// # Errors
    /// As [`Self::put`].
    async fn put_label(&self, name: &str, text: &str) -> Result<(), Problem> {
        self.write(name, Bytes::copy_from_slice(text.as_bytes()))
            .await
    }

    /// A text that was stored under a name of its own; `None` if there is none.
    ///
    /// # Errors
    /// As [`Self::get`].
    async fn label(&self, name: &str) -> Result<Option<String>, Problem> {
        match self.read(name).await {
            Ok(content) => Ok(Some(String::from_utf8_lossy(&content).into_owned())),
            Err(Problem::Missing(_)) => Ok(None),
            Err(problem) => Err(problem),
        }
    }

    /// Writes, reads and deletes an object, to see whether the storage can be used.
    ///
    /// # Errors
    /// The first thing that fails.
    pub async fn probe(&self) -> Result<(), Problem> {
        // Several servers may do this at a time.
        let name = format!("{PROBE}-{}", Key::of(PROBE.as_bytes()).name());
        let content = name.clone();
        self.put_label(&name, &content).await?;
        let read = self.label(&name).await?;
        self.remove(&name).await?;
        match read {
            Some(read) if read == content => Ok(()),
            Some(_) => Err(Problem::Damaged(self.name(&name))),
            None => Err(Problem::Missing(self.name(&name))),
        }
    }

    async fn write(&self, name: &str, content: Bytes) -> Result<(), Problem> {
        let payload = PutPayload::from_bytes(content);
        let put = self.0.store.put(&self.path(name), payload).await;
        put.map(drop).map_err(|error| self.problem(name, &error))
    }

    async fn read(&self, name: &str) -> Result<Bytes, Problem> {
        let got = async { self.0.store.get(&self.path(name)).await?.bytes().await };
        got.await.map_err(|error| self.problem(name, &error))
    }

    async fn remove(&self, name: &str) -> Result<(), Problem> {
        match self.0.store.delete(&self.path(name)).await {
            Ok(()) | Err(object_store::Error::NotFound { .. }) => Ok(()),
            Err(error) => Err(self.problem(name, &error)),
        }
    }

    fn path(&self, name: &str) -> Path {
        name.split('/')
            .fold(self.0.prefix.clone(), |path, part| path.join(part))
    }

    /// An object's name for people.
    fn name(&self, name: &str) -> String {
        format!("{}/{name}", self.0.place.trim_end_matches('/'))
    }

    fn problem(&self, name: &str, error: &object_store::Error) -> Problem {
        Problem::of(self.name(name), error)
    }
}

#[cfg(test)]
mod tests;
