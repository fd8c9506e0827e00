//! `glasshouse models fetch`: downloads the built-in model's files from a given base URL to where the server expects
//! them. Files are kept only if their hash matches; an interrupted download is resumed by the next one.

use std::{
    fs,
    io::Read,
    path::{Path, PathBuf},
    time::Duration,
};

use anyhow::{Context, bail, ensure};
use data_encoding::HEXLOWER;
use embedder::{LIBRARY, NETWORK, NETWORK_SHA256, TOKENIZER};
use llm::HttpClient;
use reqwest::{
    Client, Response, StatusCode, Url,
    header::{CONTENT_RANGE, RANGE},
};
use ring::digest::{Context as Digest, SHA256};
use tokio::io::AsyncWriteExt;

use super::local_embedder::files;
use crate::platform::config::KnowledgeSettings;

/// Size in bytes and SHA-256 of the network and of its tokenizer.
const KNOWN: [(u64, &str); 2] = [
    (22_928_619, NETWORK_SHA256),
    (
        466_247,
        "be50c3628f2bf5bb5e3a7f17b1f74611b2561a3a27eeab05e5aa30f411572037",
    ),
];
/// Maximum size of the library, bytes; it differs between systems.
const LIBRARY_LIMIT_BYTES: u64 = 500_000_000;
const CONNECTING: Duration = Duration::from_secs(15);
/// Timeout for receiving data.
const SILENCE: Duration = Duration::from_secs(60);

/// A file to download, and its destination.
struct ExpectedFile {
    name: &'static str,
    place: PathBuf,
    /// Its size, if known, and its maximum size.
    bytes: Option<u64>,
    limit_bytes: u64,
    /// Hexadecimal.
    sha256: String,
}

/// Downloads missing files from `from`; returns a line for each file. The library is fetched only if its SHA-256 is
/// given, because it is executable code.
///
/// # Errors
/// A sentence if the URL is invalid, a download fails, or a file differs from the expected one.
pub(crate) async fn fetch_model(
    settings: &KnowledgeSettings,
    program: &Path,
    from: &str,
    library_sha256: Option<&str>,
) -> anyhow::Result<Vec<String>> {
    let base = folder_address(from)?;
    let files = files(settings, program);
    let wanted = |name, place: &Path, (bytes, sha256): (u64, &str)| ExpectedFile {
        name,
        place: place.to_owned(),
        bytes: Some(bytes),
        limit_bytes: bytes,
        sha256: sha256.to_owned(),
    };
    let mut all = vec![
        wanted(NETWORK, &files.network, KNOWN[0]),
        wanted(TOKENIZER, &files.tokenizer, KNOWN[1]),
    ];
    if let Some(sha256) = library_sha256 {
        let is_sha256 = sha256.len() == 64 && sha256.bytes().all(|digit| digit.is_ascii_hexdigit());
        ensure!(is_sha256, "--library-sha256 must be 64 hexadecimal digits");
        let sha256 = sha256.to_ascii_lowercase();
        let place = files.library.clone();
        let limit_bytes = LIBRARY_LIMIT_BYTES;
        all.push(ExpectedFile {
            name: LIBRARY,
            place,
            bytes: None,
            limit_bytes,
            sha256,
        });
    }
    let mut lines = fetch(&base, &all).await?;
    if library_sha256.is_none() {
        lines.push(match files.library.is_file() {
            true => format!("{LIBRARY} is there, unchecked."),
            false => format!(
                "{LIBRARY} is missing: put it at {}, or give --library-sha256 to fetch it, too.",
                files.library.display()
            ),
        });
    }
    Ok(lines)
}

/// A base URL to which file names can be appended.
fn folder_address(from: &str) -> anyhow::Result<Url> {
    let url = Url::parse(&format!("{}/", from.trim_end_matches('/')));
    let url = url.with_context(|| format!("“{from}” is no address"))?;
    ensure!(
        matches!(url.scheme(), "http" | "https"),
        "“{from}” does not begin with http:// or https://"
    );
    Ok(url)
}

