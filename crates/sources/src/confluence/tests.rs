//! Confluence against a server that answers as the references say: of the REST API 2 of Cloud (spaces, pages, blog
//! posts, folders, attachments, permissions, roles, users), of version 1 (content restrictions, content search, groups),
//! and of Data Center 9 (spaces, content, restrictions, users).

use std::sync::atomic::{AtomicUsize, Ordering};

use serde_json::{Value, json};

use super::*;
use crate::{
    ItemMetadata, Readers, Source, SourceSettings,
    test_server::{Asked, Reply, Server, bytes, json as reply, status, surroundings},
};

fn settings(server: &Server, edition: ConfluenceEdition) -> ConfluenceSettings {
    let is_cloud = edition == ConfluenceEdition::Cloud;
    let path = if is_cloud { "" } else { "/confluence/" };
    ConfluenceSettings {
        url: format!("{}{path}", server.address),
        edition,
        email: is_cloud.then(|| "bot@example.com".to_owned()),
        spaces: Vec::new(),
        attachments: true,
        space_rights: true,
        everyone_groups: Vec::new(),
        api_url: None,
    }
}

fn source(settings: ConfluenceSettings) -> Source {
    let settings = SourceSettings::Confluence(settings);
    Source::new(settings, "token", surroundings(9, 400)).unwrap()
}

fn only(people: &[&str], groups: &[&str]) -> Readers {
    let owned = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect();
    Readers::Only {
        people: owned(people),
        groups: owned(groups),
        domains: Vec::new(),
    }
}

fn list(results: Value) -> Reply {
    reply(
        &json!({ "results": results, "_links": { "base": "https://example.atlassian.net/wiki" } }),
    )
}

fn page(id: &str, title: &str, parent: Value, kind: &str) -> Value {
    json!({
        "id": id, "status": "current", "title": title, "spaceId": "10", "parentId": parent, "parentType": kind,
        "position": 1, "authorId": "a", "createdAt": "2024-01-01T00:00:00.000Z",
        "version": { "number": 4, "message": "", "minorEdit": false, "createdAt": "2024-01-02T00:00:00.000Z" },
        "_links": { "webui": format!("/spaces/ENG/pages/{id}"), "tinyui": "/x/AQ" }
    })
}

fn labelled(labels: &[&str]) -> ItemMetadata {
    ItemMetadata {
        tags: labels.iter().map(|&label| label.to_owned()).collect(),
        ..ItemMetadata::default()
    }
}

fn user(id: &str) -> Value {
    json!({ "type": "known", "accountId": id, "accountType": "atlassian", "email": "", "publicName": id })
}

fn group(id: &str) -> Value {
    json!({ "type": "group", "name": format!("group {id}"), "id": id })
}

fn restriction(users: &[Value], groups: &[Value]) -> Value {
    json!({
        "operation": "read",
        "restrictions": {
            "user": { "results": users, "start": 0, "limit": 100, "size": users.len() },
            "group": { "results": groups, "start": 0, "limit": 100, "size": groups.len() }
        },
        "_expandable": { "content": "/rest/api/content/1" }, "_links": { "self": "x" }
    })
}

fn right(kind: &str, id: &str) -> Value {
    json!({ "id": "1", "principal": { "type": kind, "id": id }, "operation": { "key": "read", "targetType": "space" } })
}

/// A site with the space ENG for the group `staff`, in which Ann and Bob are. Cem hides his address.
fn usual(asked: &Asked) -> Reply {
    match asked.path() {
        "/wiki/rest/api/user/current" => reply(&user("bot")),
        "/wiki/api/v2/spaces" => list(json!([
            { "id": "10", "key": "ENG", "name": "Engineering", "type": "global", "status": "current" }
        ])),
        "/wiki/api/v2/spaces/10/permissions" => list(json!([
            right("group", "staff"),
            { "id": "2", "principal": { "type": "group", "id": "editors" },
              "operation": { "key": "create", "targetType": "page" } }
        ])),
        "/wiki/api/v2/spaces/10/pages" => list(json!([page("1", "Home", Value::Null, "page")])),
        "/wiki/api/v2/spaces/10/blogposts" | "/wiki/api/v2/attachments" => list(json!([])),
        "/wiki/rest/api/content/search" => list(json!([])),
        "/wiki/rest/api/group/by-id" => {
            let id = asked
                .target()
                .split("id=")
                .nth(2)
                .or(asked.target().split("?id=").nth(1))
                .unwrap();
            reply(&group(id))
        }
        "/wiki/rest/api/group/staff/membersByGroupId" => {
            list(json!([user("ann"), user("bob"), user("cem")]))
        }
        "/wiki/rest/api/group/legal/membersByGroupId" => list(json!([user("bob"), user("dan")])),
        "/wiki/api/v2/users-bulk" => {
            let ids = asked.json()["accountIds"].as_array().unwrap().clone();
            let users = ids.iter().map(|id| match id.as_str().unwrap() {
                "cem" => user("cem"),
                id => json!({ "accountId": id, "email": format!("{id}@example.com"), "displayName": id }),
            });
            reply(&json!({ "results": users.collect::<Vec<_>>() }))
        }
        path if path.ends_with("/restriction/byOperation/read") => reply(&restriction(&[], &[])),
        _ => status(404),
    }
}

