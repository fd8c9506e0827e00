//! Notion against a server that answers as the reference of the API says, version 2025-09-03: search, query a data
//! source, retrieve a page, retrieve a block and its children.

use std::sync::atomic::{AtomicUsize, Ordering};

use super::*;
use crate::{
    ItemMetadata, Source, SourceSettings,
    test_server::{Asked, Reply, Server, json as reply, status, surroundings},
};

fn source(server: &Server) -> Source {
    let api_url = Some(server.address.clone());
    let settings = SourceSettings::Notion(NotionSettings { api_url });
    Source::new(settings, "ntn_token", surroundings(6, 400)).unwrap()
}

fn page(id: &str, title: &str, parent: Value) -> Value {
    json!({
        "object": "page", "id": id, "created_time": "2025-01-01T00:00:00.000Z", "last_edited_time": "2025-01-02T03:04:00.000Z",
        "archived": false, "in_trash": false, "url": format!("https://www.notion.so/{id}"), "parent": parent,
        "properties": { "title": { "id": "title", "type": "title", "title": [{ "type": "text", "plain_text": title }] } }
    })
}

fn list(results: Value) -> Reply {
    reply(
        &json!({ "object": "list", "results": results, "next_cursor": null, "has_more": false, "type": "page_or_data_source" }),
    )
}

/// A workspace with these pages and data sources.
fn usual(asked: &Asked, pages: &Value, sources: &Value) -> Reply {
    match asked.path() {
        "/v1/search" if asked.json()["filter"]["value"] == "page" => list(pages.clone()),
        "/v1/search" => list(sources.clone()),
        path if path.ends_with("/query") => list(json!([])),
        _ => status(404),
    }
}

fn workspace() -> Value {
    json!({ "type": "workspace", "workspace": true })
}

fn names(listing: &Listing) -> Vec<&str> {
    listing.items.iter().map(|item| &*item.name).collect()
}

#[tokio::test]
async fn pages_and_rows_are_listed() {
    let sources = json!([{
        "object": "data_source", "id": "ds", "title": [{ "plain_text": "Tasks" }], "url": "https://www.notion.so/db",
        "parent": { "type": "database_id", "database_id": "db" }, "database_parent": { "type": "page_id", "page_id": "p1" },
        "properties": {}, "archived": false, "in_trash": false, "last_edited_time": "2025-01-02T03:04:00.000Z"
    }]);
    let row = |id: &str, title: &str| {
        let parent =
            json!({ "type": "data_source_id", "data_source_id": "ds", "database_id": "db" });
        page(id, title, parent)
    };
    let rows = json!([row("p3", "Known row"), row("p4", "Row/2")]);
    let first = json!([
        page("p1", "Home", workspace()),
        page("p2", "", json!({ "type": "block_id", "block_id": "b1" }))
    ]);
    let mut trashed = page("p5", "Trash", workspace());
    trashed["in_trash"] = json!(true);
    let second = json!([
        row("p3", "Known row"),
        trashed,
        page(
            "p6",
            "Elsewhere",
            json!({ "type": "page_id", "page_id": "hidden" })
        )
    ]);
    let server = Server::start(move |asked| match asked.path() {
        "/v1/search" if asked.body.contains("start_cursor") => list(second.clone()),
        "/v1/search" if asked.json()["filter"]["value"] == "page" => reply(&json!({
            "object": "list", "results": first, "next_cursor": "c2", "has_more": true, "request_status": { "type": "complete" } })),
        "/v1/data_sources/ds/query" => list(rows.clone()),
        "/v1/blocks/b1" => reply(
            &json!({ "object": "block", "id": "b1", "parent": { "type": "block_id", "block_id": "b0" }, "type": "column" }),
        ),
        "/v1/blocks/b0" => reply(
            &json!({ "object": "block", "id": "b0", "parent": { "type": "page_id", "page_id": "p1" }, "type": "column_list" }),
        ),
        _ => usual(asked, &json!([]), &sources),
    });
    let listing = source(&server).list().await.unwrap();
    assert_eq!(listing.problems, []);
    let expected = [
        "Home.md",
        "Home/Untitled.md",
        "Home/Tasks/Known row.md",
        "Home/Tasks/Row 2.md",
        "Elsewhere.md",
    ];
    assert_eq!(names(&listing), expected);
    let expected = Item {
        id: "p1".to_owned(),
        name: "Home.md".to_owned(),
        version: "2025-01-02T03:04:00.000Z".to_owned(),
        size_bytes: None,
        modified_ms: Some(1_735_787_040_000),
        url: Some("https://www.notion.so/p1".to_owned()),
        readers: Readers::All,
        metadata: ItemMetadata::default(),
    };
    assert_eq!(listing.items[0], expected);

    let requests = server.requests();
    for asked in &requests {
        assert_eq!(asked.header("authorization"), Some("Bearer ntn_token"));
        assert_eq!(asked.header("notion-version"), Some("2025-09-03"));
    }
    let search = json!({ "filter": { "property": "object", "value": "page" },
        "sort": { "timestamp": "last_edited_time", "direction": "ascending" }, "page_size": 100 });
    assert_eq!(requests[0].json(), search);
    assert_eq!(requests[1].json()["start_cursor"], "c2");
    let expected = [
        "POST /v1/search",
        "POST /v1/search",
        "POST /v1/search",
        "POST /v1/data_sources/ds/query",
        "GET /v1/blocks/b1",
        "GET /v1/blocks/b0",
    ];
    assert_eq!(server.targets(), expected);
}

