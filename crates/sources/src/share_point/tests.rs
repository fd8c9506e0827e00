//! SharePoint against a server that answers as the reference of Microsoft Graph 1.0 says: `site`, `drive`,
//! `driveItem: delta`, `driveItem: list permissions` and JSON batching.

use std::sync::atomic::{AtomicUsize, Ordering};

use serde_json::{Value, json};

use super::*;
use crate::{
    ItemMetadata, Readers, Source, SourceSettings,
    test_server::{Asked, Reply, Server, bytes, json as reply, status, surroundings},
};

const DRIVES: &str = "/v1.0/sites/contoso.sharepoint.com,da60e844,712a596e/drives";

fn settings(server: &Server) -> SharePointSettings {
    SharePointSettings {
        tenant: "contoso.onmicrosoft.com".to_owned(),
        client_id: "client".to_owned(),
        site: Some("https://contoso.sharepoint.com/sites/Team%20A/".to_owned()),
        user: None,
        library: None,
        pages: true,
        subsites: false,
        folder: None,
        links_grant: false,
        graph_url: Some(server.address.clone()),
        login_url: Some(format!("{}/login", server.address)),
    }
}

fn source(settings: SharePointSettings) -> Source {
    let settings = SourceSettings::SharePoint(settings);
    Source::new(
        settings,
        "client secret&".replace(' ', "-").as_str(),
        surroundings(3, 20),
    )
    .unwrap()
}

fn file(id: &str, name: &str, parent: &str) -> Value {
    json!({
        "id": id, "name": name, "size": 5, "eTag": "\"{E},1\"", "cTag": "\"c:{C},1\"",
        "file": { "mimeType": "text/plain", "hashes": { "quickXorHash": format!("hash-{id}") } },
        "parentReference": { "driveType": "documentLibrary", "driveId": "b!1", "id": parent },
        "createdDateTime": "2016-03-20T00:00:00Z", "lastModifiedDateTime": "2016-03-21T20:01:37Z",
        "createdBy": { "user": { "displayName": "Ann" } }, "lastModifiedBy": { "application": { "displayName": "App" } },
        "webUrl": "https://contoso.sharepoint.com/sites/Team%20A/x"
    })
}

fn root() -> Value {
    json!({ "id": "root", "name": "root", "root": {}, "folder": { "childCount": 2 }, "parentReference": { "driveId": "b!1" } })
}

fn folder(id: &str, name: &str, parent: &str) -> Value {
    json!({ "id": id, "name": name, "folder": { "childCount": 2 }, "parentReference": { "id": parent } })
}

/// Answers what does not depend on the test: one library without files, readable by Ann.
fn usual(asked: &Asked) -> Reply {
    match asked.path() {
        "/login/contoso.onmicrosoft.com/oauth2/v2.0/token" => reply(
            &json!({ "token_type": "Bearer", "expires_in": 3599, "ext_expires_in": 3599, "access_token": "eyJ0" }),
        ),
        "/v1.0/sites/contoso.sharepoint.com:/sites/Team%20A" => reply(
            &json!({ "id": "contoso.sharepoint.com,da60e844,712a596e", "displayName": "Team A" }),
        ),
        DRIVES => reply(&json!({ "value": [{ "id": "b!1", "name": "Documents" }] })),
        "/v1.0/$batch" => batch(asked, |_| (200, json!({ "value": [ann()] }))),
        _ => status(404),
    }
}

fn ann() -> Value {
    json!({ "id": "1", "roles": ["write"], "grantedToV2": {
        "user": { "id": "u", "displayName": "Ann", "email": "ann@contoso.com" },
        "siteUser": { "id": "6", "displayName": "Ann", "loginName": "i:0#.f|membership|ann@contoso.com" } } })
}

fn batch(asked: &Asked, answer: impl Fn(&str) -> (u16, Value)) -> Reply {
    let requests = asked.json();
    // In another order than requested.
    let requests = requests["requests"].as_array().unwrap().iter().rev();
    let responses = requests.map(|request| {
        assert_eq!(request["method"], "GET");
        let (status, body) = answer(request["url"].as_str().unwrap());
        json!({ "id": request["id"], "status": status, "headers": { "Retry-After": "0" }, "body": body })
    });
    reply(&json!({ "responses": responses.collect::<Vec<_>>() }))
}