/// The usual site with these pages and the restrictions of some.
fn with_pages(
    pages: Value,
    restrictions: impl Fn(&str) -> Option<Value> + Send + Sync + 'static,
) -> Server {
    Server::start(move |asked| {
        let content = asked.path().strip_prefix("/wiki/rest/api/content/");
        let content = content.and_then(|rest| rest.strip_suffix("/restriction/byOperation/read"));
        match (asked.path(), content) {
            ("/wiki/api/v2/spaces/10/pages", _) => list(pages.clone()),
            (_, Some(id)) => match restrictions(id) {
                Some(restriction) => reply(&restriction),
                None => usual(asked),
            },
            _ => usual(asked),
        }
    })
}

async fn readers(server: &Server, change: impl FnOnce(&mut ConfluenceSettings)) -> Vec<Readers> {
    let mut settings = settings(server, ConfluenceEdition::Cloud);
    change(&mut settings);
    let listing = source(settings).list().await.unwrap();
    listing.items.into_iter().map(|item| item.readers).collect()
}

#[tokio::test]
async fn pages_of_cloud_are_listed_and_read() {
    let media = Server::start(|_| bytes(b"%PDF"));
    let to = media.address.clone();
    let server = Server::start(move |asked| match asked.target() {
        "/wiki/api/v2/spaces/10/pages?cursor=c2" => {
            list(json!([page("3", "A/B: <Notes>", json!("7"), "folder")]))
        }
        target if target.starts_with("/wiki/api/v2/spaces/10/pages?") => reply(&json!({
            "results": [page("1", "Home", Value::Null, "page"), page("2", "Plan", json!("1"), "page")],
            "_links": { "next": "/wiki/api/v2/spaces/10/pages?cursor=c2", "base": "x" }
        })),
        "/wiki/api/v2/folders/7" => reply(
            &json!({ "id": "7", "type": "folder", "title": "Old", "parentId": "1", "parentType": "page" }),
        ),
        target if target.starts_with("/wiki/api/v2/spaces/10/blogposts?") => list(
            json!([{ "id": "4", "title": "News", "version": { "number": 1 }, "_links": { "webui": "/spaces/ENG/blog/4" } }]),
        ),
        target if target.starts_with("/wiki/api/v2/attachments?") => list(json!([
            { "id": "att5", "status": "current", "title": "plan.pdf", "pageId": "2", "mediaType": "application/pdf",
              "fileSize": 4, "webuiLink": "/pages/viewpageattachments.action?pageId=2",
              "downloadLink": "/download/attachments/2/plan.pdf", "version": { "number": 2 } },
            { "id": "att6", "title": "other space", "pageId": "99", "version": { "number": 1 } },
            { "id": "att7", "title": "of a database", "version": { "number": 1 } },
        ])),
        target if target.starts_with("/wiki/rest/api/content/search?") => {
            list(json!([{ "id": "2", "type": "page",
            "metadata": { "labels": { "results": [
                { "prefix": "global", "name": "plan", "id": "1" }, { "prefix": "my", "name": "favourite", "id": "2" },
                { "prefix": "team", "name": "q3", "id": "3" }], "start": 0, "limit": 200, "size": 3 } } }]))
        }
        "/wiki/api/v2/pages/3?body-format=storage" => reply(&json!({
            "id": "3", "title": "A/B: <Notes>", "body": { "storage": { "representation": "storage", "value": "<p>Text</p>" } } })),
        "/wiki/api/v2/blogposts/4?body-format=storage" => reply(&json!({ "title": "News",
            "body": { "storage": { "value": "x".repeat(400) } } })),
        "/wiki/rest/api/content/2/child/attachment/att5/download" => {
            status(302).header(&format!("location: {to}/file?token=1"))
        }
        _ => usual(asked),
    });
    let source = source(settings(&server, ConfluenceEdition::Cloud));
    let listing = source.list().await.unwrap();
    assert_eq!(listing.problems, []);
    let names: Vec<_> = listing
        .items
        .iter()
        .map(|item| (&*item.id, &*item.name))
        .collect();
    let expected = [
        ("attachment/2/att5", "Engineering/Home/Plan/plan.pdf"),
        ("blogpost/4", "Engineering/News.html"),
        ("page/1", "Engineering/Home.html"),
        ("page/2", "Engineering/Home/Plan.html"),
        ("page/3", "Engineering/Home/Old/A B Notes.html"),
    ];
    assert_eq!(names, expected);
    let expected = Item {
        id: "page/2".to_owned(),
        name: "Engineering/Home/Plan.html".to_owned(),
        version: "4".to_owned(),
        size_bytes: None,
        modified_ms: Some(1_704_153_600_000),
        url: Some(format!("{}/wiki/spaces/ENG/pages/2", server.address)),
        readers: only(&[], &["group staff"]),
        metadata: labelled(&["plan", "q3"]),
    };
    assert_eq!(listing.items[3], expected);
    assert_eq!(listing.items[0].size_bytes, Some(4));

    let page = source.read(&listing.items[4]).await.unwrap();
    let page = String::from_utf8(page.to_vec()).unwrap();
    assert!(page.contains("<title>A/B: &lt;Notes&gt;</title>") && page.contains("<p>Text</p>"));
    assert_eq!(source.read(&listing.items[0]).await.unwrap(), "%PDF");
    assert_eq!(media.requests()[0].header("authorization"), None);
    assert_eq!(
        source.read(&listing.items[1]).await,
        Err(SourceProblem::TooLarge)
    );
    assert_eq!(
        source.read(&listing.items[2]).await,
        Err(SourceProblem::Gone)
    );

    for asked in server.requests() {
        // bot@example.com:token
        assert_eq!(
            asked.header("authorization"),
            Some("Basic Ym90QGV4YW1wbGUuY29tOnRva2Vu")
        );
    }
    let targets = server.targets();
    let expected = [
        "GET /wiki/rest/api/user/current",
        "GET /wiki/api/v2/spaces?status=current&limit=250",
        "GET /wiki/api/v2/spaces/10/pages?status=current&limit=250",
        "GET /wiki/api/v2/spaces/10/pages?cursor=c2",
        "GET /wiki/api/v2/spaces/10/blogposts?status=current&limit=250",
        "GET /wiki/api/v2/folders/7",
        "GET /wiki/rest/api/content/search?cql=space%3D%22ENG%22+and+type+in+%28page%2Cblogpost%29&\
         expand=restrictions.read.restrictions.user%2Crestrictions.read.restrictions.group%2Cmetadata.labels&limit=100",
        "GET /wiki/api/v2/attachments?status=current&limit=250",
        "GET /wiki/api/v2/spaces/10/permissions?limit=250",
        "GET /wiki/rest/api/group/by-id?id=staff",
        "GET /wiki/rest/api/content/1/restriction/byOperation/read?expand=restrictions.user%2Crestrictions.group&start=0&limit=100",
    ];
    assert_eq!(targets[..11], expected);
}

