//! Measures filters by metadata among 100,000 documents: `cargo run --release -p store --example metadata_filters`. With
//! `GLASSHOUSE_TEST_POSTGRES_URL` set it measures that database too, and removes what it wrote.
#![expect(clippy::print_stdout, reason = "printing is what it is for")]

use std::time::{Duration, Instant};

use domain::{CollectionId, UserId};
use sqlx::{AssertSqlSafe, Connection, Executor, PgConnection, SqliteConnection};
use store::{
    Bounds, Collection, DocumentFilter, FilterScope, MetadataCondition, MetadataTest, NewUser,
    Store, StoreError, UserRole, WantedRange, WantedValue,
};

const COLLECTIONS: u32 = 10;
const DOCUMENTS_IN_EACH: u32 = 10_000;
const ROUNDS: usize = 30;
/// Tags and metadata of a document, in SQL: name, kind, value, number. `n` is its number.
const VALUES: [(&str, &str, &str, &str); 7] = [
    ("tags", "text", "'tag ' || (n % 50)", "NULL"),
    ("tags", "text", "'all'", "NULL"),
    ("author", "text", "'author ' || (n % 500)", "NULL"),
    ("title", "text", "'the title of ' || n", "NULL"),
    ("department", "text", "'department ' || (n % 20)", "NULL"),
    ("year", "number", "'' || (1990 + n % 40)", "1990 + n % 40"),
    ("created", "date", "'day ' || n", "1.5e12 + n * 1e6"),
];

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let folder = std::env::temp_dir().join(format!("metadata_filters_{}", UserId::generate()));
    std::fs::create_dir(&folder)?;
    let url = format!("sqlite://{}/filters.db", folder.display());
    let measured = measure("SQLite", &url).await;
    std::fs::remove_dir_all(&folder)?;
    measured?;
    #[expect(
        clippy::disallowed_methods,
        reason = "a measuring tool without a configuration"
    )]
    if let Ok(url) = std::env::var("GLASSHOUSE_TEST_POSTGRES_URL") {
        measure("PostgreSQL", &url).await?;
    }
    Ok(())
}

async fn measure(name: &str, url: &str) -> Result<(), Box<dyn std::error::Error>> {
    let store = Store::open(url).await?;
    let owner = owner(&store).await?;
    let mut collections = Vec::new();
    for _ in 0..COLLECTIONS {
        collections.push(collection(&store, owner).await?);
    }
    let start = Instant::now();
    fill(url, &collections).await?;
    println!("{name}: filled in {:.1?}", start.elapsed());
    let text = |text: &str| WantedValue {
        text: text.to_owned(),
        ..WantedValue::default()
    };
    let field = |key: &str, test| DocumentFilter {
        metadata: vec![MetadataCondition::Field(key.to_owned(), test)],
        ..DocumentFilter::default()
    };
    let numbers = |from: f64, until: f64| Bounds {
        from: Some((from, false)),
        until: Some((until, true)),
    };
    let years = WantedRange {
        numbers: Some(numbers(2020.0, 2021.0)),
        dates: None,
    };
    let days = WantedRange {
        numbers: None,
        dates: Some(numbers(1.51e12, 1.512e12)),
    };
    let tag = |tag: &str| DocumentFilter {
        metadata: vec![MetadataCondition::Tag(vec![tag.to_owned()])],
        ..DocumentFilter::default()
    };
    for (what, filter) in [
        (
            "a type (as before)",
            DocumentFilter {
                endings: vec!["pdf".to_owned()],
                ..DocumentFilter::default()
            },
        ),
        ("a tag", tag("tag 7")),
        ("a tag of all", tag("all")),
        (
            "an author",
            field("author", MetadataTest::OneOf(vec![text("Author 77")])),
        ),
        (
            "a part of a title",
            field("title", MetadataTest::Contains("999".to_owned())),
        ),
        ("a year", field("year", MetadataTest::Range(years))),
        ("dates", field("created", MetadataTest::Range(days))),
    ] {
        let mut times = Vec::new();
        let mut found = 0;
        for _ in 0..ROUNDS {
            let start = Instant::now();
            let scope = FilterScope::Searchable;
            let documents = store.filtered_documents(owner, &collections, &filter, scope);
            found = documents.await?.len();
            times.push(start.elapsed());
        }
        print(name, &format!("{what}: {found} documents"), times);
    }
    for (what, collections) in [
        ("one collection", &collections[..1]),
        ("all", &collections[..]),
    ] {
        let mut times = Vec::new();
        for _ in 0..ROUNDS {
            let start = Instant::now();
            store.known_metadata(owner, collections, 200).await?;
            times.push(start.elapsed());
        }
        print(name, &format!("tags and keys of {what}"), times);
    }
    for collection in collections {
        store.delete_collection(owner, collection).await?;
    }
    store.close().await;
    Ok(())
}

