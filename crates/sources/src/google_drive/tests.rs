//! Google Drive against a server that answers as the reference of version 3 says (`files`, `permissions`, errors), and
//! tokens as described in “Using OAuth 2.0 for Server to Server Applications”.

use base64::{
    Engine,
    prelude::{BASE64_STANDARD, BASE64_URL_SAFE_NO_PAD},
};
use ring::signature::{RSA_PKCS1_2048_8192_SHA256, RsaKeyPair, UnparsedPublicKey};
use serde_json::{Value, json};

use super::*;
use crate::{
    ItemMetadata, Readers, Source, SourceSettings,
    test_server::{Asked, Reply, Server, bytes, json as reply, status, surroundings},
};

/// Generated for tests; it gives access to nothing.
const PRIVATE_KEY: &str = include_str!("service_account.pem");

pub(super) fn settings(server: &Server) -> GoogleDriveSettings {
    GoogleDriveSettings {
        folder: "root-1".to_owned(),
        subject: None,
        rights: true,
        links_grant: false,
        api_url: Some(server.address.clone()),
        token_url: Some(format!("{}/token", server.address)),
    }
}

pub(super) fn secret() -> String {
    let secret = json!({ "client_id": "id", "client_secret": "s&", "refresh_token": "1//r", "type": "authorized_user" });
    secret.to_string()
}

pub(super) fn source(settings: GoogleDriveSettings) -> Source {
    Source::new(
        SourceSettings::GoogleDrive(settings),
        &secret(),
        surroundings(5, 20),
    )
    .unwrap()
}

pub(super) fn file(id: &str, name: &str, parent: &str) -> Value {
    json!({
        "id": id, "name": name, "mimeType": "text/plain", "size": "5", "md5Checksum": format!("md5-{id}"), "version": "7",
        "modifiedTime": "2024-01-02T00:00:00.000Z", "createdTime": "2024-01-01T00:00:00.000Z",
        "owners": [{ "displayName": "Ann", "me": false }], "lastModifyingUser": { "displayName": "Bob" }, "webViewLink": format!("https://drive.google.com/file/d/{id}/view"),
        "parents": [parent],
        "permissions": [{ "id": "1", "type": "user", "role": "owner", "emailAddress": "ann@example.com", "deleted": false }]
    })
}

pub(super) fn of_kind(id: &str, name: &str, parent: &str, kind: &str) -> Value {
    let mut file = file(id, name, parent);
    file["mimeType"] = json!(format!("application/vnd.google-apps.{kind}"));
    file.as_object_mut().unwrap().remove("md5Checksum");
    file
}

pub(super) fn usual(asked: &Asked) -> Reply {
    match asked.path() {
        "/token" => reply(
            &json!({ "access_token": "ya29.x", "expires_in": 3599, "token_type": "Bearer", "scope": "x" }),
        ),
        "/drive/v3/files/root-1" => {
            reply(&json!({ "id": "root-1", "mimeType": FOLDER, "trashed": false }))
        }
        _ => status(404),
    }
}

fn with_files(files: Value) -> Server {
    Server::start(move |asked| match asked.path() {
        "/drive/v3/files" => {
            reply(&json!({ "kind": "drive#fileList", "incompleteSearch": false, "files": files }))
        }
        _ => usual(asked),
    })
}

pub(super) fn ann() -> Readers {
    Readers::Only {
        people: vec!["ann@example.com".to_owned()],
        groups: Vec::new(),
        domains: Vec::new(),
    }
}

pub(super) fn names(listing: &Listing) -> Vec<&str> {
    listing.items.iter().map(|item| &*item.name).collect()
}

/// The values of a parameter in all searches.
fn searched(server: &Server, name: &str) -> Vec<String> {
    let requests = server.requests();
    let searches = requests
        .iter()
        .filter(|asked| asked.path() == "/drive/v3/files");
    let urls = searches.map(|asked| Url::parse(&format!("http://x{}", asked.target())).unwrap());
    let values = urls.map(|url| {
        let value = url.query_pairs().find(|(key, _)| key == name);
        value
            .map(|(_, value)| value.into_owned())
            .unwrap_or_default()
    });
    values.collect()
}