#[tokio::test]
async fn readers_are_in_all_restrictions_of_the_ancestors() {
    let pages = json!([
        page("1", "Top", Value::Null, "page"),
        page("2", "Middle", json!("1"), "page"),
        page("3", "Low", json!("2"), "page"),
    ]);
    let server = with_pages(pages, |id| match id {
        // Dan may not view the space.
        "1" => Some(restriction(
            &[user("ann"), user("dan"), user("cem")],
            &[group("legal")],
        )),
        "3" => Some(restriction(&[user("bob")], &[])),
        _ => None,
    });
    // Legal and staff have only Bob in common.
    let top = only(&["ann@example.com", "bob@example.com"], &[]);
    let low = only(&["bob@example.com"], &[]);
    assert_eq!(readers(&server, |_| ()).await, [top.clone(), top, low]);

    // Without the rights of the space.
    let top = only(&["ann@example.com", "dan@example.com"], &["group legal"]);
    let low = only(&["bob@example.com"], &[]);
    let found = readers(&server, |settings| settings.space_rights = false).await;
    assert_eq!(found, [top.clone(), top.clone(), low.clone()]);
    // The group of the space has everyone.
    let everyone = |settings: &mut ConfluenceSettings| {
        settings.everyone_groups = vec!["group staff".to_owned()]
    };
    assert_eq!(readers(&server, everyone).await, [top.clone(), top, low]);
    let everyone = |settings: &mut ConfluenceSettings| {
        settings.everyone_groups = vec!["group legal".to_owned()]
    };
    let staff = only(&[], &["group staff"]);
    let low = only(&["bob@example.com"], &[]);
    assert_eq!(
        readers(&server, everyone).await,
        [staff.clone(), staff, low]
    );
}