#[tokio::test]
async fn pages_are_read_as_markdown() {
    let paragraph = |id: &str, text: &str, has_children: bool| {
        json!({ "object": "block", "id": id, "type": "paragraph", "has_children": has_children,
            "paragraph": { "rich_text": [{ "type": "text", "plain_text": text, "annotations": {} }] } })
    };
    let server = Server::start(move |asked| match asked.target() {
        "/v1/pages/p1" => {
            let mut page = page(
                "p1",
                "Row",
                json!({ "type": "data_source_id", "data_source_id": "ds" }),
            );
            page["properties"]["Stage"] = json!({ "type": "status", "status": { "name": "Done" } });
            reply(&page)
        }
        "/v1/pages/p2" => {
            let mut page = page("p2", "Gone", workspace());
            page["archived"] = json!(true);
            reply(&page)
        }
        "/v1/pages/p3" => reply(&page("p3", "Large", workspace())),
        "/v1/pages/p5" => reply(&page("p5", "Cut", workspace())),
        "/v1/blocks/p5/children?page_size=100" => {
            reply(&json!({ "results": [], "has_more": true, "next_cursor": null }))
        }
        "/v1/blocks/p3/children?page_size=100" => {
            list(json!([paragraph("x", &"x".repeat(400), false)]))
        }
        "/v1/blocks/p1/children?page_size=100" => reply(&json!({
            "results": [paragraph("b1", "One", true)], "has_more": true, "next_cursor": "c 2" })),
        "/v1/blocks/p1/children?page_size=100&start_cursor=c+2" => list(json!([
            { "object": "block", "id": "c1", "type": "child_page", "has_children": true, "child_page": { "title": "Child" } },
            paragraph("b2", "Two", true),
        ])),
        "/v1/blocks/b1/children?page_size=100" => list(json!([paragraph("b3", "Inner", false)])),
        _ => status(404),
    });
    let source = source(&server);
    let item = |id: &str| Item {
        id: id.to_owned(),
        name: String::new(),
        version: String::new(),
        size_bytes: None,
        modified_ms: None,
        url: None,
        readers: Readers::All,
        metadata: ItemMetadata::default(),
    };
    let expected = "# Row\n\n- **Stage:** Done\n\nOne\n\nInner\n\n[Child](https://www.notion.so/c1)\n\nTwo\n\n…\n";
    assert_eq!(source.read(&item("p1")).await.unwrap(), expected);
    assert_eq!(source.read(&item("p2")).await, Err(SourceProblem::Gone));
    assert_eq!(source.read(&item("p3")).await, Err(SourceProblem::TooLarge));
    assert_eq!(source.read(&item("p4")).await, Err(SourceProblem::Gone));
    let cut = Err(malformed("there is no next page"));
    assert_eq!(source.read(&item("p5")).await, cut);
    // The ID is one part of the path.
    assert_eq!(
        source.read(&item("../users")).await,
        Err(SourceProblem::Gone)
    );
    assert!(
        server
            .targets()
            .contains(&"GET /v1/pages/..%2Fusers".to_owned())
    );
}

#[tokio::test]
async fn blocks_without_end_are_bounded() {
    let server = Server::start(|asked| match asked.path() {
        "/v1/pages/deep" | "/v1/pages/long" => reply(&page("deep", "Deep", workspace())),
        "/v1/blocks/long/children" => {
            let blocks = vec![
                json!({ "id": "x", "type": "divider", "divider": {}, "has_children": false });
                100
            ];
            let at = asked
                .target()
                .rsplit('=')
                .next()
                .unwrap()
                .parse::<usize>()
                .unwrap_or(0);
            reply(
                &json!({ "results": blocks, "has_more": true, "next_cursor": (at + 101).to_string() }),
            )
        }
        path if path.ends_with("/children") => {
            list(json!([{ "id": "more", "type": "column", "column": {}, "has_children": true }]))
        }
        _ => status(404),
    });
    let source = source(&server);
    let mut item = Item {
        id: "deep".to_owned(),
        name: String::new(),
        version: String::new(),
        size_bytes: None,
        modified_ms: None,
        url: None,
        readers: Readers::All,
        metadata: ItemMetadata::default(),
    };
    assert_eq!(source.read(&item).await.unwrap(), "# Deep\n\n…\n");
    assert_eq!(server.requests().len(), 1 + 1 + MAX_DEPTH);
    item.id = "long".to_owned();
    assert_eq!(source.read(&item).await, Err(SourceProblem::TooLarge));
}