#[tokio::test]
async fn folders_are_walked_and_documents_read() {
    let server = Server::start(|asked| {
        let target = asked.target();
        let first = "%28%27root-1%27+in+parents%29";
        match asked.path() {
            "/drive/v3/files" if target.contains("pageToken=t%3D2") => reply(&json!({ "files": [
                of_kind("g1", "Report", "root-1", "document"), of_kind("g2", "Sums.XLSX", "root-1", "spreadsheet"),
                of_kind("s1", "Link", "root-1", "shortcut"), of_kind("s2", "Form", "root-1", "form"),
            ] })),
            "/drive/v3/files" if target.contains(first) => reply(&json!({ "nextPageToken": "t=2", "incompleteSearch": false,
                "files": [file("f1", "a.txt", "root-1"), of_kind("d1", "Sub/1", "root-1", "folder"), of_kind("d2", "2", "root-1", "folder")] })),
            "/drive/v3/files" if target.contains("%27d1%27+in+parents+or+%27d2%27+in+parents") => reply(&json!({
                "files": [file("f2", "a.txt", "d1"), file("f3", "a.txt", "d2"), of_kind("d1", "again", "d2", "folder")] })),
            "/drive/v3/files/f1" if target.contains("alt=media") => bytes(b"hello"),
            "/drive/v3/files/f1" | "/drive/v3/files/f2" => {
                reply(&json!({ "id": "f", "mimeType": "text/plain", "trashed": asked.path().ends_with("f2") }))
            }
            "/drive/v3/files/g1" | "/drive/v3/files/g2" => {
                reply(&json!({ "id": "g", "mimeType": "application/vnd.google-apps.document" }))
            }
            "/drive/v3/files/g1/export" => bytes(b"PK"),
            "/drive/v3/files/g2/export" => reply(&json!({ "error": { "code": 403, "message": "This file is too large to be exported.",
                "errors": [{ "domain": "global", "reason": "exportSizeLimitExceeded" }] } })).status(403),
            _ => usual(asked),
        }
    });
    let source = source(settings(&server));
    let listing = source.list().await.unwrap();
    assert_eq!(listing.problems, []);
    assert_eq!(
        names(&listing),
        [
            "a.txt",
            "Sub 1/a.txt",
            "2/a.txt",
            "Report.docx",
            "Sums.XLSX"
        ]
    );
    let expected = Item {
        id: "f1".to_owned(),
        name: "a.txt".to_owned(),
        version: "md5-f1".to_owned(),
        size_bytes: Some(5),
        modified_ms: Some(1_704_153_600_000),
        url: Some("https://drive.google.com/file/d/f1/view".to_owned()),
        readers: ann(),
        metadata: ItemMetadata {
            tags: Vec::new(),
            fields: [
                ("author", "Ann"),
                ("created", "2024-01-01T00:00:00.000Z"),
                ("modified by", "Bob"),
            ]
            .map(|(key, value)| (key.to_owned(), json!(value)))
            .into(),
        },
    };
    assert_eq!(listing.items[0], expected);
    assert_eq!(listing.items[3].version, "2024-01-02T00:00:00.000Z");
    assert_eq!(listing.items[3].size_bytes, None);

    assert_eq!(source.read(&listing.items[0]).await.unwrap(), "hello");
    assert_eq!(
        source.read(&listing.items[1]).await,
        Err(SourceProblem::Gone)
    );
    assert_eq!(
        source.read(&listing.items[2]).await,
        Err(SourceProblem::Gone)
    );
    assert_eq!(source.read(&listing.items[3]).await.unwrap(), "PK");
    assert_eq!(
        source.read(&listing.items[4]).await,
        Err(SourceProblem::TooLarge)
    );

    let requests = server.requests();
    let form = "grant_type=refresh_token&client_id=id&client_secret=s%26&refresh_token=1%2F%2Fr";
    assert_eq!(requests[0].body, form);
    for asked in &requests[1..] {
        assert_eq!(asked.header("authorization"), Some("Bearer ya29.x"));
    }
    let root = "('root-1' in parents) and trashed = false";
    let below = "('d1' in parents or 'd2' in parents) and trashed = false";
    assert_eq!(searched(&server, "q"), [root, root, below]);
    let fields = format!("nextPageToken,incompleteSearch,files({FIELDS})");
    let fields = &*fields;
    assert_eq!(searched(&server, "fields"), [fields; 3]);
    assert_eq!(searched(&server, "supportsAllDrives"), ["true"; 3]);
    assert_eq!(searched(&server, "includeItemsFromAllDrives"), ["true"; 3]);
    assert_eq!(searched(&server, "corpora"), [""; 3]);
    let targets = server.targets();
    let export = "GET /drive/v3/files/g1/export?mimeType=application%2Fvnd.openxmlformats-officedocument.\
                  wordprocessingml.document";
    for expected in [
        "GET /drive/v3/files/f1?alt=media&supportsAllDrives=true",
        export,
    ] {
        assert!(
            targets.iter().any(|target| target == expected),
            "{targets:?}"
        );
    }
}

