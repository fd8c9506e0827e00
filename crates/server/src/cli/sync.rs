//! `glasshouse sync`: synchronizes a collection of a server with a folder of this machine, through the server's API.

use std::{
    collections::{BTreeMap, HashMap},
    io::{BufRead, IsTerminal, Write},
    path::{Path, PathBuf},
    time::Duration,
};

use anyhow::{Context, bail, ensure};
use bytes::Bytes;
use clap::Args;
use data_encoding::HEXLOWER;
use llm::Secret;
use outbound::{Allowed, Outbound};
use reqwest::{Client, Method, Url};
use ring::digest::{SHA256, digest};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};
use sources::{FolderSettings, Item, Source, SourceLimits, SourceSettings, Surroundings};

/// The timeout of a request.
const PATIENCE: Duration = Duration::from_secs(120);
/// Attempts for each request.
const ATTEMPTS: u32 = 4;
/// Number of names that are printed.
const SHOWN: usize = 20;

/// What to synchronize.
#[derive(Debug, Args)]
pub(super) struct Sync {
    /// The folder
    #[arg(value_name = "FOLDER")]
    folder: PathBuf,
    /// The collection, by its name or ID
    #[arg(long, value_name = "NAME|ID")]
    collection: String,
    /// The name of the source, which tells folders of different machines apart [default: the folder's name]
    #[arg(long, value_name = "NAME")]
    source: Option<String>,
    /// The documents, one JSON object per line with "file" in the folder and optionally "id", "name", "version", "url",
    /// "readers" {"people", "groups", "domains"}, "tags" and "metadata" [default: all files]
    #[arg(long, value_name = "FILE")]
    manifest: Option<PathBuf>,
    /// Delete documents that the folder no longer has even if they are many, without asking
    #[arg(long)]
    confirm_deletions: bool,
    /// The address of the server
    #[arg(
        long,
        value_name = "URL",
        env = "GLASSHOUSE_URL",
        default_value = "http://127.0.0.1:8000"
    )]
    server: String,
    /// An API key of the collection's owner (Settings → API keys, or `glasshouse key create`), better in GLASSHOUSE_KEY
    #[arg(long, value_name = "KEY", env = "GLASSHOUSE_KEY", hide_env_values = true, value_parser = parse_key)]
    key: Secret,
}

fn parse_key(text: &str) -> Result<Secret, &'static str> {
    match text.trim() {
        "" => Err("it is empty"),
        key => Ok(Secret::new(key)),
    }
}

/// A line of a manifest.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct Line {
    file: String,
    id: Option<String>,
    name: Option<String>,
    version: Option<String>,
    url: Option<String>,
    readers: Option<Value>,
    #[serde(default)]
    tags: Vec<String>,
    #[serde(default)]
    metadata: Map<String, Value>,
}

/// A document as the server's API expects it.
#[derive(Debug, Serialize)]
struct Listed {
    id: String,
    name: String,
    version: String,
    size_bytes: Option<u64>,
    modified_at: Option<i64>,
    url: Option<String>,
    readers: Option<Value>,
    tags: Vec<String>,
    metadata: Map<String, Value>,
}

/// A server with a key.
struct Server {
    client: Client,
    base: Url,
    key: Secret,
}

/// Synchronizes and returns what to print.
///
/// # Errors
/// A sentence for the person at the terminal.
pub(super) async fn synchronize(sync: &Sync) -> anyhow::Result<String> {
    let server = Server::new(&sync.server, sync.key.clone())?;
    let (collection, file_bytes) = server.collection(&sync.collection).await?;
    let folder = Folder::open(&sync.folder, file_bytes)?;
    let files = folder.files().await?;
    let lines = match &sync.manifest {
        Some(path) => read_manifest(path)?,
        None => files.keys().map(|file| line(file)).collect(),
    };
    let mut documents = Vec::with_capacity(lines.len());
    let mut files_of_ids = HashMap::new();
    for line in lines {
        let file = files.get(&line.file);
        let file = file.with_context(|| format!("there is no file {} in the folder", line.file))?;
        let listed = folder.listed(line, file).await?;
        files_of_ids.insert(listed.id.clone(), file);
        documents.push(listed);
    }
    let name = sync.source.clone().or_else(|| folder.name());
    let name = name.context("name the source with --source")?;
    let body = json!({ "source": name, "documents": documents });
    let place = format!("api/v1/knowledge/{collection}/sync");
    let begun = server.call(Method::POST, &place, Some(&body)).await?;
    let id = begun["id"]
        .as_str()
        .context("the server's answer has no id")?;
    let mut failed = Vec::new();
    let missing = begun["documents"].as_array().map_or(&[][..], Vec::as_slice);
    for item in missing.iter().filter_map(Value::as_str) {
        let Some(file) = files_of_ids.get(item) else {
            continue;
        };
        if let Err(error) = send(&server, &folder, &format!("{place}/{id}"), item, file).await {
            failed.push(format!("{}: {error:#}", file.name));
        }
    }
    let place = format!("{place}/{id}/complete");
    let mut done = server.call(Method::POST, &place, Some(&json!({}))).await?;
    if done["state"] == "waiting" {
        confirm(sync.confirm_deletions, &begun)?;
        let confirmed = json!({ "confirmed": done["unlisted"] });
        done = server.call(Method::POST, &place, Some(&confirmed)).await?;
    }
    let count = |field: &str| done[field].as_u64().unwrap_or(0);
    let report = format!(
        "{} added, {} updated, {} deleted, {} unchanged",
        count("added"),
        count("updated"),
        count("deleted"),
        documents.len().saturating_sub(missing.len()),
    );
    if failed.is_empty() {
        return Ok(report);
    }
    bail!("{report}; {} failed:\n{}", failed.len(), shown(&failed));
}

