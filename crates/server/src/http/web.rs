//! Serves the web app, and sets the security headers of every response.

use std::{borrow::Cow, io::Read, sync::Arc};

use axum::{
    body::Body,
    extract::Request,
    http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode, header},
    response::{IntoResponse, Response},
};
use data_encoding::HEXLOWER;
use flate2::read::GzDecoder;

use crate::{error::ApiError, messages};

/// The files of the web app: finds a file's content and its SHA-256 by its path. Of a text asset it may have only
/// `name.br` and `name.gz`, the compressed copies.
pub type WebApp = fn(&str) -> Option<(Cow<'static, [u8]>, [u8; 32])>;

/// The page of a build without the web app.
const NO_WEB_APP: &[u8] = include_bytes!("no_web_app.html");

/// The page of the app.
const PAGE: &str = "index.html";

/// The document that renders untrusted markup.
const RENDER_FRAME: &str = "render-frame.html";

/// The render frame has an opaque origin and no network. Its only script is inlined; the document's own policy allows
/// it by hash.
const RENDER_FRAME_POLICY: HeaderValue = HeaderValue::from_static(
    "sandbox allow-scripts; default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; \
     frame-ancestors 'self'; base-uri 'none'; form-action 'none'",
);

/// Scripts come only from our own files, and nothing is loaded from other sites: the server fetches their images when a
/// person clicks on them. Math needs inline styles. The only frame is the render frame; all other pages forbid framing.
/// No device features are used except the clipboard, and a page that opens ours gets no reference to its window.
const SECURITY_HEADERS: [(HeaderName, HeaderValue); 8] = [
    (
        header::CONTENT_SECURITY_POLICY,
        HeaderValue::from_static(
            "default-src 'self'; script-src 'self'; style-src 'self' 'unsafe-inline'; \
             img-src 'self' data: blob:; media-src 'self' data:; font-src 'self'; connect-src 'self'; \
             object-src 'none'; frame-src 'self'; frame-ancestors 'none'; base-uri 'none'; form-action 'self'",
        ),
    ),
    (
        header::X_CONTENT_TYPE_OPTIONS,
        HeaderValue::from_static("nosniff"),
    ),
    (
        header::REFERRER_POLICY,
        HeaderValue::from_static("no-referrer"),
    ),
    (
        HeaderName::from_static("permissions-policy"),
        HeaderValue::from_static(
            "accelerometer=(), camera=(), display-capture=(), geolocation=(), gyroscope=(), hid=(), \
             magnetometer=(), microphone=(), midi=(), payment=(), serial=(), usb=()",
        ),
    ),
    (
        HeaderName::from_static("cross-origin-opener-policy"),
        HeaderValue::from_static("same-origin"),
    ),
    // No DNS lookups for the hosts of links before a person follows one.
    (
        HeaderName::from_static("x-dns-prefetch-control"),
        HeaderValue::from_static("off"),
    ),
    // Other sites cannot embed our resources. Requests of the origins in `cors_allow_origins` are not affected.
    (
        HeaderName::from_static("cross-origin-resource-policy"),
        HeaderValue::from_static("same-origin"),
    ),
    // Cacheable responses set their own: the app's files, and responses with an `ETag`.
    (header::CACHE_CONTROL, HeaderValue::from_static("no-store")),
];

/// Sets the security headers; a response with a stricter one of its own keeps it. `https_only` is the value of
/// `Strict-Transport-Security`.
pub(super) fn harden(response: &mut Response, https_only: Option<&HeaderValue>) {
    for (name, value) in SECURITY_HEADERS {
        response.headers_mut().entry(name).or_insert(value);
    }
    if let Some(value) = https_only {
        let name = header::STRICT_TRANSPORT_SECURITY;
        response.headers_mut().insert(name, value.clone());
    }
}

/// The web app, as it is served below a path.
#[derive(Clone)]
pub(super) struct Site {
    files: WebApp,
    /// The path of `public_url`; empty if it has none.
    base: Arc<str>,
}

impl Site {
    pub(super) fn new(files: WebApp, base: &str) -> Self {
        Self {
            files,
            base: base.into(),
        }
    }

    /// The file at the request's path, or the app's page, which routes by path in the browser.
    pub(super) fn serve(&self, request: &Request) -> Response {
        if !matches!(*request.method(), Method::GET | Method::HEAD) {
            let message = format!(
                "{} does not take {}.",
                request.uri().path(),
                request.method()
            );
            return ApiError::invalid(message)
                .with_status(StatusCode::METHOD_NOT_ALLOWED)
                .into_response();
        }
        let path = request.uri().path().trim_start_matches('/');
        // Our file names need no decoding, so an encoded path is not one of them.
        if path != PAGE
            && let Some(response) = file(self.files, path, request.headers())
        {
            return response;
        }
        if path.starts_with("assets/") {
            return ApiError::not_found(messages::Requests::OtherVersion).into_response();
        }
        self.page(request.headers()).unwrap_or_else(no_web_app)
    }

    fn page(&self, headers: &HeaderMap) -> Option<Response> {
        if self.base.is_empty() {
            return file(self.files, PAGE, headers);
        }
        let found = plain(self.files, PAGE)?;
        let text = std::str::from_utf8(&found.content).ok()?;
        let based = Found {
            content: with_base(text, &self.base).into_bytes().into(),
            coding: None,
            // No character of the path is special there.
            etag: etag(&found.sha256, &self.base)?,
        };
        Some(respond(based, PAGE, headers))
    }
}

/// The page with `base` before the addresses in its attributes, all of which are absolute paths.
fn with_base(page: &str, base: &str) -> String {
    page.replace("=\"/", &format!("=\"{base}/"))
}

fn no_web_app() -> Response {
    let headers = [
        (
            header::CONTENT_TYPE,
            HeaderValue::from_static("text/html; charset=utf-8"),
        ),
        (header::CACHE_CONTROL, HeaderValue::from_static("no-cache")),
    ];
    (headers, Body::from(NO_WEB_APP)).into_response()
}

/// A file as it is sent.
struct Found {
    content: Cow<'static, [u8]>,
    coding: Option<&'static str>,
    etag: HeaderValue,
}

/// The file, compressed if the app has it so and the client accepts it.
fn file(app: WebApp, path: &str, headers: &HeaderMap) -> Option<Response> {
    if path.is_empty() || path.ends_with(".br") || path.ends_with(".gz") {
        return None;
    }
    let compressed = |coding, suffix| {
        let file = accepts(headers, coding)
            .then(|| app(&format!("{path}{suffix}")))
            .flatten();
        file.map(|(content, sha256)| (Some(coding), content, etag(&sha256, "")))
    };
    let (coding, content, etag) = compressed("br", ".br")
        .or_else(|| compressed("gzip", ".gz"))
        .or_else(|| {
            plain(app, path).map(|file| (None, file.content, etag(&file.sha256, file.suffix)))
        })?;
    let found = Found {
        content,
        coding,
        etag: etag?,
    };
    Some(respond(found, path, headers))
}

fn respond(found: Found, path: &str, headers: &HeaderMap) -> Response {
    // The build puts a hash of the content into these files' names.
    let immutable = path.starts_with("assets/");
    let cache = if immutable {
        "public, max-age=31536000, immutable"
    } else {
        "no-cache"
    };
    let known = headers
        .get(header::IF_NONE_MATCH)
        .is_some_and(|known| names(known, &found.etag));
    let mut response = if known {
        StatusCode::NOT_MODIFIED.into_response()
    } else {
        Body::from(bytes_of(found.content)).into_response()
    };
    let answer = response.headers_mut();
    answer.insert(header::ETAG, found.etag);
    answer.insert(header::CACHE_CONTROL, HeaderValue::from_static(cache));
    answer.insert(header::VARY, HeaderValue::from_static("accept-encoding"));
    if path == RENDER_FRAME {
        answer.insert(header::CONTENT_SECURITY_POLICY, RENDER_FRAME_POLICY);
    }
    if !known {
        answer.insert(
            header::CONTENT_TYPE,
            HeaderValue::from_static(content_type(path)),
        );
        if let Some(coding) = found.coding {
            answer.insert(header::CONTENT_ENCODING, HeaderValue::from_static(coding));
        }
    }
    response
}

/// A file without compression.
struct Plain {
    content: Cow<'static, [u8]>,
    /// Of the file that it was made of.
    sha256: [u8; 32],
    /// What distinguishes its tag from that of the other.
    suffix: &'static str,
}

/// The file as it is, or decompressed if the app has it only as `name.gz`.
fn plain(app: WebApp, path: &str) -> Option<Plain> {
    if let Some((content, sha256)) = app(path) {
        return Some(Plain {
            content,
            sha256,
            suffix: "",
        });
    }
    let (compressed, sha256) = app(&format!("{path}.gz"))?;
    let mut content = Vec::new();
    GzDecoder::new(&*compressed)
        .read_to_end(&mut content)
        .ok()?;
    Some(Plain {
        content: content.into(),
        sha256,
        suffix: "-plain",
    })
}

/// The tag of a file; one that is made of another has its own `suffix`.
fn etag(sha256: &[u8; 32], suffix: &str) -> Option<HeaderValue> {
    let hash = HEXLOWER.encode(&sha256[..16]);
    HeaderValue::from_str(&format!("\"{hash}{suffix}\"")).ok()
}

fn names(known: &HeaderValue, etag: &HeaderValue) -> bool {
    let (Ok(known), Ok(etag)) = (known.to_str(), etag.to_str()) else {
        return false;
    };
    known
        .split(',')
        .any(|tag| matches!(tag.trim().trim_start_matches("W/"), tag if tag == etag || tag == "*"))
}

fn bytes_of(content: Cow<'static, [u8]>) -> bytes::Bytes {
    match content {
        Cow::Borrowed(data) => bytes::Bytes::from_static(data),
        Cow::Owned(data) => data.into(),
    }
}

/// Whether the client accepts `coding`; a weight of zero refuses it.
fn accepts(headers: &HeaderMap, coding: &str) -> bool {
    let lines = headers
        .get_all(header::ACCEPT_ENCODING)
        .iter()
        .filter_map(|line| line.to_str().ok());
    lines.flat_map(|line| line.split(',')).any(|part| {
        let (name, weight) = part.split_once(';').unwrap_or((part, ""));
        let weight = weight
            .trim()
            .strip_prefix("q=")
            .map_or(1.0, |q| q.parse::<f32>().unwrap_or(0.0));
        name.trim().eq_ignore_ascii_case(coding) && weight > 0.0
    })
}

fn content_type(path: &str) -> &'static str {
    match path.rsplit_once('.').map_or("", |(_, extension)| extension) {
        "css" => "text/css; charset=utf-8",
        "html" => "text/html; charset=utf-8",
        "ico" => "image/x-icon",
        "js" | "mjs" => "text/javascript; charset=utf-8",
        "json" | "map" => "application/json",
        "png" => "image/png",
        "svg" => "image/svg+xml",
        "txt" => "text/plain; charset=utf-8",
        "wasm" => "application/wasm",
        "webmanifest" => "application/manifest+json",
        "webp" => "image/webp",
        "woff" => "font/woff",
        "woff2" => "font/woff2",
        _ => "application/octet-stream",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_accept_encoding() {
        for (line, br) in [
            ("gzip, deflate, br", true),
            ("br;q=0.5", true),
            ("br; q=0", false),
            ("gzip", false),
            ("brotli", false),
        ] {
            let headers = HeaderMap::from_iter([(header::ACCEPT_ENCODING, line.parse().unwrap())]);
            assert_eq!(accepts(&headers, "br"), br, "{line}");
        }
        assert!(!accepts(&HeaderMap::new(), "br"));
    }

    #[test]
    fn a_page_below_a_path_names_its_files_there() {
        let page = r#"<html data-base="/"><link href="/a.css"><script src="/assets/a.js" type="module"></script>"#;
        let below = r#"<html data-base="/ai/"><link href="/ai/a.css"><script src="/ai/assets/a.js" type="module"></script>"#;
        assert_eq!(with_base(page, "/ai"), below);
    }

    /// A web app of a page and a script, of which it has compressed copies only.
    fn files(path: &str) -> Option<(Cow<'static, [u8]>, [u8; 32])> {
        let text = match path {
            "index.html.gz" => r#"<script src="/theme.js"></script>"#,
            "theme.js.gz" => r#"a="/b""#,
            _ => return None,
        };
        let mut gzip = flate2::read::GzEncoder::new(text.as_bytes(), flate2::Compression::fast());
        let mut compressed = Vec::new();
        gzip.read_to_end(&mut compressed).unwrap();
        Some((compressed.into(), [7; 32]))
    }

    #[tokio::test]
    async fn only_the_page_is_changed_below_a_path() {
        let mut tags = Vec::new();
        for (base, path, expected) in [
            ("", "/c/1", r#"<script src="/theme.js"></script>"#),
            ("/ai", "/c/1", r#"<script src="/ai/theme.js"></script>"#),
            (
                "/ai",
                "/index.html",
                r#"<script src="/ai/theme.js"></script>"#,
            ),
            ("/ai", "/theme.js", r#"a="/b""#),
        ] {
            let request = Request::builder().uri(path).body(Body::empty()).unwrap();
            let response = Site::new(files, base).serve(&request);
            tags.push(response.headers()[header::ETAG].clone());
            let body = axum::body::to_bytes(response.into_body(), 1000)
                .await
                .unwrap();
            assert_eq!(body, expected, "{base}{path}");
        }
        // A browser that has the page of another path must not keep it.
        assert_ne!(tags[0], tags[1]);
        assert_eq!(tags[1], tags[2]);
    }

    #[test]
    fn compares_tags() {
        let tag = HeaderValue::from_static("\"abc\"");
        for (known, same) in [
            ("\"abc\"", true),
            ("W/\"abc\", \"d\"", true),
            ("*", true),
            ("\"ab\"", false),
        ] {
            assert_eq!(
                names(&HeaderValue::from_static(known), &tag),
                same,
                "{known}"
            );
        }
    }
}