#[tokio::test]
async fn restrictions_of_many_pages_are_searched_at_once() {
    let pages = json!([
        page("1", "A", Value::Null, "page"),
        page("2", "B", Value::Null, "page"),
        page("3", "C", Value::Null, "page"),
        page("4", "D", Value::Null, "page")
    ]);
    let server = Server::start(move |asked| match asked.target() {
        target if target.starts_with("/wiki/api/v2/spaces/10/pages?") => list(pages.clone()),
        "/wiki/rest/api/content/search?cursor=2" => list(json!([
            { "id": "2", "type": "page", "restrictions": { "read": restriction(&[], &[group("staff")]) } },
            { "id": "3", "type": "page", "restrictions": {}, "_expandable": { "restrictions": "" } },
        ])),
        target if target.starts_with("/wiki/rest/api/content/search?cql=") => {
            // More than the first hundred are in the restriction.
            let mut long = restriction(&[user("ann")], &[]);
            long["restrictions"]["user"]["_links"] = json!({ "next": "/rest/api/x?start=100" });
            reply(
                &json!({ "results": [{ "id": "1", "restrictions": { "read": long } },
                { "id": "4", "restrictions": { "read": restriction(&[], &[]) } }],
                "start": 0, "limit": 100, "size": 2,
                "_links": { "next": "/rest/api/content/search?cursor=2", "context": "/wiki" } }),
            )
        }
        target if target.contains("/content/1/restriction/byOperation/read") => {
            let is_first = target.contains("start=0&");
            let mut page = restriction(&[user(if is_first { "ann" } else { "bob" })], &[]);
            page["restrictions"]["user"]["limit"] = json!(if is_first { 1 } else { 100 });
            reply(&page)
        }
        _ => usual(asked),
    });
    let staff = only(&[], &["group staff"]);
    let both = only(&["ann@example.com", "bob@example.com"], &[]);
    assert_eq!(
        readers(&server, |_| ()).await,
        [both, staff.clone(), staff.clone(), staff]
    );
    let targets = server.targets();
    let asked = |id: &str| {
        let path = format!("/content/{id}/restriction");
        targets
            .iter()
            .filter(|target| target.contains(&path))
            .count()
    };
    assert_eq!(
        [asked("1"), asked("2"), asked("3"), asked("4")],
        [2, 0, 1, 0]
    );
}

#[tokio::test]
async fn rights_that_are_not_known_are_nobodys() {
    // Of an ancestor, which is not listed itself.
    let pages = json!([
        page("1", "Top", json!("9"), "folder"),
        page("2", "Low", json!("1"), "page"),
        page("3", "Lost", json!("8"), "folder"),
        page("4", "Own", Value::Null, "page"),
        page("5", "Loop", json!("5"), "page"),
        page("6", "Open", Value::Null, "page"),
        page("7", "New", json!("1"), "hologram")
    ]);
    let server = Server::start(move |asked| match asked.path() {
        "/wiki/api/v2/spaces/10/pages" => list(pages.clone()),
        "/wiki/api/v2/folders/9" => {
            reply(&json!({ "id": "9", "title": "Secret", "parentId": null }))
        }
        "/wiki/rest/api/content/9/restriction/byOperation/read"
        | "/wiki/rest/api/content/4/restriction/byOperation/read" => status(403),
        _ => usual(asked),
    });
    let listing = source(settings(&server, ConfluenceEdition::Cloud))
        .list()
        .await
        .unwrap();
    let readers: Vec<_> = listing
        .items
        .iter()
        .map(|item| item.readers.clone())
        .collect();
    let nobody = only(&[], &[]);
    let mut expected = vec![nobody; 7];
    expected[5] = only(&[], &["group staff"]);
    // The parent of New is listed, whatever its kind.
    assert_eq!(readers, expected);
    let names: Vec<_> = listing.problems.iter().map(|part| &*part.name).collect();
    assert_eq!(names, ["Top", "Low", "Lost", "Own", "Loop", "New"]);

    // Of a space: reported once.
    for code in [403, 404, 500] {
        let server = Server::start(move |asked| match asked.path() {
            "/wiki/api/v2/spaces/10/permissions" => status(code),
            _ => usual(asked),
        });
        let listing = source(settings(&server, ConfluenceEdition::Cloud))
            .list()
            .await
            .unwrap();
        assert_eq!(listing.items[0].readers, only(&[], &[]));
        assert_eq!(listing.problems.len(), 1);
        assert_eq!(listing.problems[0].name, "Engineering");
    }

    // Of the members of a group.
    let server = Server::start(|asked| match asked.path() {
        "/wiki/rest/api/group/staff/membersByGroupId" => status(403),
        path if path.ends_with("/byOperation/read") => reply(&restriction(&[user("ann")], &[])),
        _ => usual(asked),
    });
    let listing = source(settings(&server, ConfluenceEdition::Cloud))
        .list()
        .await
        .unwrap();
    assert_eq!(listing.items[0].readers, only(&[], &[]));
    assert_eq!(listing.problems[0].name, "group staff");
    assert_eq!(listing.problems[0].problem, SourceProblem::Refused);
}

