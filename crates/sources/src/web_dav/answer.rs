//! What an answer to `PROPFIND` says about the entries of a folder.

use std::time::{SystemTime, UNIX_EPOCH};

use percent_encoding::percent_decode_str;

use crate::{
    SourceProblem, http,
    problem::malformed,
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
            // Apache's tags are weak for a moment after a change.
            (Some(tag), _) => tag.trim_start_matches("W/").to_owned(),
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
        Some(status) => Err(http::problem_of(status, false)),
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

#[cfg(test)]
mod tests {
    use super::*;

    fn file(
        name: &str,
        id: Option<&str>,
        version: &str,
        size_bytes: u64,
        modified_ms: i64,
    ) -> Entry {
        Entry {
            name: name.to_owned(),
            resource: Ok(Resource::File(File {
                id: id.map(str::to_owned),
                version: version.to_owned(),
                size_bytes: Some(size_bytes),
                modified_ms: Some(modified_ms),
            })),
        }
    }

    fn folder(name: &str) -> Entry {
        Entry {
            name: name.to_owned(),
            resource: Ok(Resource::Folder),
        }
    }

    /// 2026-11-01 10:00.
    const NOVEMBER: i64 = 1_793_527_200_000;

    /// Recorded from Apache 2.4.71.
    #[test]
    fn apache() {
        let body = include_bytes!("../../tests/data/web_dav_apache.xml");
        let expected = [
            folder("Sub folder"),
            file("a b #1?.txt", None, "\"5-65f3417a6a800\"", 5, NOVEMBER),
            file(
                "Übersicht 100%.md",
                None,
                "\"1-65f3417a6a800\"",
                1,
                NOVEMBER,
            ),
        ];
        assert_eq!(entries(body, "/dav/").unwrap(), expected);
    }

    /// Recorded from nginx 1.22.1 with ngx_http_dav_ext_module, which knows no ETag.
    #[test]
    fn nginx() {
        let body = include_bytes!("../../tests/data/web_dav_nginx.xml");
        let at = "Sun, 01 Nov 2026 10:00:00 GMT";
        let expected = [
            folder("Sub folder"),
            file("a b #1?.txt", None, &format!("{at} 5"), 5, NOVEMBER),
            file("Übersicht 100%.md", None, &format!("{at} 1"), 1, NOVEMBER),
        ];
        assert_eq!(entries(body, "/dav/").unwrap(), expected);
    }

    /// In the form of Nextcloud 34.
    #[test]
    fn nextcloud() {
        let body = include_bytes!("../../tests/data/web_dav_nextcloud.xml");
        let expected = [
            file(
                "Café & Bar.pdf",
                Some("42"),
                "\"d3551e403d2c690971ab11794e4961e4\"",
                1_048_576,
                1_790_331_072_000,
            ),
            folder("Shared"),
        ];
        let path = "/cloud/remote.php/dav/files/alice/Docs/";
        assert_eq!(entries(body, path).unwrap(), expected);
        // Behind a proxy that adds a folder, or takes one away.
        for path in ["/proxy/cloud/remote.php/dav/files/alice/Docs/", "/Docs"] {
            assert_eq!(entries(body, path).unwrap(), expected, "{path}");
        }
    }

    #[test]
    fn an_answer_that_is_cut_off_is_an_error() {
        for (body, path) in [
            (include_str!("../../tests/data/web_dav_apache.xml"), "/dav/"),
            (
                include_str!("../../tests/data/web_dav_nextcloud.xml"),
                "/cloud/remote.php/dav/files/alice/Docs/",
            ),
        ] {
            let body = body.trim_end();
            for length in 0..body.len() {
                let cut_off = entries(&body.as_bytes()[..length], path);
                assert!(cut_off.is_err(), "{length}");
            }
        }
    }

    fn answer(responses: &str) -> Result<Vec<Entry>, SourceProblem> {
        let body = format!("<multistatus xmlns='DAV:'>{responses}</multistatus>");
        entries(body.as_bytes(), "/a%20b/")
    }

    const OWN: &str = "<response><href>/a b/</href><propstat><prop><resourcetype><collection/>\
                       </resourcetype></prop><status>HTTP/1.1 200 OK</status></propstat></response>";

    fn of(href: &str, rest: &str) -> String {
        format!("{OWN}<response><href>{href}</href>{rest}</response>")
    }

    #[test]
    fn addresses_may_be_absolute_or_not_encoded() {
        let rest = "<propstat><prop><getetag>1</getetag></prop></propstat>";
        for (href, name) in [
            ("http://other.example:8080/a%20b/c", "c"),
            ("https://other.example/a b/x?y#z", "x?y#z"),
            ("//a%20b//c", "c"),
            ("/a%20b/100%", "100%"),
            ("/a%20b/%2541", "%41"),
        ] {
            assert_eq!(answer(&of(href, rest)).unwrap()[0].name, name, "{href}");
        }
    }

    #[test]
    fn a_tag_that_becomes_strong_is_no_change() {
        for tag in ["W/\"1-2\"", "\"1-2\""] {
            let rest = format!("<propstat><prop><getetag>{tag}</getetag></prop></propstat>");
            let entries = answer(&of("/a%20b/c", &rest)).unwrap();
            match &entries[0].resource {
                Ok(Resource::File(file)) => assert_eq!(file.version, "\"1-2\""),
                other => panic!("{other:?}"),
            }
        }
    }

    #[test]
    fn what_cannot_be_listed_has_a_problem() {
        let good = "<propstat><prop><getetag>1</getetag></prop></propstat>";
        let forbidden =
            "<propstat><prop><getetag/></prop><status>HTTP/1.1 403 No</status></propstat>";
        let no_version = "<propstat><prop><resourcetype/></prop></propstat>";
        let malformed = |reason| Some(malformed(reason));
        for (href, rest, expected) in [
            ("/a%20b/c", good, None),
            ("/a%20b/c", forbidden, Some(SourceProblem::Refused)),
            (
                "/a%20b/c",
                "<status>HTTP/1.1 500 Oh</status>",
                Some(SourceProblem::Status { status: 500 }),
            ),
            ("/a%20b/c", "", malformed("it has no properties")),
            (
                "/a%20b/c",
                no_version,
                malformed("it has neither an ETag nor a date"),
            ),
            (
                "/a%20b/%FC",
                good,
                malformed("its name cannot be asked for"),
            ),
            (
                "/a%20b/c%2Fd",
                good,
                malformed("its name cannot be asked for"),
            ),
            (
                "/a%20b/%2e%2e",
                good,
                malformed("its name cannot be asked for"),
            ),
        ] {
            let entries = answer(&of(href, rest)).unwrap();
            assert_eq!(entries.len(), 1);
            assert_eq!(entries[0].resource.as_ref().err(), expected.as_ref());
        }
    }

    #[test]
    fn a_wrong_answer_is_an_error() {
        let good = "<propstat><prop><getetag>1</getetag></prop></propstat>";
        let child = "<response><href>/a%20b/c/</href><propstat><prop><resourcetype><collection/>\
                     </resourcetype></prop></propstat></response>";
        for (responses, reason) in [
            ("", "the folder is not in its own listing"),
            (child, "the folder is not in its own listing"),
            (&of("/a%20b/c/d", good), "an entry is not in the folder"),
            (&of("/a%20b/k://v", good), "an entry is not in the folder"),
            (&of("/other", good), "an entry is not in the folder"),
            ("<response/>", "an entry has no address"),
        ] {
            let problem = answer(responses).unwrap_err();
            assert_eq!(problem, malformed(reason), "{responses}");
        }
        let html = b"<html xmlns='http://www.w3.org/1999/xhtml'/>";
        assert!(entries(html, "/").is_err());
        let refused = OWN.replace("200", "403");
        assert_eq!(answer(&refused), Err(SourceProblem::Refused));
    }
}
