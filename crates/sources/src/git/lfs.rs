//! Contents that are stored with Git LFS: the repository has pointers, and the batch API of its host says where the
//! contents are.

use std::collections::HashMap;

use bytes::Bytes;
use outbound::{Outbound, Request};
use reqwest::{
    Method, Url,
    header::{ACCEPT, AUTHORIZATION, HeaderName, USER_AGENT},
};
use ring::digest::{SHA256, digest};
use serde::Deserialize;
use serde_json::json;

use super::GIT_AGENT;
use crate::{
    SourceProblem, api,
    http::{self, Client},
    problem::malformed,
};

/// How a pointer begins.
const POINTER: &[u8] = b"version https://git-lfs.github.com/spec/";
/// Maximum size of a pointer, bytes.
const MAX_POINTER_BYTES: usize = 1_024;
const MEDIA_TYPE: &str = "application/vnd.git-lfs+json";
/// Maximum number of redirects of a download.
const MAX_HOPS: u32 = 5;
/// Maximum number of headers that a download is given.
const MAX_HEADERS: usize = 20;

/// Which content a pointer stands for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Pointer {
    /// The SHA-256 hash in hexadecimal digits.
    id: String,
    size_bytes: u64,
}

/// The repository that has the pointer.
pub(super) struct Place<'a> {
    pub(super) url: &'a Url,
    pub(super) reference: &'a str,
    pub(super) authorization: Option<&'a str>,
}

#[derive(Deserialize)]
struct Batch {
    objects: Vec<Object>,
}

#[derive(Deserialize)]
struct Object {
    oid: String,
    actions: Option<Actions>,
    error: Option<ObjectError>,
}

#[derive(Deserialize)]
struct Actions {
    download: Option<Download>,
}

#[derive(Deserialize)]
struct Download {
    href: String,
    #[serde(default)]
    header: HashMap<String, String>,
}

#[derive(Deserialize)]
struct ObjectError {
    code: u16,
}

/// The pointer in a file; `None` if it is another file.
///
/// # Errors
/// `Malformed` if it is one that cannot be read.
pub(super) fn pointer(content: &[u8]) -> Result<Option<Pointer>, SourceProblem> {
    if !content.starts_with(POINTER) || content.len() > MAX_POINTER_BYTES {
        return Ok(None);
    }
    let text = String::from_utf8_lossy(content);
    let value = |name: &str| {
        let mut lines = text.lines().filter_map(|line| line.split_once(' '));
        lines.find_map(|(key, value)| (key == name).then(|| value.trim().to_owned()))
    };
    let id = value("oid").and_then(|id| Some(id.strip_prefix("sha256:")?.to_owned()));
    let is_hash = |id: &String| id.len() == 64 && id.bytes().all(|byte| byte.is_ascii_hexdigit());
    let size_bytes = value("size").and_then(|size| size.parse().ok());
    match (id.filter(is_hash), size_bytes) {
        (Some(id), Some(size_bytes)) => Ok(Some(Pointer {
            id: id.to_lowercase(),
            size_bytes,
        })),
        _ => Err(malformed("its pointer of Git LFS is damaged")),
    }
}

/// Downloads the content of a pointer, and checks its hash.
///
/// # Errors
/// `Gone` if the host does not have it, `TooLarge`, and others.
pub(super) async fn read(
    pointer: &Pointer,
    place: &Place<'_>,
    outbound: &Outbound,
    limit: usize,
) -> Result<Bytes, SourceProblem> {
    if pointer.size_bytes > limit as u64 {
        return Err(SourceProblem::TooLarge);
    }
    let client = Client::new(outbound);
    let download = find(pointer, place, &client).await?;
    let url = outbound.address(&download.href, &[])?;
    let limits = http::read_limits(limit, MAX_HOPS);
    let is_own = url.origin() == place.url.origin();
    let answer = client.send(|| {
        let mut request =
            Request::new(Method::GET, url.clone(), limits).header(USER_AGENT, GIT_AGENT);
        if let Some(value) = place.authorization.filter(|_| is_own) {
            request = request.header(AUTHORIZATION, value);
        }
        for (name, value) in download.header.iter().take(MAX_HEADERS) {
            if let Ok(name) = HeaderName::try_from(name) {
                request = request.header(name, value);
            }
        }
        Ok(request)
    });
    let content = http::item_body(answer.await, limit)?;
    match hex(digest(&SHA256, &content).as_ref()) == pointer.id {
        true => Ok(content),
        false => Err(malformed("the content of Git LFS is another one")),
    }
}

