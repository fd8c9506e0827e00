//! What an answer to `PROPFIND` says about the entries of a folder.

use std::time::{SystemTime, UNIX_EPOCH};

use percent_encoding::percent_decode_str;

use crate::{
    SourceProblem,
    xml::{self, Element},
};

const DAV: &str = "DAV:";
const OWNCLOUD: &str = "http://owncloud.org/ns";

/// An entry of a folder.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Entry {
    /// Its name in the folder.
    pub(super) name: String,
    /// What it is, or why that is unknown.
    pub(super) resource: Result<Resource, SourceProblem>,
}

/// What an entry is.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Resource {
    Folder,
    File(File),
}

/// The properties of a file.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct File {
    /// The id that it keeps when it is moved.
    pub(super) id: Option<String>,
    pub(super) version: String,
    pub(super) size_bytes: Option<u64>,
    pub(super) modified_ms: Option<i64>,
}

/// A response for one resource.
struct Response<'a> {
    /// The decoded segments of its path.
    path: Vec<Vec<u8>>,
    ends_with_slash: bool,
    element: &'a Element,
}

/// The entries of the folder that was asked for at this path.
pub(super) fn entries(body: &[u8], asked: &str) -> Result<Vec<Entry>, SourceProblem> {
    let root = xml::parse(body)?;
    if (&*root.space, &*root.name) != (DAV, "multistatus") {
        return Err(malformed("this is no WebDAV answer"));
    }
    let responses = root.all(DAV, "response").map(response);
    let responses: Vec<_> = responses.collect::<Result<_, _>>()?;
    let asked = segments(asked);
    let own = responses.iter().find(|one| one.path == asked);
    // Behind a proxy, a server may name itself by another path: then the folder has the shortest one.
    let elsewhere = || {
        let shortest = responses.iter().min_by_key(|one| one.path.len());
        shortest.filter(|one| !one.path.starts_with(&asked))
    };
    let own = own.or_else(elsewhere);
    let own = own.ok_or_else(|| malformed("the folder is not in its own listing"))?;
    if own.resource()? != Resource::Folder {
        return Err(malformed("the address is that of a file"));
    }
    let mut entries = Vec::new();
    for one in &responses {
        match one.path.strip_prefix(&*own.path) {
            Some([]) => {}
            Some([name]) => entries.push(one.entry(name)),
            _ => return Err(malformed("an entry is not in the folder")),
        }
    }
    Ok(entries)
}

fn response(element: &Element) -> Result<Response<'_>, SourceProblem> {
    let href = element.text_of(DAV, "href");
    let href = href.ok_or_else(|| malformed("an entry has no address"))?;
    // Not read as a URL: some servers leave characters such as `?` and `#` as they are.
    let path = match href.split_once("://") {
        Some((scheme, rest)) if !scheme.contains('/') => {
            rest.find('/').map_or("/", |start| &rest[start..])
        }
        _ => href,
    };
    Ok(Response {
        path: segments(path),
        ends_with_slash: path.ends_with('/'),
        element,
    })
}

impl Response<'_> {
    fn entry(&self, name: &[u8]) -> Entry {
        let text = String::from_utf8_lossy(name).into_owned();
        let is_name = std::str::from_utf8(name).is_ok()
            && !text.contains(['/', '\0'])
            && !matches!(&*text, "." | "..");
        let resource = if is_name {
            self.resource()
        } else {
            Err(malformed("its name cannot be asked for"))
        };
        Entry {
            name: text,
            resource,
        }
    }

    fn resource(&self) -> Result<Resource, SourceProblem> {
        if let Some(status) = self.element.text_of(DAV, "status") {
            good(status)?;
        }
        let mut found = Vec::new();
        let mut bad = None;
        for part in self.element.all(DAV, "propstat") {
            match part.text_of(DAV, "status").map_or(Ok(()), good) {
                Ok(()) => found.extend(part.first(DAV, "prop")),
                Err(problem) => bad = Some(problem),
            }
        }
        if found.is_empty() {
            return Err(bad.unwrap_or_else(|| malformed("it has no properties")));
        }
        let text_of = |space, name| found.iter().find_map(|prop| prop.text_of(space, name));
        let kind = found
            .iter()
            .find_map(|prop| prop.first(DAV, "resourcetype"));
        let is_folder = kind.map_or(self.ends_with_slash, |kind| {
            kind.first(DAV, "collection").is_some()
        });
        if is_folder {
            return Ok(Resource::Folder);
        }
        let size = text_of(DAV, "getcontentlength");
        let modified = text_of(DAV, "getlastmodified");
        let version = match (text_of(DAV, "getetag"), modified) {
            (Some(tag), _) => tag.to_owned(),
            (None, Some(modified)) => format!("{modified} {}", size.unwrap_or_default()),
            (None, None) => return Err(malformed("it has neither an ETag nor a date")),
        };
        Ok(Resource::File(File {
            id: text_of(OWNCLOUD, "fileid").map(str::to_owned),
            version,
            size_bytes: size.and_then(|size| size.parse().ok()),
            modified_ms: modified
                .and_then(|modified| httpdate::parse_http_date(modified).ok())
                .and_then(unix_ms),
        }))
    }
}

/// A status line such as `HTTP/1.1 200 OK`.
fn good(line: &str) -> Result<(), SourceProblem> {
    let status = line.split_whitespace().nth(1);
    match status.and_then(|status| status.parse().ok()) {
        Some(200..=299) => Ok(()),
        Some(401 | 403) => Err(SourceProblem::Refused),
        Some(404 | 410) => Err(SourceProblem::NotFound),
        Some(status) => Err(SourceProblem::Status { status }),
        None => Err(malformed("it has no status")),
    }
}

/// The decoded segments of a path, without empty ones.
fn segments(path: &str) -> Vec<Vec<u8>> {
    let segments = path.split('/').filter(|segment| !segment.is_empty());
    segments
        .map(|segment| percent_decode_str(segment).collect())
        .collect()
}

fn unix_ms(time: SystemTime) -> Option<i64> {
    let since = time.duration_since(UNIX_EPOCH).ok()?;
    i64::try_from(since.as_millis()).ok()
}

fn malformed(reason: &str) -> SourceProblem {
    SourceProblem::Malformed(reason.to_owned())
}