async fn send(
    server: &Server,
    folder: &Folder,
    sync: &str,
    item: &str,
    file: &Item,
) -> anyhow::Result<()> {
    let content = folder.read(file).await?;
    let mut url = server.url(&format!("{sync}/document"))?;
    url.query_pairs_mut().append_pair("id", item);
    server
        .send(Method::PUT, url, content, "application/octet-stream")
        .await?;
    Ok(())
}

/// Asks whether many documents may be deleted.
fn confirm(is_confirmed: bool, begun: &Value) -> anyhow::Result<()> {
    if is_confirmed {
        return Ok(());
    }
    let names = begun["unlisted_names"].as_array();
    let names: Vec<String> = names
        .into_iter()
        .flatten()
        .filter_map(|name| name.as_str().map(str::to_owned))
        .collect();
    let count = begun["unlisted"].as_u64().unwrap_or(0);
    let question = format!(
        "The folder no longer has {count} documents:\n{}",
        shown(&names)
    );
    if !std::io::stdin().is_terminal() {
        bail!(
            "{question}\nThey were not deleted: confirm it with --confirm-deletions, or on the collection's page"
        );
    }
    let mut out = std::io::stderr().lock();
    write!(out, "{question}\nDelete them? [y/N] ")?;
    out.flush()?;
    let mut answer = String::new();
    std::io::stdin().read_line(&mut answer)?;
    ensure!(
        matches!(answer.trim(), "y" | "Y" | "yes"),
        "they were not deleted"
    );
    Ok(())
}

fn shown(names: &[String]) -> String {
    let mut lines: Vec<String> = names.iter().take(SHOWN).map(|n| format!("  {n}")).collect();
    if names.len() > SHOWN {
        lines.push(format!("  and {} more", names.len() - SHOWN));
    }
    lines.join("\n")
}

fn line(file: &str) -> Line {
    Line {
        file: file.to_owned(),
        ..Line::default()
    }
}

fn read_manifest(path: &Path) -> anyhow::Result<Vec<Line>> {
    let file = std::fs::File::open(path);
    let file = file.with_context(|| format!("{} cannot be read", path.display()))?;
    let mut lines = Vec::new();
    for (at, text) in std::io::BufReader::new(file).lines().enumerate() {
        let text = text.with_context(|| format!("{} cannot be read", path.display()))?;
        if text.trim().is_empty() {
            continue;
        }
        let parsed = serde_json::from_str(&text);
        lines.push(parsed.with_context(|| format!("{} line {}", path.display(), at + 1))?);
    }
    Ok(lines)
}

/// A folder of this machine.
struct Folder {
    path: PathBuf,
    source: Source,
}

impl Folder {
    fn open(path: &Path, file_bytes: u64) -> anyhow::Result<Self> {
        let path = path.canonicalize();
        let path = path.context("the folder cannot be read")?;
        ensure!(path.is_dir(), "{} is no folder", path.display());
        let text = path.to_str().context("the folder's path is not UTF-8")?;
        let surroundings = Surroundings {
            outbound: Outbound::new(Allowed::default()),
            folders: vec![path.clone()],
            limits: SourceLimits {
                items: 10_000,
                item_bytes: usize::try_from(file_bytes).unwrap_or(usize::MAX),
            },
        };
        let settings = SourceSettings::Folder(FolderSettings {
            path: text.to_owned(),
        });
        let source = Source::new(settings, "", surroundings)?;
        Ok(Self { path, source })
    }