fn delta(items: Value) -> Reply {
    reply(
        &json!({ "value": items, "@odata.deltaLink": "https://graph.microsoft.com/v1.0/x?token=1" }),
    )
}

fn only(people: &[&str]) -> Readers {
    Readers::Only {
        people: people.iter().map(|one| (*one).to_owned()).collect(),
        groups: Vec::new(),
        domains: Vec::new(),
    }
}

fn names(listing: &Listing) -> Vec<&str> {
    listing.items.iter().map(|item| &*item.name).collect()
}

/// A server with one library that has these items.
fn with_items(items: Value) -> Server {
    Server::start(move |asked| match asked.path() {
        "/v1.0/drives/b!1/root/delta" => delta(items.clone()),
        _ => usual(asked),
    })
}

#[tokio::test]
async fn libraries_are_listed_and_read() {
    let storage = Server::start(|_| bytes(b"hello"));
    let to = format!("{}/signed?tempauth=1", storage.address);
    let server = Server::start(move |asked| match asked.target() {
        target if target.ends_with("delta?token=2") => delta(json!([
            file("f2", "report.docx", "d2"),
            { "id": "f3", "name": "old.txt", "deleted": { "state": "deleted" } },
            { "id": "n1", "name": "Notes", "package": { "type": "oneNote" }, "parentReference": { "id": "root" } },
            { "id": "r1", "name": "Elsewhere", "file": {}, "remoteItem": { "id": "x" }, "parentReference": { "id": "root" } },
        ])),
        target if target.starts_with("/v1.0/drives/b!1/root/delta?") => reply(&json!({
            "value": [root(), folder("d1", "2025", "root"), folder("d2", "a:b", "d1"),
                file("f1", "plan.md", "root"), file("f2", "draft.docx", "root"), file("f3", "old.txt", "root")],
            "@odata.nextLink": format!("http://{}/v1.0/drives/b!1/root/delta?token=2", asked.header("host").unwrap()),
        })),
        "/v1.0/drives/b!1/items/f1/content" => status(302).header(&format!("location: {to}")),
        _ => usual(asked),
    });
    let source = source(settings(&server));
    let listing = source.list().await.unwrap();
    let expected = Item {
        id: "b!1/f1".to_owned(),
        name: "plan.md".to_owned(),
        version: "hash-f1".to_owned(),
        size_bytes: Some(5),
        modified_ms: Some(1_458_590_497_000),
        url: Some("https://contoso.sharepoint.com/sites/Team%20A/x".to_owned()),
        readers: only(&["ann@contoso.com"]),
        metadata: ItemMetadata {
            tags: Vec::new(),
            fields: [("author", "Ann"), ("created", "2016-03-20T00:00:00Z")]
                .map(|(key, value)| (key.to_owned(), json!(value)))
                .into(),
        },
    };
    assert_eq!(listing.items[0], expected);
    assert_eq!(names(&listing), ["plan.md", "2025/a b/report.docx"]);
    assert_eq!(listing.problems, []);

    assert_eq!(source.read(&listing.items[0]).await.unwrap(), "hello");
    assert_eq!(storage.requests()[0].header("authorization"), None);
    assert_eq!(
        source.read(&listing.items[1]).await,
        Err(SourceProblem::Gone)
    );
    let large = Item {
        size_bytes: Some(21),
        ..expected
    };
    assert_eq!(source.read(&large).await, Err(SourceProblem::TooLarge));

    let requests = server.requests();
    let form = "grant_type=client_credentials&client_id=client&client_secret=client-secret%26&\
                scope=https%3A%2F%2Fgraph.microsoft.com%2F.default";
    assert_eq!(requests[0].body, form);
    for asked in &requests[1..] {
        assert_eq!(asked.header("authorization"), Some("Bearer eyJ0"));
    }
    let select = "%24select=id%2Cname";
    let details = "id%2Cname%2Csize%2CeTag%2CcTag%2Cfile%2Cfolder%2Croot%2Cpackage%2CremoteItem%2CparentReference%2C\
                   deleted%2CcreatedDateTime%2ClastModifiedDateTime%2CcreatedBy%2ClastModifiedBy%2CwebUrl";
    let expected = [
        "POST /login/contoso.onmicrosoft.com/oauth2/v2.0/token".to_owned(),
        format!("GET /v1.0/sites/contoso.sharepoint.com:/sites/Team%20A?{select}"),
        format!("GET {DRIVES}?{select}"),
        format!("GET {SITE}/lists?%24select=id%2CdisplayName%2Clist"),
        format!("GET /v1.0/drives/b!1/root/delta?%24select={details}"),
        "GET /v1.0/drives/b!1/root/delta?token=2".to_owned(),
        "POST /v1.0/$batch".to_owned(),
        "GET /v1.0/drives/b!1/items/f1/content".to_owned(),
        "GET /v1.0/drives/b!1/items/f2/content".to_owned(),
    ];
    assert_eq!(server.targets(), expected);
    let asked = json!({ "requests": [
        { "id": "0", "method": "GET", "url": "/v1.0/drives/b!1/items/f1/permissions" },
        { "id": "1", "method": "GET", "url": "/v1.0/drives/b!1/items/f2/permissions" } ] });
    let asked = asked.to_string().replace("/v1.0/drives", "/drives");
    assert_eq!(requests[6].body, asked);
}