/// Where the content of a pointer is.
async fn find(
    pointer: &Pointer,
    place: &Place<'_>,
    client: &Client,
) -> Result<Download, SourceProblem> {
    let url = batch_url(place.url);
    let body = json!({
        "operation": "download", "transfers": ["basic"], "hash_algo": "sha256",
        "ref": { "name": place.reference },
        "objects": [{ "oid": pointer.id, "size": pointer.size_bytes }],
    });
    let body = body.to_string();
    // A redirect could take the secret elsewhere.
    let limits = http::list_limits(0);
    let answer = client.send(|| {
        let request = Request::new(Method::POST, url.clone(), limits)
            .header(USER_AGENT, GIT_AGENT)
            .header(ACCEPT, MEDIA_TYPE)
            .body(MEDIA_TYPE, body.clone());
        Ok(match place.authorization {
            Some(value) => request.header(AUTHORIZATION, value),
            None => request,
        })
    });
    let answer = http::succeeded(answer.await?);
    let batch: Batch = api::parse(&answer.map_err(http::of_item)?.body)?;
    let mut objects = batch.objects.into_iter();
    let object = objects.find(|object| object.oid == pointer.id);
    let object = object.ok_or(SourceProblem::Gone)?;
    if let Some(error) = object.error {
        return Err(http::of_item(http::problem_of(error.code, false)));
    }
    let download = object.actions.and_then(|actions| actions.download);
    download.ok_or_else(|| malformed("the host does not offer the content of Git LFS"))
}

/// The address of the batch API, which is that of the repository with `.git`.
fn batch_url(repository: &Url) -> Url {
    let path = repository.path().trim_end_matches('/');
    let end = if path.ends_with(".git") { "" } else { ".git" };
    let path = format!("{path}{end}/info/lfs/objects/batch");
    let mut url = repository.clone();
    url.set_path(&path);
    url
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// After the specification of Git LFS, `docs/spec.md`.
    #[test]
    fn pointers() {
        let id = "4d7a214614ab2935c943f9e0ff69d22eadbb8f32b1258daaa5e2ca24d17e2393";
        let text = |rest: &str| format!("version https://git-lfs.github.com/spec/v1\n{rest}");
        let good = text(&format!("oid sha256:{id}\nsize 12345\n"));
        let expected = Pointer {
            id: id.to_owned(),
            size_bytes: 12_345,
        };
        assert_eq!(pointer(good.as_bytes()), Ok(Some(expected)));
        assert_eq!(pointer(b"version 1"), Ok(None));
        // A document about pointers.
        assert_eq!(pointer(text(&"x".repeat(1_000)).as_bytes()), Ok(None));
        for damaged in [
            "",
            "oid sha256:4d7a\nsize 1\n",
            "oid md5:4d7a\nsize 1\n",
            &format!("oid sha256:{id}\n"),
            &format!("oid sha256:{id}\nsize -1\n"),
        ] {
            assert!(pointer(text(damaged).as_bytes()).is_err(), "{damaged}");
        }
    }

    /// After the specification of Git LFS, `docs/api/server-discovery.md`.
    #[test]
    fn addresses_of_batches() {
        for (repository, expected) in [
            (
                "https://git-server.com/foo/bar",
                "https://git-server.com/foo/bar.git/info/lfs/objects/batch",
            ),
            (
                "https://git-server.com/foo/bar.git",
                "https://git-server.com/foo/bar.git/info/lfs/objects/batch",
            ),
        ] {
            let url = batch_url(&repository.parse().unwrap());
            assert_eq!(url.as_str(), expected);
        }
    }
}