/// A site that is open to everyone ignores wrong credentials in some requests.
#[tokio::test]
async fn an_anonymous_listing_is_refused() {
    let server = Server::start(|asked| match asked.path() {
        "/wiki/rest/api/user/current" => {
            reply(&json!({ "type": "anonymous", "displayName": "Anonymous" }))
        }
        "/wiki/api/v2/spaces" => list(json!([])),
        _ => usual(asked),
    });
    let settings = settings(&server, ConfluenceEdition::Cloud);
    assert_eq!(source(settings).list().await, Err(SourceProblem::Refused));
}

/// The people in the restriction are hidden from the account.
#[tokio::test]
async fn hidden_people_do_not_open_a_page() {
    let mut hidden = restriction(&[], &[]);
    hidden["restrictions"]["user"]["size"] = json!(2);
    let pages = json!([page("1", "A", Value::Null, "page")]);
    let server = with_pages(pages, move |_| Some(hidden.clone()));
    assert_eq!(readers(&server, |_| ()).await, [only(&[], &[])]);
}

#[tokio::test]
async fn classes_and_roles_of_spaces() {
    let with = |rights: Value, is_open: bool| {
        Server::start(
            move |asked| match (asked.path(), asked.header("authorization")) {
                ("/wiki/api/v2/spaces/10/permissions", _) => list(rights.clone()),
                ("/wiki/api/v2/spaces/10", None) if is_open => reply(&json!({ "id": "10" })),
                ("/wiki/api/v2/spaces/10", None) => status(404),
                ("/wiki/api/v2/space-roles", _) => list(json!([
                    { "id": "viewer", "type": "SYSTEM", "name": "Viewer", "spacePermissions": ["read/space"] },
                    { "id": "none", "type": "CUSTOM", "name": "None", "spacePermissions": ["export/space"] },
                ])),
                ("/wiki/api/v2/spaces/10/role-assignments", _) => list(json!([
                    { "principal": { "principalType": "USER", "principalId": "ann" }, "roleId": "viewer" },
                    { "principal": { "principalType": "GROUP", "principalId": "legal" }, "roleId": "viewer" },
                    { "principal": { "principalType": "USER", "principalId": "bob" }, "roleId": "none" },
                    { "principal": { "principalType": "ACCESS_CLASS", "principalId": "jsm-project-admins" }, "roleId": "viewer" },
                ])),
                _ => usual(asked),
            },
        )
    };
    for (rights, is_open, expected) in [
        (
            json!([right("role", "authenticated-users")]),
            false,
            Readers::All,
        ),
        (
            json!([right("role", "anonymous-users")]),
            true,
            Readers::All,
        ),
        // The site is not open, whatever the space says.
        (
            json!([right("role", "anonymous-users")]),
            false,
            only(&[], &[]),
        ),
        (
            json!([right("user", "bob"), right("role", "other")]),
            true,
            only(&["bob@example.com"], &[]),
        ),
        (
            json!([]),
            true,
            only(&["ann@example.com"], &["group legal"]),
        ),
    ] {
        assert_eq!(readers(&with(rights, is_open), |_| ()).await, [expected]);
    }
}

