//! Git, as its own `git http-backend` serves it. The host has a name that only our lookup knows, so `git` reaches it only at
//! the address that was checked.

use std::io::ErrorKind;

use serde_json::{Value, json};
use sources::{Listing, SourceProblem};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpListener,
};

use crate::{server, source, text};

fn settings(server: &Value, path: &str, folder: &str) -> Value {
    let host = text(&server["url"]).replace("127.0.0.1", "gitlab.test");
    json!({ "kind": "git", "url": format!("{host}/{path}"), "folder": folder })
}

fn names(listing: &Listing) -> Vec<&str> {
    listing.items.iter().map(|item| &*item.name).collect()
}

#[tokio::test]
async fn files_of_a_folder_are_listed_and_read() {
    let Some(server) = server("git") else { return };
    // With filters, without them, and behind a redirect.
    for path in ["public/docs.git", "plain/docs.git", "moved/docs.git"] {
        let source = source(settings(&server, path, "docs"), "").unwrap();
        let listing = source.list().await.unwrap();
        assert_eq!(listing.problems, []);
        let mut expected: Vec<_> = (0..40).map(|n| format!("many/{n}.txt")).collect();
        let others = [
            "large.txt",
            "lfs.bin",
            "lfs-large.bin",
            "lfs-lost.bin",
            "lfs-other.bin",
            "Überblick 1.md",
        ];
        expected.extend(others.map(str::to_owned));
        expected.sort_unstable();
        assert_eq!(names(&listing), expected);
        for item in &listing.items {
            let read = source.read(item).await;
            let expected = match &*item.name {
                "large.txt" | "lfs-large.bin" => Err(SourceProblem::TooLarge),
                "lfs.bin" => Ok("stored elsewhere".into()),
                "lfs-lost.bin" => Err(SourceProblem::Gone),
                "lfs-other.bin" => {
                    let reason = "the content of Git LFS is another one".to_owned();
                    Err(SourceProblem::Malformed(reason))
                }
                "Überblick 1.md" => Ok("über".into()),
                name => {
                    let number = name.trim_start_matches("many/").trim_end_matches(".txt");
                    Ok(format!("text {number}").into())
                }
            };
            assert_eq!(read, expected, "{path} {}", item.name);
        }
        let item = listing.items.last().unwrap();
        // What `git hash-object` says about “über”.
        assert_eq!(item.version, "a76a75d1c6abedf5aab7752693fba992e4a9eaca");
        let url = item.url.as_deref().unwrap();
        let end = "/-/blob/trunk/docs/%C3%9Cberblick%201.md";
        assert!(url.ends_with(end), "{url}");
    }
}

#[tokio::test]
async fn a_document_can_be_read_without_a_listing() {
    let Some(server) = server("git") else { return };
    let open = || source(settings(&server, "public/docs.git", ""), "").unwrap();
    let listing = open().list().await.unwrap();
    let mut item = listing.items[0].clone();
    assert_eq!(item.name, "README.md");
    let source = open();
    assert_eq!(source.read(&item).await.unwrap(), "# Read me");
    item.id = "docs".to_owned();
    assert_eq!(source.read(&item).await, Err(SourceProblem::Gone));
}

#[tokio::test]
async fn branches_and_tags_are_found() {
    let Some(server) = server("git") else { return };
    for (branch, expected) in [
        ("feature/x", Ok(true)),
        ("trunk", Ok(false)),
        ("v1", Ok(false)),
        ("x", Err(SourceProblem::NotFound)),
        ("HEAD", Err(SourceProblem::NotFound)),
    ] {
        let mut settings = settings(&server, "public/docs.git", "docs");
        settings["branch"] = branch.into();
        let listing = source(settings, "").unwrap().list().await;
        let has = listing.map(|listing| names(&listing).contains(&"feature.md"));
        assert_eq!(has, expected, "{branch}");
    }
}

#[tokio::test]
async fn what_is_refused_or_missing_is_an_error() {
    let Some(server) = server("git") else { return };
    let token = text(&server["secret"]);
    let list = async |path: &str, folder: &str, secret: &str| {
        let mut settings = settings(&server, path, folder);
        if !secret.is_empty() {
            // Secrets are not sent in the clear to hosts that are not listed.
            let refused = source(settings.clone(), secret).err();
            assert!(matches!(
                refused,
                Some(SourceProblem::Settings { field: "url", .. })
            ));
            settings["url"] = json!(format!("{}/{path}", text(&server["url"])));
        }
        let source = source(settings, secret).unwrap();
        source.list().await.map(|listing| listing.items.len())
    };
    for (path, folder, secret, expected) in [
        ("private/docs.git", "docs/many", token, Ok(40)),
        ("private/docs.git", "docs", "", Err(SourceProblem::Refused)),
        (
            "private/docs.git",
            "docs",
            "no",
            Err(SourceProblem::Refused),
        ),
        ("public/no.git", "", "", Err(SourceProblem::NotFound)),
        ("public/docs.git", "no", "", Err(SourceProblem::NotFound)),
        (
            "public/docs.git",
            "README.md",
            "",
            Err(SourceProblem::NotFound),
        ),
    ] {
        assert_eq!(
            list(path, folder, secret).await,
            expected,
            "{path} {folder}"
        );
    }
    // Git itself follows no redirect, since nobody would check its target.
    let trap = list("trap/docs.git", "", "").await;
    assert!(
        matches!(&trap, Err(SourceProblem::Malformed(_))),
        "{trap:?}"
    );
    let other = text(&crate::server("web_dav").unwrap()["url"]).to_owned();
    let other = source(json!({ "kind": "git", "url": other }), "").unwrap();
    assert_eq!(other.list().await, Err(SourceProblem::Refused));
}

#[tokio::test]
async fn git_ends_when_its_listing_is_given_up() {
    if server("git").is_none() {
        return;
    }
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = listener.local_addr().unwrap().port();
    let settings = json!({ "kind": "git", "url": format!("http://git.test:{port}/r") });
    let source = source(settings, "").unwrap();
    let mut listing = Box::pin(source.list());
    let serving = async {
        let (mut ours, _) = listener.accept().await.unwrap();
        let mut request = Vec::new();
        while !request.ends_with(b"\r\n\r\n") {
            request.push(ours.read_u8().await.unwrap());
        }
        let answer = "HTTP/1.1 200 OK\r\nContent-Length: 0\r\nConnection: close\r\n\
                      Content-Type: application/x-git-upload-pack-advertisement\r\n\r\n";
        ours.write_all(answer.as_bytes()).await.unwrap();
        listener.accept().await.unwrap().0
    };
    let mut git = tokio::select! {
        listed = &mut listing => panic!("{listed:?}"),
        git = serving => git,
    };
    drop(listing);
    // It waits for an answer, so its connection ends only with it.
    let ended = git.read_to_end(&mut Vec::new()).await;
    assert!(ended.is_ok() || ended.is_err_and(|error| error.kind() == ErrorKind::ConnectionReset));
}