async fn fetch(base: &Url, all: &[ExpectedFile]) -> anyhow::Result<Vec<String>> {
    // It also installs the TLS provider, which this client needs.
    HttpClient::new()?;
    let client = Client::builder()
        .connect_timeout(CONNECTING)
        .read_timeout(SILENCE)
        .build()?;
    let mut lines = Vec::with_capacity(all.len());
    for wanted in all {
        if wanted.place.is_file() && sha256(&wanted.place)? == wanted.sha256 {
            lines.push(format!("{} is there.", wanted.name));
            continue;
        }
        let bytes = bring(&client, base, wanted).await?;
        lines.push(format!(
            "{} has come: {bytes} bytes, as expected.",
            wanted.name
        ));
    }
    Ok(lines)
}

/// Downloads a file; returns its size.
async fn bring(client: &Client, base: &Url, wanted: &ExpectedFile) -> anyhow::Result<u64> {
    let ExpectedFile {
        name,
        place,
        bytes,
        limit_bytes,
        sha256: expected,
    } = wanted;
    let address = base.join(name)?;
    let folder = place
        .parent()
        .context("the place of a file has no folder")?;
    fs::create_dir_all(folder).with_context(|| format!("cannot make {}", folder.display()))?;
    let partial = folder.join(format!("{name}.partial"));
    let begun = fs::metadata(&partial).map_or(0, |partial| partial.len());
    let begun = if begun < *limit_bytes { begun } else { 0 };
    let mut request = client.get(address.clone());
    if begun > 0 {
        request = request.header(RANGE, format!("bytes={begun}-"));
    }
    let response = request
        .send()
        .await
        .with_context(|| format!("{address} cannot be reached"))?;
    let start = match response.status() {
        StatusCode::OK => 0,
        StatusCode::PARTIAL_CONTENT if begins_at(&response, begun) => begun,
        status => bail!("{address} cannot be fetched: the server answers {status}"),
    };
    let has = write(response, &partial, start, *limit_bytes).await.with_context(|| {
        format!("{address} was broken off; what came is kept, and the command goes on there when it is given again")
    })?;
    let found = sha256(&partial)?;
    if bytes.is_some_and(|bytes| bytes != has) || found != *expected {
        fs::remove_file(&partial)
            .with_context(|| format!("cannot remove {}", partial.display()))?;
        bail!(
            "{address} is another file than expected: {has} bytes, SHA-256 {found} instead of {expected}"
        );
    }
    fs::rename(&partial, place).with_context(|| format!("cannot write {}", place.display()))?;
    Ok(has)
}

/// Whether the response continues where the partial file ends.
fn begins_at(response: &Response, begun: u64) -> bool {
    let range = response
        .headers()
        .get(CONTENT_RANGE)
        .and_then(|range| range.to_str().ok());
    begun > 0 && range.is_some_and(|range| range.starts_with(&format!("bytes {begun}-")))
}

/// Appends the response to the partial file; returns the total size.
async fn write(
    mut response: Response,
    file: &Path,
    start: u64,
    limit_bytes: u64,
) -> anyhow::Result<u64> {
    let mut options = tokio::fs::OpenOptions::new();
    options
        .create(true)
        .append(start > 0)
        .write(true)
        .truncate(start == 0);
    let mut file = options
        .open(file)
        .await
        .with_context(|| format!("cannot write {}", file.display()))?;
    let mut has = start;
    let result = loop {
        match response.chunk().await {
            Ok(Some(more)) => {
                has += more.len() as u64;
                if has > limit_bytes {
                    // Too large to be the expected file.
                    break Ok(());
                }
                file.write_all(&more).await?;
            }
            Ok(None) => break Ok(()),
            Err(error) => break Err(error),
        }
    };
    file.sync_all().await?;
    result?;
    Ok(has)
}

fn sha256(file: &Path) -> anyhow::Result<String> {
    let unreadable = || format!("cannot read {}", file.display());
    let mut reader = fs::File::open(file).with_context(unreadable)?;
    let mut digest = Digest::new(&SHA256);
    let mut buffer = vec![0; 1 << 16];
    loop {
        let count = reader.read(&mut buffer).with_context(unreadable)?;
        if count == 0 {
            return Ok(HEXLOWER.encode(digest.finish().as_ref()));
        }
        digest.update(&buffer[..count]);
    }
}

#[cfg(test)]
mod tests {
    use std::{
        io::Write,
        net::{TcpListener, TcpStream},
        sync::{Arc, Mutex},
        thread,
    };

    use super::*;

    const CONTENT: &[u8] = b"The numbers of a small network, which are many.";