#[tokio::test]
async fn a_folder_is_looked_for_in_all_libraries() {
    let server = Server::start(|asked| match asked.path() {
        DRIVES => reply(
            &json!({ "value": [{ "id": "b!1", "name": "Documents" }, { "id": "b!2", "name": "Wiki" },
            { "id": "b!3", "name": "Secret" }] }),
        ),
        "/v1.0/drives/b!1/root:/a/b%20c" => reply(&json!({ "id": "d2", "folder": {} })),
        "/v1.0/drives/b!3/root:/a/b%20c" => status(403),
        "/v1.0/drives/b!1/root/delta" => delta(json!([
            root(),
            folder("d1", "a", "root"),
            folder("d2", "b c", "d1"),
            folder("d3", "d", "d2"),
            file("f1", "1.md", "root"),
            file("f2", "2.md", "d1"),
            file("f3", "3.md", "d2"),
            file("f4", "4.md", "d3")
        ])),
        _ => usual(asked),
    });
    let mut settings = settings(&server);
    settings.folder = Some("/a/b c/".to_owned());
    let listing = source(settings.clone()).list().await.unwrap();
    assert_eq!(names(&listing), ["Documents/3.md", "Documents/d/4.md"]);
    assert_eq!(listing.problems.len(), 1);
    assert_eq!(listing.problems[0].name, "Secret");
    assert_eq!(listing.problems[0].problem, SourceProblem::Refused);

    settings.library = Some("documents".to_owned());
    let listing = source(settings.clone()).list().await.unwrap();
    assert_eq!(names(&listing), ["3.md", "d/4.md"]);
    settings.library = Some("Wiki".to_owned());
    assert_eq!(
        source(settings.clone()).list().await,
        Err(SourceProblem::NotFound)
    );
    settings.library = Some("Other".to_owned());
    assert_eq!(source(settings).list().await, Err(SourceProblem::NotFound));
}

#[tokio::test]
async fn one_drive_of_a_person() {
    let server = Server::start(|asked| match asked.path() {
        "/v1.0/users/ann@contoso.com/drive" => {
            reply(&json!({ "id": "b!1", "name": "OneDrive", "driveType": "business" }))
        }
        "/v1.0/drives/b!1/root/delta" => delta(json!([root(), file("f1", "1.md", "root")])),
        _ => usual(asked),
    });
    let mut settings = settings(&server);
    settings.site = None;
    settings.user = Some("ann@contoso.com".to_owned());
    assert_eq!(names(&source(settings).list().await.unwrap()), ["1.md"]);
}