#[tokio::test]
async fn listings_that_may_lack_something_say_so() {
    // The search does not return everything.
    let server = Server::start(|asked| {
        if asked.json()["filter"]["value"] != "page" {
            return list(json!([]));
        }
        reply(
            &json!({ "results": [page("p1", "A", workspace())], "has_more": false, "next_cursor": null,
            "request_status": { "type": "incomplete", "incomplete_reason": "query_result_limit_reached" } }),
        )
    });
    let listing = source(&server).list().await.unwrap();
    assert_eq!(names(&listing), ["A.md"]);
    assert_eq!(listing.problems.len(), 1);

    // The rows of a database, and a page of which only the ID is told.
    let sources =
        json!([{ "object": "data_source", "id": "ds", "title": [{ "plain_text": "Tasks" }] }]);
    let pages = json!([{ "object": "page", "id": "p1" }, page("p2", "B", workspace())]);
    let server = Server::start(move |asked| match asked.path() {
        "/v1/data_sources/ds/query" => status(403),
        _ => usual(asked, &pages, &sources),
    });
    let listing = source(&server).list().await.unwrap();
    assert_eq!(names(&listing), ["B.md"]);
    let problems: Vec<_> = listing
        .problems
        .iter()
        .map(|part| (&*part.name, part.problem.clone()))
        .collect();
    assert_eq!(
        problems,
        [
            ("Tasks", SourceProblem::Refused),
            ("p1", SourceProblem::Refused)
        ]
    );
}

#[tokio::test]
async fn hostile_answers_are_refused() {
    let count = AtomicUsize::new(0);
    for next in ["same", "new", "none"] {
        let count = AtomicUsize::new(count.load(Ordering::Relaxed));
        let server = Server::start(move |_| {
            let cursor = match next {
                "same" => json!("c"),
                "new" => json!(count.fetch_add(1, Ordering::Relaxed).to_string()),
                _ => Value::Null,
            };
            reply(&json!({ "results": [], "has_more": true, "next_cursor": cursor }))
        });
        let listed = source(&server).list().await;
        assert!(matches!(listed, Err(SourceProblem::Malformed(_))), "{next}");
    }
    for wrong in [
        json!({}),
        json!({ "results": {} }),
        json!({ "results": [{ "id": "1" }], "has_more": false }),
    ] {
        let server = Server::start(move |_| reply(&wrong));
        let listed = source(&server).list().await;
        assert!(matches!(listed, Err(SourceProblem::Malformed(_))));
    }
    let many: Vec<_> = (0..7)
        .map(|at| page(&at.to_string(), "Same", workspace()))
        .collect();
    let server = Server::start(move |asked| usual(asked, &json!(many), &json!([])));
    assert_eq!(source(&server).list().await, Err(SourceProblem::TooMany));
    let same =
        |id: &str, parent: &str| page(id, "..", json!({ "type": "page_id", "page_id": parent }));
    // Two that are in each other.
    let pages = json!([
        same("1", "2"),
        same("2", "1"),
        page("3", "..", workspace()),
        page("4", "..", workspace())
    ]);
    let server = Server::start(move |asked| usual(asked, &pages, &json!([])));
    let listing = source(&server).list().await.unwrap();
    assert_eq!(names(&listing)[2..], ["untitled.md", "untitled (2).md"]);
    assert!(listing.items[0].name.len() < 1_000);
}

#[test]
fn versions_of_pages_that_are_being_edited_are_marked() {
    let edited = "2025-01-02T03:04:00.000Z";
    let at = api::time_ms(edited);
    let at_s = at.unwrap() / 1_000;
    assert_eq!(version(edited, at, at_s + 119), "2025-01-02T03:04:00.000Z~");
    assert_eq!(version(edited, at, at_s + 120), edited);
    assert_eq!(version("soon", None, at_s), "soon~");
}

#[test]
fn settings_are_validated() {
    let new = |api_url: Option<&str>, secret: &str| {
        let api_url = api_url.map(ToOwned::to_owned);
        let settings = SourceSettings::Notion(NotionSettings { api_url });
        Source::new(settings, secret, surroundings(1, 1)).err()
    };
    assert_eq!(new(None, "ntn_x"), None);
    assert_eq!(new(None, " "), Some(SourceProblem::Refused));
    let wrong = new(Some("http://proxy.example"), "ntn_x");
    assert!(matches!(
        wrong,
        Some(SourceProblem::Settings {
            field: "api_url",
            ..
        })
    ));
}