    /// Serves the file, or only its beginning if `broken`; records the requested ranges.
    fn serve(broken: bool) -> (Url, Arc<Mutex<Vec<String>>>) {
        let asked: Arc<Mutex<Vec<String>>> = Arc::default();
        let noted = Arc::clone(&asked);
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        thread::spawn(move || {
            for stream in listener.incoming() {
                let mut stream = stream.unwrap();
                let range = asked_range(&mut stream);
                let start = range
                    .strip_prefix("bytes=")
                    .and_then(|it| it.strip_suffix('-')?.parse().ok());
                noted.lock().unwrap().push(range);
                let from: usize = start.unwrap_or(0);
                let status = if from > 0 {
                    "206 Partial Content"
                } else {
                    "200 OK"
                };
                let left = CONTENT.len() - from;
                let all = CONTENT.len();
                let head = format!(
                    "HTTP/1.1 {status}\r\ncontent-length: {left}\r\ncontent-range: bytes {from}-{}/{all}\r\n\
                     connection: close\r\n\r\n",
                    all - 1
                );
                let end = if broken && from == 0 { 10 } else { all };
                stream
                    .write_all(&[head.as_bytes(), &CONTENT[from..end]].concat())
                    .unwrap();
            }
        });
        (
            folder_address(&format!("http://{address}/files")).unwrap(),
            asked,
        )
    }

    fn asked_range(stream: &mut TcpStream) -> String {
        let mut head = Vec::new();
        while !head.ends_with(b"\r\n\r\n") {
            let mut byte = [0];
            stream.read_exact(&mut byte).unwrap();
            head.push(byte[0]);
        }
        let head = String::from_utf8(head).unwrap().to_lowercase();
        head.lines()
            .find_map(|line| line.strip_prefix("range: "))
            .unwrap_or_default()
            .to_owned()
    }

    fn wanted(folder: &Path, sha256: &str) -> ExpectedFile {
        let bytes = CONTENT.len() as u64;
        let place = folder.join("deep").join(NETWORK);
        ExpectedFile {
            name: NETWORK,
            place,
            bytes: Some(bytes),
            limit_bytes: bytes,
            sha256: sha256.to_owned(),
        }
    }

    fn sum() -> String {
        HEXLOWER.encode(ring::digest::digest(&SHA256, CONTENT).as_ref())
    }

    #[tokio::test]
    async fn a_file_comes_once_and_goes_on_where_it_was_broken_off() {
        let folder = tempfile::tempdir().unwrap();
        let all = [wanted(folder.path(), &sum())];
        let (base, asked) = serve(true);
        let error = format!("{:#}", fetch(&base, &all).await.unwrap_err());
        assert!(
            error.contains("broken off") && !all[0].place.exists(),
            "{error}"
        );
        let lines = fetch(&base, &all).await.unwrap();
        assert!(lines[0].contains("has come"), "{lines:?}");
        assert_eq!(fs::read(&all[0].place).unwrap(), CONTENT);
        assert_eq!(fetch(&base, &all).await.unwrap(), ["model.onnx is there."]);
        assert_eq!(*asked.lock().unwrap(), ["", "bytes=10-"]);
    }

    #[tokio::test]
    async fn another_file_than_expected_is_not_kept() {
        let folder = tempfile::tempdir().unwrap();
        let (base, _) = serve(false);
        let all = [wanted(folder.path(), &"0".repeat(64))];
        let error = fetch(&base, &all).await.unwrap_err().to_string();
        assert!(
            error.contains("another file") && error.contains(&sum()),
            "{error}"
        );
        let shorter = [ExpectedFile {
            limit_bytes: 9,
            bytes: Some(9),
            ..wanted(folder.path(), &sum())
        }];
        let error = fetch(&base, &shorter).await.unwrap_err().to_string();
        assert!(error.contains("another file"), "{error}");
        assert_eq!(fs::read_dir(folder.path().join("deep")).unwrap().count(), 0);
    }

    #[tokio::test]
    async fn what_cannot_be_reached_is_said() {
        let folder = tempfile::tempdir().unwrap();
        let free = TcpListener::bind("127.0.0.1:0")
            .unwrap()
            .local_addr()
            .unwrap();
        let base = folder_address(&format!("http://{free}")).unwrap();
        let error = fetch(&base, &[wanted(folder.path(), &sum())])
            .await
            .unwrap_err()
            .to_string();
        assert!(error.contains("cannot be reached"), "{error}");
        assert!(folder_address("ftp://x").is_err() && folder_address("nothing").is_err());
    }
}