    fn name(&self) -> Option<String> {
        let name = self.path.file_name()?;
        Some(name.to_str()?.to_owned())
    }

    /// Its files by path.
    async fn files(&self) -> anyhow::Result<BTreeMap<String, Item>> {
        let listing = self.source.list().await?;
        if let Some(part) = listing.problems.first() {
            bail!("{}: {}", part.name, part.problem);
        }
        let files = listing.items.into_iter();
        Ok(files.map(|item| (item.id.clone(), item)).collect())
    }

    async fn read(&self, file: &Item) -> anyhow::Result<Bytes> {
        let read = self.source.read(file).await;
        read.with_context(|| file.name.clone())
    }

    /// Without a version in the manifest, the hash of the content is.
    async fn listed(&self, line: Line, file: &Item) -> anyhow::Result<Listed> {
        let version = match line.version {
            Some(version) => version,
            // What is too large is refused when it is sent.
            None => match self.source.read(file).await {
                Ok(content) => HEXLOWER.encode(digest(&SHA256, &content).as_ref()),
                Err(_) => file.version.clone(),
            },
        };
        Ok(Listed {
            id: line.id.unwrap_or_else(|| line.file.clone()),
            name: line.name.unwrap_or(line.file),
            version,
            size_bytes: file.size_bytes,
            modified_at: file.modified_ms,
            url: line.url,
            readers: line.readers,
            tags: line.tags,
            metadata: line.metadata,
        })
    }
}

impl Server {
    fn new(address: &str, key: Secret) -> anyhow::Result<Self> {
        let base = format!("{}/", address.trim_end_matches('/')).parse();
        let base = base.with_context(|| format!("{address} is no address"))?;
        // Fails only if a provider is already installed, which is fine.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let client = Client::builder().timeout(PATIENCE).build()?;
        Ok(Self { client, base, key })
    }

    fn url(&self, place: &str) -> anyhow::Result<Url> {
        Ok(self.base.join(place)?)
    }

    /// The id of a collection, and the maximum size of a file.
    async fn collection(&self, wanted: &str) -> anyhow::Result<(String, u64)> {
        let all = self.call(Method::GET, "api/v1/knowledge", None).await?;
        let collections = all["collections"].as_array().map_or(&[][..], Vec::as_slice);
        let by = |field: &str| -> Vec<&str> {
            let found = collections.iter().filter(|one| one[field] == wanted);
            found.filter_map(|one| one["id"].as_str()).collect()
        };
        let found = match by("id") {
            ids if ids.is_empty() => by("name"),
            ids => ids,
        };
        let [id] = found[..] else {
            match found.len() {
                0 => bail!("there is no collection {wanted}"),
                count => bail!("{count} collections are named {wanted}: use the ID"),
            }
        };
        let file_bytes = all["file_bytes"].as_u64().unwrap_or(u64::MAX);
        Ok((id.to_owned(), file_bytes))
    }

    async fn call(
        &self,
        method: Method,
        place: &str,
        body: Option<&Value>,
    ) -> anyhow::Result<Value> {
        let body = body.map(ToString::to_string).unwrap_or_default();
        let url = self.url(place)?;
        self.send(method, url, body.into(), "application/json")
            .await
    }

    /// Sends a request, again if the server is busy or cannot be reached.
    async fn send(
        &self,
        method: Method,
        url: Url,
        body: Bytes,
        media_type: &str,
    ) -> anyhow::Result<Value> {
        let mut attempt = 1;
        loop {
            let request = self
                .client
                .request(method.clone(), url.clone())
                .bearer_auth(self.key.reveal())
                .header("content-type", media_type)
                .body(body.clone());
            let answer = request.send().await;
            let is_last = attempt == ATTEMPTS;
            match answer {
                Ok(answer) if is_last || !is_busy(answer.status().as_u16()) => {
                    return read(answer).await;
                }
                Err(error) if is_last || !(error.is_connect() || error.is_timeout()) => {
                    return Err(error).context("the server cannot be reached");
                }
                _ => tokio::time::sleep(Duration::from_secs(1 << attempt)).await,
            }
            attempt += 1;
        }
    }
}

fn is_busy(status: u16) -> bool {
    matches!(status, 429 | 502 | 503 | 504)
}

async fn read(answer: reqwest::Response) -> anyhow::Result<Value> {
    let status = answer.status();
    let text = answer.text().await?;
    let parsed: Value = serde_json::from_str(&text).unwrap_or_default();
    if status.is_success() {
        return Ok(parsed);
    }
    let message = parsed["error"]["message"].as_str();
    bail!("{} ({status})", message.unwrap_or("the server refuses it"))
}