#[tokio::test]
async fn rights_that_are_not_known_are_nobodys() {
    let count = AtomicUsize::new(0);
    let server = Server::start(move |asked| match asked.path() {
        "/v1.0/drives/b!1/root/delta" => delta(json!([
            root(),
            file("f1", "1.md", "root"),
            file("f2", "2.md", "root"),
            file("f3", "3.md", "root")
        ])),
        "/v1.0/$batch" => {
            let is_first = count.fetch_add(1, Ordering::Relaxed) == 0;
            let host = asked.header("host").unwrap();
            batch(asked, |url| match url {
                "/drives/b!1/items/f1/permissions" => {
                    (404, json!({ "error": { "code": "itemNotFound" } }))
                }
                "/drives/b!1/items/f2/permissions" => {
                    (200, json!({ "value": [{ "roles": "all" }] }))
                }
                _ if is_first => (429, json!({ "error": { "code": "activityLimitReached" } })),
                _ => (
                    200,
                    json!({ "value": [], "@odata.nextLink": format!("http://{host}/v1.0/more") }),
                ),
            })
        }
        "/v1.0/more" => reply(&json!({ "value": [ann()] })),
        _ => usual(asked),
    });
    let listing = source(settings(&server)).list().await.unwrap();
    let readers: Vec<_> = listing
        .items
        .iter()
        .map(|item| item.readers.clone())
        .collect();
    assert_eq!(readers, [only(&[]), only(&[]), only(&["ann@contoso.com"])]);
    let problems: Vec<_> = listing.problems.iter().map(|part| &*part.name).collect();
    assert_eq!(problems, ["1.md", "2.md"]);
    assert_eq!(listing.problems[0].problem, SourceProblem::Gone);
    assert!(matches!(
        listing.problems[1].problem,
        SourceProblem::Malformed(_)
    ));
    let batches = server.requests();
    let batches: Vec<_> = batches
        .iter()
        .filter(|asked| asked.path() == "/v1.0/$batch")
        .collect();
    assert_eq!(batches.len(), 2);
    assert_eq!(batches[1].json()["requests"].as_array().unwrap().len(), 1);
}

#[tokio::test]
async fn limits_and_failures_end_the_listing() {
    for (code, expected) in [
        (429, SourceProblem::Limited),
        (500, SourceProblem::Status { status: 500 }),
    ] {
        let server = Server::start(move |asked| match asked.path() {
            "/v1.0/drives/b!1/root/delta" => delta(json!([root(), file("f1", "1.md", "root")])),
            "/v1.0/$batch" => batch(asked, |_| (code, Value::Null)),
            _ => usual(asked),
        });
        assert_eq!(source(settings(&server)).list().await, Err(expected));
    }
    let many = (0..4).map(|at| file(&format!("f{at}"), "x", "root"));
    let many: Vec<_> = std::iter::once(root()).chain(many).collect();
    let server = with_items(json!(many));
    assert_eq!(
        source(settings(&server)).list().await,
        Err(SourceProblem::TooMany)
    );
}

#[tokio::test]
async fn items_that_cannot_be_placed_are_reported() {
    let server = with_items(json!([
        root(),
        folder("d1", "loop", "d2"),
        folder("d2", "loop", "d1"),
        file("f1", "in a loop", "d1"),
        file("f2", "lost", "d9"),
        file("f3", "../../etc/passwd", "root"),
        file("f4", "same", "root"),
        file("f5", "same", "root"),
    ]));
    let listing = source(settings(&server)).list().await.unwrap();
    assert_eq!(names(&listing), ["etc passwd", "same", "same (2)"]);
    let mut problems: Vec<_> = listing.problems.iter().map(|part| &*part.name).collect();
    problems.sort_unstable();
    assert_eq!(problems, ["in a loop", "lost"]);
}

#[tokio::test]
async fn hostile_pages_are_refused() {
    let elsewhere = Server::start(|_| delta(json!([])));
    let foreign = elsewhere.address.clone();
    for next in ["same", "new", "foreign"] {
        let count = AtomicUsize::new(0);
        let foreign = foreign.clone();
        let server = Server::start(move |asked| {
            if asked.path() != "/v1.0/drives/b!1/root/delta" {
                return usual(asked);
            }
            let link = match next {
                "same" => "/v1.0/drives/b!1/root/delta?token=1".to_owned(),
                "new" => format!(
                    "/v1.0/drives/b!1/root/delta?token={}",
                    count.fetch_add(1, Ordering::Relaxed)
                ),
                _ => format!("{foreign}/v1.0/drives/b!1/root/delta"),
            };
            reply(&json!({ "value": [], "@odata.nextLink": link }))
        });
        let listed = source(settings(&server)).list().await;
        assert!(matches!(listed, Err(SourceProblem::Malformed(_))), "{next}");
    }
    assert_eq!(elsewhere.requests().len(), 0);

    for wrong in [
        json!({}),
        json!({ "value": {} }),
        json!({ "value": [{ "name": "without ID" }] }),
        json!({ "value": [{ "id": 1 }] }),
        json!({ "value": [{ "id": "1", "size": -1 }] }),
        json!([]),
    ] {
        let server = Server::start(move |asked| match asked.path() {
            "/v1.0/drives/b!1/root/delta" => reply(&wrong),
            _ => usual(asked),
        });
        let listed = source(settings(&server)).list().await;
        assert!(matches!(listed, Err(SourceProblem::Malformed(_))));
    }
}