#[tokio::test]
async fn chosen_spaces_that_are_missing_are_reported() {
    let server = Server::start(usual);
    let mut settings = settings(&server, ConfluenceEdition::Cloud);
    settings.spaces = vec!["eng".to_owned(), "HR".to_owned()];
    let listing = source(settings.clone()).list().await.unwrap();
    assert_eq!(listing.items.len(), 1);
    assert_eq!(listing.problems[0].problem, SourceProblem::NotFound);
    settings.spaces.remove(0);
    assert_eq!(source(settings).list().await, Err(SourceProblem::NotFound));

    let two = |code: u16| {
        Server::start(move |asked| match asked.path() {
            "/wiki/api/v2/spaces" => {
                list(json!([{ "id": "9", "key": "X" }, { "id": "10", "key": "ENG", "name": "E" }]))
            }
            "/wiki/api/v2/spaces/9/pages" => status(code).header("retry-after: 0"),
            _ => usual(asked),
        })
    };
    let listing = source(self::settings(&two(403), ConfluenceEdition::Cloud))
        .list()
        .await
        .unwrap();
    assert_eq!(listing.items.len(), 1);
    assert_eq!(listing.problems[0].name, "X");
    let limited = source(self::settings(&two(429), ConfluenceEdition::Cloud))
        .list()
        .await;
    assert_eq!(limited, Err(SourceProblem::Limited));
}

#[tokio::test]
async fn hostile_answers_are_refused() {
    let elsewhere = Server::start(|_| list(json!([])));
    let foreign = format!("{}/wiki/api/v2/spaces/10/pages?cursor=1", elsewhere.address);
    let count = AtomicUsize::new(0);
    for (results, next) in [
        (json!([]), json!(foreign)),
        (json!([]), json!("/wiki/api/v2/spaces/10/pages?cursor=1")),
        (json!([]), json!("endless")),
        (json!([]), json!(7)),
        (json!({}), Value::Null),
        (json!([{ "id": "1" }]), Value::Null),
        (
            json!([{ "id": "1", "version": { "number": "4" } }]),
            Value::Null,
        ),
    ] {
        let count = AtomicUsize::new(count.load(Ordering::Relaxed));
        let server = Server::start(move |asked| match asked.path() {
            "/wiki/api/v2/spaces/10/pages" => {
                let next = match next.as_str() {
                    Some("endless") => {
                        json!(format!("?cursor={}", count.fetch_add(1, Ordering::Relaxed)))
                    }
                    _ => next.clone(),
                };
                reply(&json!({ "results": results, "_links": { "next": next } }))
            }
            _ => usual(asked),
        });
        let listed = source(settings(&server, ConfluenceEdition::Cloud))
            .list()
            .await;
        assert!(
            matches!(listed, Err(SourceProblem::Malformed(_))),
            "{listed:?}"
        );
    }
    assert_eq!(elsewhere.requests().len(), 0);

    let many: Vec<_> = (0..10)
        .map(|id| page(&id.to_string(), "Same", Value::Null, "page"))
        .collect();
    let server = with_pages(json!(many), |_| None);
    let listed = source(settings(&server, ConfluenceEdition::Cloud))
        .list()
        .await;
    assert_eq!(listed, Err(SourceProblem::TooMany));
    let server = with_pages(
        json!([
            page("1", "..", Value::Null, "page"),
            page("2", "..", json!("1"), "page"),
            page("3", "..", json!("1"), "page")
        ]),
        |_| None,
    );
    let listing = source(settings(&server, ConfluenceEdition::Cloud))
        .list()
        .await
        .unwrap();
    let names: Vec<_> = listing.items.iter().map(|item| &*item.name).collect();
    assert_eq!(
        names,
        [
            "Engineering/untitled.html",
            "Engineering/untitled/untitled.html",
            "Engineering/untitled/untitled (2).html"
        ]
    );
}

fn dc_page(id: &str, title: &str, ancestors: Value, users: &[Value], groups: &[Value]) -> Value {
    json!({
        "id": id, "type": "page", "status": "current", "title": title, "ancestors": ancestors,
        "version": { "number": 3, "when": "2021-05-04T10:11:12.000+02:00", "minorEdit": false },
        "restrictions": { "read": restriction(users, groups), "_links": {}, "_expandable": { "update": "" } },
        "children": { "attachment": { "results": [], "start": 0, "limit": 25, "size": 0, "_links": { "self": "x" } } },
        "metadata": { "labels": { "results": [{ "prefix": "global", "name": format!("label-{id}"), "id": "1" }], "size": 1 } },
        "_links": { "webui": "/display/ENG/x", "self": "http://wiki/rest/api/content/1" }, "_expandable": {}
    })
}

fn dc_user(key: &str) -> Value {
    json!({ "type": "known", "username": format!("name-{key}"), "userKey": key, "displayName": key })
}