#[tokio::test]
async fn permissions_of_shared_drives_are_requested() {
    let without = |id: &str| {
        let mut file = file(id, id, "root-1");
        file.as_object_mut().unwrap().remove("permissions");
        file
    };
    let files = json!([
        without("f1"),
        without("f2"),
        without("f3"),
        file("f4", "f4", "root-1")
    ]);
    let permission = |kind: &str, address: &str| json!({ "type": kind, "role": "reader", "emailAddress": address });
    let server = Server::start(move |asked| match asked.path() {
        "/drive/v3/files/root-1" => {
            reply(&json!({ "id": "root-1", "mimeType": FOLDER, "driveId": "0A" }))
        }
        "/drive/v3/files" => reply(&json!({ "files": files })),
        "/drive/v3/files/f1/permissions" if asked.target().contains("pageToken=2") => {
            reply(&json!({ "permissions": [permission("group", "team@example.com")] }))
        }
        "/drive/v3/files/f1/permissions" => reply(
            &json!({ "nextPageToken": "2", "permissions": [permission("user", "bob@example.com")] }),
        ),
        "/drive/v3/files/f2/permissions" => status(403),
        _ => usual(asked),
    });
    let listing = source(settings(&server)).list().await.unwrap();
    let readers = |people: &[&str], groups: &[&str]| Readers::Only {
        people: people.iter().map(|one| (*one).to_owned()).collect(),
        groups: groups.iter().map(|one| (*one).to_owned()).collect(),
        domains: Vec::new(),
    };
    let found: Vec<_> = listing
        .items
        .iter()
        .map(|item| item.readers.clone())
        .collect();
    let nobody = readers(&[], &[]);
    assert_eq!(
        found,
        [
            readers(&["bob@example.com"], &["team@example.com"]),
            nobody.clone(),
            nobody,
            ann()
        ]
    );
    let problems: Vec<_> = listing
        .problems
        .iter()
        .map(|part| (&*part.name, part.problem.clone()))
        .collect();
    assert_eq!(
        problems,
        [("f2", SourceProblem::Refused), ("f3", SourceProblem::Gone)]
    );
    assert_eq!(searched(&server, "corpora"), ["drive"]);
    assert_eq!(searched(&server, "driveId"), ["0A"]);

    let mut settings = settings(&server);
    settings.rights = false;
    let listing = source(settings).list().await.unwrap();
    assert!(
        listing
            .items
            .iter()
            .all(|item| item.readers == Readers::All)
    );
}