#[tokio::test]
async fn hostile_batches_are_refused() {
    for responses in [
        json!([]),
        json!([{ "id": "7", "status": 200, "body": { "value": [] } }]),
        json!([{ "id": "x", "status": 200, "body": { "value": [] } }]),
        json!([{ "status": 200 }]),
    ] {
        let server = Server::start(move |asked| match asked.path() {
            "/v1.0/drives/b!1/root/delta" => delta(json!([root(), file("f1", "1.md", "root")])),
            "/v1.0/$batch" => reply(&json!({ "responses": responses })),
            _ => usual(asked),
        });
        let listed = source(settings(&server)).list().await;
        assert!(matches!(listed, Err(SourceProblem::Malformed(_))));
    }
}

#[test]
fn settings_are_validated() {
    let server = Server::start(usual);
    let check = |change: fn(&mut SharePointSettings), expected: Option<&str>| {
        let mut settings = settings(&server);
        change(&mut settings);
        let settings = SourceSettings::SharePoint(settings);
        let field = match Source::new(settings, "secret", surroundings(1, 1)).err() {
            Some(SourceProblem::Settings { field, .. }) => Some(field),
            other => {
                assert_eq!(other, None);
                None
            }
        };
        assert_eq!(field, expected);
    };
    check(|_| (), None);
    check(
        |settings| settings.site = Some("https://contoso.sharepoint.com".to_owned()),
        None,
    );
    check(|settings| settings.graph_url = None, None);
    check(
        |settings| settings.tenant = "a/../b".to_owned(),
        Some("tenant"),
    );
    check(|settings| settings.tenant = "..".to_owned(), Some("tenant"));
    check(
        |settings| settings.client_id = " ".to_owned(),
        Some("client_id"),
    );
    check(|settings| settings.site = None, Some("site"));
    check(
        |settings| settings.user = Some("ann".to_owned()),
        Some("site"),
    );
    check(
        |settings| settings.site = Some("http://contoso.sharepoint.com".to_owned()),
        Some("site"),
    );
    check(
        |settings| settings.folder = Some("a/../b".to_owned()),
        Some("folder"),
    );
    check(
        |settings| settings.graph_url = Some("http://graph.example".to_owned()),
        Some("graph_url"),
    );
    check(
        |settings| settings.login_url = Some("https://10.0.0.1".to_owned()),
        Some("login_url"),
    );
    for secret in ["", "a\nb"] {
        let settings = SourceSettings::SharePoint(settings(&server));
        let refused = Source::new(settings, secret, surroundings(1, 1)).err();
        assert_eq!(refused, Some(SourceProblem::Refused));
    }
}

#[tokio::test]
async fn permissions_of_many_items_are_requested_in_batches() {
    let files = (10..55).map(|at| file(&format!("f{at}"), &format!("{at}.md"), "root"));
    let files: Vec<_> = std::iter::once(root()).chain(files).collect();
    let server = Server::start(move |asked| match asked.path() {
        "/v1.0/drives/b!1/root/delta" => delta(json!(files)),
        "/v1.0/$batch" => batch(asked, |url| {
            let id = url.split('/').nth(4).unwrap();
            let email = format!("{id}@contoso.com");
            let user = json!({ "user": { "email": email } });
            (
                200,
                json!({ "value": [{ "roles": ["read"], "grantedToV2": user }] }),
            )
        }),
        _ => usual(asked),
    });
    let settings = SourceSettings::SharePoint(settings(&server));
    let source = Source::new(settings, "secret", surroundings(50, 20)).unwrap();
    let listing = source.list().await.unwrap();
    assert_eq!(listing.items.len(), 45);
    for (item, at) in listing.items.iter().zip(10..) {
        assert_eq!(item.name, format!("{at}.md"));
        assert_eq!(item.readers, only(&[&format!("f{at}@contoso.com")]));
    }
    let requests = server.requests();
    let batches = requests
        .iter()
        .filter(|asked| asked.path() == "/v1.0/$batch");
    let mut sizes: Vec<_> = batches
        .map(|asked| asked.json()["requests"].as_array().unwrap().len())
        .collect();
    sizes.sort_unstable();
    assert_eq!(sizes, [5, 20, 20]);
}