fn data_center(asked: &Asked) -> Reply {
    let attachment = json!({ "id": "att5", "type": "attachment", "title": "plan.pdf", "version": { "number": 2 },
        "extensions": { "mediaType": "application/pdf", "fileSize": 4 },
        "_links": { "webui": "/pages/viewpage.action?pageId=2", "download": "/download/attachments/2/plan%20a.pdf?api=v2" } });
    let path = asked
        .path()
        .strip_prefix("/confluence/rest/")
        .unwrap_or(asked.path());
    match path {
        "api/user/current" => reply(&dc_user("bot")),
        "api/space" => {
            list(json!([{ "id": 131083, "key": "ENG", "name": "Engineering", "type": "global" }]))
        }
        "api/content" if asked.target().contains("type=blogpost") => list(json!([])),
        "api/content" if asked.target().contains("start=100") => {
            let mut page = dc_page(
                "2",
                "Plan",
                json!([{ "id": "1", "title": "Home" }]),
                &[],
                &[json!({ "type": "group", "name": "legal" })],
            );
            page["children"]["attachment"] =
                json!({ "results": [attachment], "start": 0, "limit": 1, "size": 1 });
            list(json!([page]))
        }
        "api/content" => reply(&json!({
            "results": [dc_page("1", "Home", json!([]), &[dc_user("k1"), dc_user("k2"), dc_user("k3")], &[])],
            "start": 0, "limit": 100, "size": 1,
            "_links": { "next": "/rest/api/content?type=page&start=100", "base": "http://wiki/confluence", "context": "/confluence" }
        })),
        "api/content/2/child/attachment" => list(json!([attachment])),
        "api/content/att5" => reply(&attachment),
        "api/content/1" => reply(
            &json!({ "title": "Home", "body": { "storage": { "value": "<p>Hi</p>", "representation": "storage" } } }),
        ),
        "/confluence/download/attachments/2/plan%20a.pdf" => bytes(b"%PDF"),
        "api/space/ENG/permissions" => reply(&json!([
            { "operation": { "targetType": "space", "operationKey": "read" }, "subject": { "type": "group", "name": "users" }, "spaceKey": "ENG", "spaceId": 131083 },
            { "operation": { "targetType": "page", "operationKey": "read" }, "subject": { "type": "group", "name": "others" } },
            { "operation": { "targetType": "space", "operationKey": "read" }, "subject": { "type": "user", "userKey": "k2" } },
        ])),
        "api/space/ENG/permissions/anonymous" => reply(&json!([])),
        "api/group/users/member" => list(json!([dc_user("k1")])),
        "api/group/legal/member" => list(json!([dc_user("k2")])),
        "api/user" => match asked.target().rsplit('=').next().unwrap() {
            "k1" => reply(&json!({ "type": "known", "username": "name-k1", "userKey": "k1" })),
            _ => reply(&json!({ "type": "known", "username": "bob@example.com", "userKey": "k2" })),
        },
        "mobile/1.0/profile/name-k1" => {
            reply(&json!({ "userName": "name-k1", "email": "Ann@example.com" }))
        }
        _ => status(404),
    }
}

#[tokio::test]
async fn pages_of_data_center_are_listed_and_read() {
    let server = Server::start(data_center);
    let source = source(settings(&server, ConfluenceEdition::DataCenter));
    let listing = source.list().await.unwrap();
    assert_eq!(listing.problems, []);
    let items: Vec<_> = listing
        .items
        .iter()
        .map(|item| (&*item.id, &*item.name, &item.readers))
        .collect();
    let bob = only(&["bob@example.com"], &[]);
    let expected = [
        ("attachment/2/att5", "Engineering/Home/Plan/plan.pdf", &bob),
        (
            "page/1",
            "Engineering/Home.html",
            &only(&["ann@example.com", "bob@example.com"], &[]),
        ),
        ("page/2", "Engineering/Home/Plan.html", &bob),
    ];
    assert_eq!(items, expected);
    assert_eq!(listing.items[1].modified_ms, Some(1_620_115_872_000));
    assert_eq!(listing.items[1].metadata, labelled(&["label-1"]));
    assert_eq!(
        listing.items[1].url,
        Some(format!("{}/confluence/display/ENG/x", server.address))
    );
    assert_eq!(source.read(&listing.items[0]).await.unwrap(), "%PDF");
    assert!(
        source
            .read(&listing.items[1])
            .await
            .unwrap()
            .ends_with(b"<p>Hi</p>\n</body></html>\n")
    );
    assert_eq!(
        source.read(&listing.items[2]).await,
        Err(SourceProblem::Gone)
    );
    for asked in server.requests() {
        assert_eq!(asked.header("authorization"), Some("Bearer token"));
    }
    let expand = "version%2Cancestors%2Crestrictions.read.restrictions.user%2Crestrictions.read.restrictions.group%2C\
                  children.attachment.version%2Cmetadata.labels";
    let expected = [
        "GET /confluence/rest/api/user/current".to_owned(),
        "GET /confluence/rest/api/space?status=current&limit=100".to_owned(),
        format!(
            "GET /confluence/rest/api/content?spaceKey=ENG&type=page&status=current&expand={expand}&limit=100"
        ),
        "GET /confluence/rest/api/content?type=page&start=100".to_owned(),
        "GET /confluence/rest/api/content/2/child/attachment?expand=version&limit=100".to_owned(),
    ];
    assert_eq!(server.targets()[..5], expected);
}