#[tokio::test]
async fn service_accounts_sign_for_a_person() {
    let server = with_files(json!([]));
    let secret = json!({ "type": "service_account", "private_key_id": "k1", "private_key": PRIVATE_KEY,
        "client_email": "sync@example.iam.gserviceaccount.com", "token_uri": TOKEN_URI });
    let mut settings = settings(&server);
    settings.subject = Some("ann@example.com".to_owned());
    let settings = SourceSettings::GoogleDrive(settings);
    let source = Source::new(settings, &secret.to_string(), surroundings(1, 1)).unwrap();
    assert_eq!(source.list().await, Ok(Listing::default()));

    let form = server.requests()[0].body.clone();
    let grant = "grant_type=urn%3Aietf%3Aparams%3Aoauth%3Agrant-type%3Ajwt-bearer&assertion=";
    let assertion = form.strip_prefix(grant).unwrap();
    let (signed, signature) = assertion.rsplit_once('.').unwrap();
    let pem: String = PRIVATE_KEY
        .lines()
        .filter(|line| !line.starts_with('-'))
        .collect();
    let key = RsaKeyPair::from_pkcs8(&BASE64_STANDARD.decode(pem).unwrap()).unwrap();
    let public = UnparsedPublicKey::new(&RSA_PKCS1_2048_8192_SHA256, key.public().as_ref());
    let decode = |part: &str| BASE64_URL_SAFE_NO_PAD.decode(part).unwrap();
    public
        .verify(signed.as_bytes(), &decode(signature))
        .unwrap();
    let (header, claims) = signed.split_once('.').unwrap();
    let header: Value = serde_json::from_slice(&decode(header)).unwrap();
    assert_eq!(header, json!({ "alg": "RS256", "typ": "JWT", "kid": "k1" }));
    let claims: Value = serde_json::from_slice(&decode(claims)).unwrap();
    let issued = claims["iat"].as_i64().unwrap();
    let expected = json!({ "iss": "sync@example.iam.gserviceaccount.com", "aud": TOKEN_URI, "sub": "ann@example.com",
        "scope": "https://www.googleapis.com/auth/drive.readonly", "iat": issued, "exp": issued + 3600 });
    assert_eq!(claims, expected);
}

const TOKEN_URI: &str = "https://oauth2.googleapis.com/token";

#[tokio::test]
async fn listings_that_may_lack_something_fail() {
    for (root, expected) in [
        (json!({ "mimeType": "text/plain" }), SourceProblem::NotFound),
        (
            json!({ "mimeType": FOLDER, "trashed": true }),
            SourceProblem::NotFound,
        ),
        (
            json!({ "mimeType": 1 }),
            malformed("invalid type: integer `1`, expected a string at line 1 column 13"),
        ),
    ] {
        let server = Server::start(move |asked| match asked.path() {
            "/drive/v3/files/root-1" => reply(&root),
            "/drive/v3/files" => reply(&json!({ "files": [] })),
            _ => usual(asked),
        });
        assert_eq!(source(settings(&server)).list().await, Err(expected));
    }
    for (page, expected) in [
        (
            json!({ "files": [], "incompleteSearch": true }),
            malformed("the search is incomplete"),
        ),
        (
            json!({ "files": [], "nextPageToken": "same" }),
            malformed("its pages do not end"),
        ),
    ] {
        let server = Server::start(move |asked| match asked.path() {
            "/drive/v3/files" => reply(&page),
            _ => usual(asked),
        });
        assert_eq!(source(settings(&server)).list().await, Err(expected));
    }
    for wrong in [
        json!({}),
        json!({ "files": [{ "name": "x" }] }),
        json!({ "files": [{ "id": "1", "mimeType": "x", "size": 5 }] }),
    ] {
        let server = Server::start(move |asked| match asked.path() {
            "/drive/v3/files" => reply(&wrong),
            _ => usual(asked),
        });
        let listed = source(settings(&server)).list().await;
        assert!(matches!(listed, Err(SourceProblem::Malformed(_))));
    }
    let many: Vec<_> = (0..6)
        .map(|at| file(&format!("f{at}"), "x", "root-1"))
        .collect();
    assert_eq!(
        source(settings(&with_files(json!(many)))).list().await,
        Err(SourceProblem::TooMany)
    );
    let server = with_files(json!([
        file("f1", "..", "root-1"),
        file("f2", "..", "root-1"),
        file("f3", "lost", "other")
    ]));
    let listing = source(settings(&server)).list().await.unwrap();
    assert_eq!(names(&listing), ["untitled", "untitled (2)"]);
    assert_eq!(listing.problems[0].name, "lost");
}

