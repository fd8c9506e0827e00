//! Vectors that pgvector compares, in the PostgreSQL that has everything else.

use serde_json::json;
use server::platform::config::{Config, Environment, Flags};
use sqlx::{AssertSqlSafe, Connection, PgConnection, Row};

use crate::{
    faults::{postgres::Cluster, until},
    knowledge::KNOWLEDGE,
    meanings::{begin, names},
};

async fn points(url: &str) -> i64 {
    let mut connection = PgConnection::connect(url).await.unwrap();
    let sql = AssertSqlSafe("SELECT count(*) AS points FROM near_vectors".to_owned());
    sqlx::query(sql)
        .fetch_one(&mut connection)
        .await
        .map_or(0, |row| row.get("points"))
}

#[tokio::test]
async fn meanings_are_found_in_pgvector_and_leave_it_with_their_documents() {
    let Some(cluster) = Cluster::start().await else {
        return;
    };
    let url = cluster.url();
    let settings = [
        ("GLASSHOUSE_KNOWLEDGE_PGVECTOR", "true"),
        ("GLASSHOUSE_DATABASE_URL", url.as_str()),
    ];
    let (_helper, server, ada, work) = begin(&settings).await;
    let bob = server.key_of_plain_user("bob@example.org").await;
    server
        .read_file(&ada, &work, "a.txt", b"The walrus swims far.")
        .await;
    server
        .read_file(&ada, &work, "b.txt", b"Bread needs flour and time.")
        .await;
    until("both are copied", async || points(&url).await == 2).await;
    server.finds(&ada, "sea elephant", "a.txt").await;
    let answer = server.answer(&ada, "sea elephant").await;
    let scores = &answer["results"][0]["scores"];
    assert!(
        scores["meaning"].as_f64().unwrap() > 0.3 && scores["words"] == 0.0,
        "{scores}"
    );
    assert_eq!(
        server.answer(&bob, "sea elephant").await["results"],
        json!([])
    );
    let documents = server.documents(&ada, &work).await;
    let bread = documents.iter().find(|one| one["name"] == "b.txt").unwrap();
    let path = format!(
        "{KNOWLEDGE}/{work}/documents/{}",
        bread["id"].as_str().unwrap()
    );
    server.delete(&path, &ada).await.expect(204);
    until("one is gone", async || points(&url).await == 1).await;
    assert_eq!(names(&server.answer(&ada, "sea elephant").await), ["a.txt"]);
}

#[test]
fn pgvector_is_nothing_for_sqlite_or_beside_a_qdrant() {
    let set = [("PGVECTOR", "true"), ("QDRANT_URL", "")];
    let mut environment: Environment = set
        .into_iter()
        .map(|(name, value)| (format!("GLASSHOUSE_KNOWLEDGE_{name}"), value.to_owned()))
        .collect();
    let folder = std::env::temp_dir().display().to_string();
    environment.insert("GLASSHOUSE_DATA_DIR".to_owned(), folder);
    let refused = |environment: &Environment| {
        format!(
            "{:#}",
            Config::from_parts(&Flags::default(), environment).unwrap_err()
        )
    };
    let error = refused(&environment);
    assert!(
        error.contains("knowledge.pgvector is an extension of PostgreSQL"),
        "{error}"
    );
    environment.insert(
        "GLASSHOUSE_KNOWLEDGE_QDRANT_URL".to_owned(),
        "http://127.0.0.1:6333".to_owned(),
    );
    let error = refused(&environment);
    assert!(error.contains("one compares the vectors"), "{error}");
}
