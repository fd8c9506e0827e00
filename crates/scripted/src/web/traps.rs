//! Traps for crawlers: endless pages, endless redirects, and misbehaving servers.

use std::fmt::Write;

use super::{html, pages::document};
use crate::{Reply, reply::Part};

/// A page of 60 MB with a content length.
pub const HUGE: &str = "/huge";
/// An endless page without a content length.
pub const ENDLESS: &str = "/endless";
/// A page sent byte by byte, with pauses.
pub const TRICKLE: &str = "/trickle";
/// A response with only a header.
pub const NEVER_ANSWERS: &str = "/never";
/// A page that is compressed although compression was not requested.
pub const SWOLLEN: &str = "/swollen";
/// A page that redirects to itself, with a different number each time.
pub const LOOP: &str = "/loop";
/// The path that robots must not request.
pub const PRIVATE: &str = "/private/";

pub(super) fn robots(origin: &str) -> String {
    format!(
        "# The Arvel Coast Society\nUser-agent: *\nDisallow: {PRIVATE}\nAllow: {PRIVATE}open\n\n\
         User-agent: BadBot\nDisallow: /\n\nSitemap: {origin}/sitemap.xml\n"
    )
}

pub(super) fn sitemap(origin: &str, paths: &[&str]) -> Reply {
    let mut xml = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<urlset xmlns=\"http://www.sitemaps.org/schemas/sitemap/0.9\">\n".to_owned();
    for path in paths {
        _ = writeln!(
            xml,
            "<url><loc>{origin}{path}</loc><lastmod>2026-10-05</lastmod></url>"
        );
    }
    xml.push_str("</urlset>\n");
    Reply::status(200, &[("content-type", "application/xml")], &xml)
}

pub(super) fn reply(path: &str, query: &str, canary: &str) -> Option<Reply> {
    let parts: Vec<&str> = path.trim_matches('/').split('/').collect();
    Some(match parts.as_slice() {
        ["calendar", year, month] => calendar(year.parse().ok()?, month.parse().ok()?),
        ["session"] => session(query),
        ["maze", ..] => html(
            200,
            &document(
                "The maze",
                "<p>You are in a maze of little passages, all alike, and each leads deeper.</p><a href=\"a/\">Left</a> <a href=\"b/\">Right</a>",
            ),
        ),
        ["loop"] => {
            let number: u64 = query
                .strip_prefix("n=")
                .and_then(|number| number.parse().ok())
                .unwrap_or(0);
            redirect(&format!("{LOOP}?n={}", number.wrapping_add(1)))
        }
        ["redirect", "0"] => html(
            200,
            &document(
                "The end of the way",
                "<p>You have come a long way through all of these doors.</p>",
            ),
        ),
        ["redirect", number] => redirect(&format!(
            "/redirect/{}",
            number.parse::<u32>().ok()?.checked_sub(1)?
        )),
        ["away"] => redirect(&format!("{canary}/away")),
        ["inward"] => redirect("http://10.0.0.1/secret"),
        ["mislabelled", kind] => mislabelled(kind)?,
        ["gone"] => html(410, &document("Gone", "<p>It was here.</p>")),
        ["broken"] => html(500, &document("Broken", "<p>The server stumbled.</p>")),
        ["busy"] => Reply::status(
            429,
            &[("retry-after", "1"), ("content-type", "text/plain")],
            "Too many requests",
        ),
        ["picture.png"] => Reply::bytes(
            200,
            &[("content-type", "image/png")],
            &b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR"[..],
        ),
        ["huge"] => flood(
            60_000_000,
            &[
                ("content-length", "60000000"),
                ("content-type", "text/html"),
            ],
        ),
        ["huger"] => flood(
            2_000_000_000,
            &[
                ("content-length", "2000000000"),
                ("content-type", "text/html"),
            ],
        ),
        ["endless"] => flood(u64::MAX, &[("content-type", "text/html")]),
        ["swollen"] => Reply::bytes(
            200,
            &[("content-type", "text/html"), ("content-encoding", "gzip")],
            vec![0_u8; 1000],
        ),
        ["trickle"] => trickle(),
        ["never"] => Reply::parts(200, &[("content-type", "text/html")], vec![Part::Silence]),
        ["hang-up"] => Reply::close(),
        ["app", ..] => return super::apps::reply(&parts[1..], canary),
        _ => return None,
    })
}

/// Responses with a wrong content type.
fn mislabelled(kind: &str) -> Option<Reply> {
    let page = document(
        "Mislabelled",
        "<p>This is a page, whatever its server says.</p>",
    );
    let picture = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\xff\xfe\0\x01".repeat(100);
    Some(match kind {
        "pdf" => Reply::status(200, &[("content-type", "application/pdf")], &page),
        "nothing" => Reply::status(200, &[], &page),
        "picture-as-page" => Reply::bytes(200, &[("content-type", "text/html")], picture),
        "program" => Reply::bytes(
            200,
            &[("content-type", "application/octet-stream")],
            picture,
        ),
        "page-as-picture" => Reply::status(200, &[("content-type", "image/png")], &page),
        "drawing" => {
            let drawing =
                "<svg xmlns=\"http://www.w3.org/2000/svg\"><script>alert(1)</script></svg>";
            Reply::status(200, &[("content-type", "image/svg+xml")], drawing)
        }
        "film" => Reply::bytes(200, &[("content-type", "video/mp4")], picture),
        "empty" => Reply::status(200, &[("content-type", "text/html")], ""),
        _ => return None,
    })
}

fn redirect(to: &str) -> Reply {
    Reply::status(302, &[("location", to)], "")
}

/// Every month links to the next one, the previous one and its days.
fn calendar(year: i32, month: u32) -> Reply {
    let (next, before) = match month {
        12.. => ((year.saturating_add(1), 1), (year, 11)),
        1 => ((year, 2), (year.saturating_sub(1), 12)),
        _ => ((year, month + 1), (year, month.saturating_sub(1))),
    };
    html(
        200,
        &document(
            &format!("Calendar of {year}-{month}"),
            &format!(
                "<p>Nothing is planned in this month.</p><a href=\"/calendar/{}/{}\">next</a> <a href=\"/calendar/{}/{}\">before</a>",
                next.0, next.1, before.0, before.1
            ),
        ),
    )
}

/// The same page at a new address each time.
fn session(query: &str) -> Reply {
    let id: u64 = query
        .strip_prefix("sid=")
        .and_then(|id| id.parse().ok())
        .unwrap_or(0);
    let links: String = (1..4)
        .map(|step| {
            format!(
                "<a href=\"/session?sid={}\">page {step}</a> ",
                id.wrapping_mul(6_364_136_223_846_793_005)
                    .wrapping_add(step)
            )
        })
        .collect();
    html(
        200,
        &document(
            "The visitors' book",
            &format!(
                "<p>Everybody who came signed here, and nobody wrote more than a name.</p>{links}"
            ),
        ),
    )
}

fn flood(size_bytes: u64, headers: &[(&str, &str)]) -> Reply {
    Reply::parts(200, headers, vec![Part::Flood(size_bytes)])
}

fn trickle() -> Reply {
    let drop = [
        Part::Bytes(bytes::Bytes::from_static(b"x")),
        Part::Pause(std::time::Duration::from_millis(200)),
    ];
    Reply::parts(
        200,
        &[("content-type", "text/html")],
        drop.into_iter().cycle().take(20_000).collect(),
    )
}