/// Each folder has another one.
#[tokio::test]
async fn the_depth_of_folders_is_bounded() {
    let server = Server::start(|asked| {
        if asked.path() != "/drive/v3/files" {
            return usual(asked);
        }
        let url = Url::parse(&format!("http://x{}", asked.target())).unwrap();
        let (_, q) = url.query_pairs().find(|(key, _)| key == "q").unwrap();
        let parent = q.split('\'').nth(1).unwrap();
        let count: usize = parent.rsplit('-').next().unwrap().parse().unwrap();
        reply(
            &json!({ "files": [of_kind(&format!("d-{}", count + 1), "deeper", parent, "folder")] }),
        )
    });
    let listing = source(settings(&server)).list().await.unwrap();
    assert_eq!(listing.items, []);
    assert_eq!(listing.problems.len(), 1);
    assert_eq!(searched(&server, "q").len(), MAX_DEPTH + 1);
}

#[test]
fn settings_and_secrets_are_validated() {
    let server = Server::start(usual);
    let new = |change: fn(&mut GoogleDriveSettings), secret: &str| {
        let mut settings = settings(&server);
        change(&mut settings);
        let source = Source::new(
            SourceSettings::GoogleDrive(settings),
            secret,
            surroundings(1, 1),
        );
        source.err()
    };
    let field = |change, secret: &str| match new(change, secret) {
        Some(SourceProblem::Settings { field, .. }) => field,
        other => panic!("{other:?}"),
    };
    assert_eq!(new(|_| (), &secret()), None);
    assert_eq!(
        field(|settings| settings.folder = String::new(), &secret()),
        "folder"
    );
    assert_eq!(
        field(
            |settings| settings.folder = "a' or 'b".to_owned(),
            &secret()
        ),
        "folder"
    );
    assert_eq!(
        field(
            |settings| settings.subject = Some("a@b.c".to_owned()),
            &secret()
        ),
        "subject"
    );
    assert_eq!(
        field(
            |settings| settings.api_url = Some("ftp://x".to_owned()),
            &secret()
        ),
        "api_url"
    );
    let wrong_key =
        json!({ "client_email": "a", "private_key": "-----BEGIN\nAAAA\n-----END" }).to_string();
    for secret in ["", "{}", "[]", "key", &wrong_key] {
        assert_eq!(
            new(|_| (), secret),
            Some(SourceProblem::Refused),
            "{secret}"
        );
    }
}

#[tokio::test]
async fn folders_that_are_deleted_meanwhile_are_reported() {
    let server = Server::start(|asked| {
        let has = |id: &str| asked.target().contains(&format!("%27{id}%27+in+parents"));
        match asked.path() {
            "/drive/v3/files" if has("d2") => status(404),
            "/drive/v3/files" if has("d1") => {
                reply(&json!({ "files": [file("f1", "a.txt", "d1")] }))
            }
            "/drive/v3/files" => reply(&json!({ "files": [
                of_kind("d1", "One", "root-1", "folder"), of_kind("d2", "Two", "root-1", "folder") ] })),
            _ => usual(asked),
        }
    });
    let listing = source(settings(&server)).list().await.unwrap();
    assert_eq!(names(&listing), ["One/a.txt"]);
    assert_eq!(listing.problems.len(), 1);
    assert_eq!(listing.problems[0].name, "Two");
    assert_eq!(listing.problems[0].problem, SourceProblem::Gone);
}