const SITE: &str = "/v1.0/sites/contoso.sharepoint.com,da60e844,712a596e";

/// After the reference of Microsoft Graph: “List lists”, “Get sitePage” and “List subsites”.
#[tokio::test]
async fn pages_and_sites_below_are_listed() {
    let page = |level: &str| {
        reply(
            &json!({ "id": "guid-1", "title": "Welcome", "publishingState": { "level": level, "versionId": "3.0" },
            "canvasLayout": { "horizontalSections": [{ "columns": [{ "webparts": [
                { "@odata.type": "#microsoft.graph.textWebPart", "innerHtml": "<p>Hi</p>" }] }] }] } }),
        )
    };
    let server = Server::start(move |asked| {
        let path = asked.path();
        if let Some(rest) = path.strip_prefix(SITE) {
            return match rest {
                "/drives" => reply(&json!({ "value": [{ "id": "b!1", "name": "Documents" }] })),
                "/sites" => {
                    reply(&json!({ "value": [{ "id": "sub", "name": "hr", "displayName": "HR" }] }))
                }
                "/lists" => reply(&json!({ "value": [
                    { "id": "l1", "displayName": "Documents", "list": { "template": "documentLibrary" } },
                    { "id": "l2", "displayName": "Site Pages", "list": { "template": "webPageLibrary" } } ] })),
                "/lists/l2/drive" => reply(&json!({ "id": "b!2", "name": "SitePages" })),
                _ => status(404),
            };
        }
        match path {
            "/v1.0/sites/sub/drives" => {
                reply(&json!({ "value": [{ "id": "b!3", "name": "Documents" }] }))
            }
            // A site that contains itself, and no right to see lists.
            "/v1.0/sites/sub/sites" => reply(&json!({ "value": [{ "id": "sub", "name": "hr" }] })),
            "/v1.0/sites/sub/lists" => status(403),
            "/v1.0/drives/b!1/root/delta" => delta(json!([root(), file("f1", "plan.md", "root")])),
            "/v1.0/drives/b!2/root/delta" => delta(json!([
                root(),
                file("p1", "Welcome.aspx", "root"),
                file("p2", "script.js", "root")
            ])),
            "/v1.0/drives/b!3/root/delta" => delta(json!([root(), file("f2", "pay.md", "root")])),
            "/v1.0/drives/b!2/items/p1" => reply(&json!({ "id": "p1", "sharepointIds": {
                "siteId": "da60e844", "listId": "l2", "listItemId": "1", "listItemUniqueId": "guid-1" } })),
            "/v1.0/sites/da60e844/pages/guid-1/microsoft.graph.sitePage" => page("published"),
            "/v1.0/sites/da60e844/pages/guid-2/microsoft.graph.sitePage" => page("draft"),
            "/v1.0/drives/b!2/items/p3" => reply(&json!({ "id": "p3", "sharepointIds": {
                "siteId": "da60e844", "listItemUniqueId": "guid-2" } })),
            "/v1.0/$batch" => batch(asked, |url| match url {
                "/drives/b!2/items/p1/permissions" => (200, json!({ "value": [ann()] })),
                _ => (200, json!({ "value": [] })),
            }),
            _ => usual(asked),
        }
    });
    let mut with_subsites = settings(&server);
    with_subsites.subsites = true;
    let large = surroundings(10, 1_000);
    let kept = SourceSettings::SharePoint(with_subsites.clone());
    let kept = Source::new(kept, "secret", large).unwrap();
    let listing = kept.list().await.unwrap();
    assert_eq!(listing.problems, []);
    assert_eq!(
        names(&listing),
        [
            "Documents/plan.md",
            "HR/Documents/pay.md",
            "Site Pages/Welcome.html"
        ]
    );
    let page = &listing.items[2];
    assert_eq!(page.id, "page:b!2/p1");
    assert_eq!(page.readers, only(&["ann@contoso.com"]));
    let read = kept.read(page).await.unwrap();
    let text = std::str::from_utf8(&read).unwrap();
    assert!(
        text.contains("<h1>Welcome</h1>\n<div><p>Hi</p></div>"),
        "{text}"
    );
    let draft = Item {
        id: "page:b!2/p3".to_owned(),
        ..page.clone()
    };
    let draft = kept.read(&draft).await;
    assert_eq!(
        draft,
        Err(malformed("the page has changes that are not published"))
    );

    // Without either, the names have no library.
    with_subsites.subsites = false;
    with_subsites.pages = false;
    let listing = source(with_subsites).list().await.unwrap();
    assert_eq!(names(&listing), ["plan.md"]);
}

