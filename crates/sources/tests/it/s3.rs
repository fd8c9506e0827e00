//! S3, as moto serves it, which checks signatures with the code of Amazon's own client.

use serde_json::{Value, json};
use sources::SourceProblem;

use crate::{server, source, text};

fn settings(server: &Value, prefix: &str) -> Value {
    json!({
        "kind": "s3",
        "endpoint": server["endpoint"],
        "region": "eu-central-1",
        "bucket": server["bucket"],
        "prefix": prefix,
        "access_key_id": server["access_key_id"],
    })
}

#[tokio::test]
async fn all_pages_are_listed() {
    let Some(server) = server("s3") else { return };
    let secret = text(&server["secret"]);
    let source = source(settings(&server, "many/"), secret).unwrap();
    let listing = source.list().await.unwrap();
    assert_eq!(listing.problems, []);
    let names: Vec<_> = listing.items.iter().map(|item| &*item.name).collect();
    let expected: Vec<_> = (0..1_105).map(|n| format!("{n:04}.txt")).collect();
    assert_eq!(names, expected);
    let last = &listing.items[1_104];
    assert_eq!(
        (&*last.id, &*last.version, last.size_bytes),
        // The MD5 of “same”.
        ("many/1104.txt", "51037a4a37730f52c8732586d3aaa316", Some(4))
    );
    assert_eq!(source.read(last).await.unwrap(), "same");
}

#[tokio::test]
async fn odd_keys_are_listed_and_read() {
    let Some(server) = server("s3") else { return };
    let secret = text(&server["secret"]);
    let source = source(settings(&server, "odd/"), secret).unwrap();
    let listing = source.list().await.unwrap();
    let mut ids: Vec<_> = listing.items.iter().map(|item| &*item.id).collect();
    let mut expected: Vec<_> = server["odd_keys"]
        .as_array()
        .unwrap()
        .iter()
        .map(text)
        .collect();
    ids.sort_unstable();
    expected.sort_unstable();
    assert_eq!(ids, expected);
    for item in &listing.items {
        assert_eq!(source.read(item).await.unwrap(), item.id, "{}", item.id);
    }
}

#[tokio::test]
async fn what_is_refused_or_missing_is_an_error() {
    let Some(server) = server("s3") else { return };
    let secret = text(&server["secret"]);
    let list = async |settings, secret: &str| source(settings, secret).unwrap().list().await;
    let mut wrong_id = settings(&server, "");
    wrong_id["access_key_id"] = "AKIAIOSFODNN7EXAMPLE".into();
    let mut missing = settings(&server, "");
    missing["bucket"] = "nothing".into();
    for (settings, secret, expected) in [
        (settings(&server, ""), "wrong", SourceProblem::Refused),
        (wrong_id, secret, SourceProblem::Refused),
        (missing, secret, SourceProblem::NotFound),
    ] {
        assert_eq!(list(settings, secret).await, Err(expected));
    }
    let source = source(settings(&server, "many/0001"), secret).unwrap();
    let mut item = source.list().await.unwrap().items.remove(0);
    item.id += "x";
    assert_eq!(source.read(&item).await, Err(SourceProblem::Gone));
}