#[tokio::test]
async fn anonymous_access_of_data_center_is_tried() {
    for (rights, is_open, expected) in [
        (
            json!([{ "operation": { "targetType": "space", "operationKey": "read" } }]),
            true,
            true,
        ),
        (
            json!([{ "operations": [{ "targetType": "space", "operationKey": "read" }] }]),
            true,
            true,
        ),
        (
            json!([{ "operation": { "targetType": "space", "operationKey": "read" } }]),
            false,
            false,
        ),
        (
            json!([{ "operation": { "targetType": "page", "operationKey": "read" } }]),
            true,
            false,
        ),
        (json!({ "operation": 1 }), true, false),
    ] {
        let server =
            Server::start(
                move |asked| match (asked.path(), asked.header("authorization")) {
                    ("/confluence/rest/api/space/ENG/permissions/anonymous", _) => reply(&rights),
                    ("/confluence/rest/api/space/ENG", None) if is_open => {
                        reply(&json!({ "key": "ENG" }))
                    }
                    ("/confluence/rest/api/space/ENG", None) => status(401),
                    ("/confluence/rest/api/content", _) if asked.target().contains("type=page") => {
                        list(json!([dc_page("1", "Home", json!([]), &[], &[])]))
                    }
                    _ => data_center(asked),
                },
            );
        let listing = source(settings(&server, ConfluenceEdition::DataCenter))
            .list()
            .await
            .unwrap();
        assert_eq!(listing.items[0].readers == Readers::All, expected);
    }
}

#[tokio::test]
async fn links_of_attachments_stay_on_the_server() {
    let elsewhere = Server::start(|_| bytes(b"x"));
    for link in [
        elsewhere.address.clone(),
        elsewhere.address.replace("http:", ""),
        String::new(),
    ] {
        let server = Server::start(move |asked| match asked.path() {
            "/confluence/rest/api/content/att5" => {
                reply(&json!({ "_links": { "download": link } }))
            }
            _ => data_center(asked),
        });
        let source = source(settings(&server, ConfluenceEdition::DataCenter));
        let listing = source.list().await.unwrap();
        let read = source.read(&listing.items[0]).await;
        assert!(matches!(read, Err(SourceProblem::Malformed(_))));
    }
    assert_eq!(elsewhere.requests().len(), 0);
}

#[test]
fn settings_are_validated() {
    let server = Server::start(usual);
    let check = |change: fn(&mut ConfluenceSettings), expected: Option<&str>| {
        let mut settings = settings(&server, ConfluenceEdition::Cloud);
        change(&mut settings);
        let settings = SourceSettings::Confluence(settings);
        let field = match Source::new(settings, "token", surroundings(1, 1)).err() {
            Some(SourceProblem::Settings { field, .. }) => Some(field),
            _ => None,
        };
        assert_eq!(field, expected);
    };
    check(|_| (), None);
    check(|settings| settings.email = None, Some("email"));
    check(
        |settings| settings.edition = ConfluenceEdition::DataCenter,
        Some("email"),
    );
    check(|settings| settings.url = "wiki".to_owned(), Some("url"));
    check(
        |settings| settings.api_url = Some("http://x.example".to_owned()),
        Some("api_url"),
    );
    check(
        |settings| settings.spaces = vec!["a\" or b".to_owned()],
        Some("spaces"),
    );
    let settings = SourceSettings::Confluence(self::settings(&server, ConfluenceEdition::Cloud));
    assert_eq!(
        Source::new(settings, "", surroundings(1, 1)).err(),
        Some(SourceProblem::Refused)
    );
}