/// After the reference of Microsoft Graph, “driveItem: delta”: the second request of an address is for the changes.
#[tokio::test]
async fn deltas_are_changes() {
    let state = std::sync::Arc::new(std::sync::Mutex::new((json!([]), 200)));
    let seen = std::sync::Arc::clone(&state);
    let server = Server::start(move |asked| {
        let link = format!(
            "http://{}/v1.0/drives/b!1/root/delta?token=T",
            asked.header("host").unwrap()
        );
        let page = |items: &Value| reply(&json!({ "value": items, "@odata.deltaLink": link }));
        match asked.target() {
            target if target.ends_with("delta?token=T") => match &*seen.lock().unwrap() {
                (items, 200) => page(items),
                (_, code) => status(*code),
            },
            target if target.starts_with("/v1.0/drives/b!1/root/delta?") => page(&json!([
                root(),
                folder("d1", "Sub", "root"),
                file("f1", "a.md", "root"),
                file("f2", "b.md", "d1")
            ])),
            _ => usual(asked),
        }
    });
    let source = source(settings(&server));
    let before = source.list().await.unwrap();
    assert_eq!(names(&before), ["a.md", "Sub/b.md"]);
    let position = before.position.clone().unwrap();
    let after = async |changes: Value, code: u16| {
        *state.lock().unwrap() = (changes, code);
        let known = before.items.clone();
        let listing = source.list_changes(&position, known).await.unwrap()?;
        assert!(listing.position.is_some());
        assert!(
            listing
                .items
                .iter()
                .all(|item| item.readers == only(&["ann@contoso.com"]))
        );
        let names = listing.items.into_iter().map(|item| item.name);
        Some(names.collect::<Vec<_>>())
    };
    let deleted = |id: &str| json!({ "id": id, "deleted": { "state": "deleted" } });
    let unchanged: &[&str] = &["a.md", "Sub/b.md"];
    for (changes, expected) in [
        (json!([]), Some(unchanged)),
        // The folders of what has changed come along.
        (
            json!([root(), folder("d1", "Sub", "root")]),
            Some(unchanged),
        ),
        (
            json!([file("f1", "new.md", "d1")]),
            Some(&["Sub/new.md", "Sub/b.md"]),
        ),
        (json!([deleted("f1")]), Some(&["Sub/b.md"])),
        (
            json!([
                file("f3", "c.md", "d2"),
                folder("d2", "Deep", "d3"),
                folder("d3", "New", "d1")
            ]),
            Some(&["a.md", "Sub/b.md", "Sub/New/Deep/c.md"]),
        ),
        (json!([folder("d1", "Renamed", "root")]), None),
        (json!([deleted("d1")]), None),
        (json!([file("f1", "a.md", "unknown")]), None),
    ] {
        let found = after(changes.clone(), 200).await;
        let found = found.as_ref().map(|names| names.iter().map(|name| &**name));
        let found = found.map(Iterator::collect::<Vec<_>>);
        assert_eq!(found.as_deref(), expected, "{changes}");
    }
    // The position is too old, or was made by another version.
    assert_eq!(after(json!([]), 410).await, None);
    let known = before.items.clone();
    assert_eq!(source.list_changes("{}", known).await, Ok(None));
}