fn print(name: &str, what: &str, mut times: Vec<Duration>) {
    times.sort_unstable();
    let [median, p99] = [50, 99].map(|percent| times[times.len() * percent / 100]);
    println!("{name}, {what}: median {median:.1?}, p99 {p99:.1?}");
}

async fn owner(store: &Store) -> Result<UserId, StoreError> {
    let user = NewUser {
        id: UserId::generate(),
        email: UserId::generate().to_string(),
        name: String::new(),
        role: UserRole::User,
        password_hash: String::new(),
        created_at: 0,
    };
    Ok(store.create_user(&user).await?.id)
}

async fn collection(store: &Store, owner: UserId) -> Result<CollectionId, StoreError> {
    let id = CollectionId::generate();
    let new = Collection {
        id,
        owner,
        name: "Documents".into(),
        description: String::new(),
        open: false,
        attached: false,
        version: 0,
        created_at: 1,
        updated_at: 1,
    };
    store.create_collection(&new, COLLECTIONS).await?;
    Ok(id)
}

/// Fills collections at once: one by one would take long.
async fn fill(url: &str, collections: &[CollectionId]) -> Result<(), sqlx::Error> {
    let is_postgres = url.starts_with("postgres");
    for (collection, number) in collections.iter().zip(1_u32..) {
        let first = number * DOCUMENTS_IN_EACH;
        let last = first + DOCUMENTS_IN_EACH - 1;
        let (numbers, id) = match is_postgres {
            true => (
                format!("generate_series({first}, {last}) AS numbers (n)"),
                "'doc_0192f0c1d2e37000a' || lpad(to_hex(n), 15, '0')",
            ),
            false => (
                format!(
                    "(WITH RECURSIVE numbers(n) AS (SELECT {first} UNION ALL SELECT n + 1 FROM numbers WHERE n < {last}) \
                     SELECT n FROM numbers)"
                ),
                "printf('doc_0192f0c1d2e37000a%015x', n)",
            ),
        };
        let mut all = vec![format!(
            "INSERT INTO documents (id, collection, name, size_bytes, state, problem, upload, claimed_until, version, chunks, \
             characters, created_at, updated_at) SELECT {id}, '{collection}', 'document ' || n || \
             CASE WHEN n % 3 = 0 THEN '.pdf' ELSE '.md' END, 1, 'ready', NULL, 1, 0, 1, 1, 1, 1, 1 FROM {numbers}"
        )];
        for (position, (name, kind, value, value_number)) in VALUES.iter().enumerate() {
            all.push(format!(
                "INSERT INTO document_metadata (document, collection, name, origin, position, kind, value, value_key, number, \
                 effective) SELECT {id}, '{collection}', '{name}', 0, {position}, '{kind}', {value}, {value}, {value_number}, \
                 TRUE FROM {numbers}"
            ));
        }
        for sql in all {
            let sql = AssertSqlSafe(sql);
            match is_postgres {
                true => {
                    let mut connection = PgConnection::connect(url).await?;
                    connection.execute(sql).await?;
                }
                false => {
                    let mut connection = SqliteConnection::connect(url).await?;
                    connection.execute(sql).await?;
                }
            }
        }
    }
    if is_postgres {
        let mut connection = PgConnection::connect(url).await?;
        connection
            .execute("VACUUM ANALYZE document_metadata")
            .await?;
        connection.execute("VACUUM ANALYZE documents").await?;
    }
    Ok(())
}
