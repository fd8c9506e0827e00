//! A fresh database for each test, and the registration of a test on all of them.

use std::{
    env::current_exe,
    panic::resume_unwind,
    path::{Path, PathBuf},
    time::UNIX_EPOCH,
};

use domain::RunId;
use sqlx::{AssertSqlSafe, Connection, Executor, PgConnection};
use store::Store;
use tokio::task::LocalSet;

/// What the names of migrated databases to copy begin with.
const TEMPLATE_PREFIX: &str = "glasshouse_template_";

/// Registers tests (`async fn(Store)`) of this file on every database.
macro_rules! on_every_database {
    ($($test:ident),+ $(,)?) => {
        mod memory {
            $(#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
            async fn $test() {
                let store = store::Store::open("sqlite::memory:").await.unwrap();
                super::$test(store.clone()).await;
                store.close().await;
            })+
        }
        mod file {
            $(#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
            async fn $test() {
                crate::database::with_file(|url| crate::database::with_store(url, super::$test)).await;
            })+
        }
        mod postgres {
            $(#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
            async fn $test() {
                crate::database::with_migrated_postgres(|url| crate::database::with_store(url, super::$test)).await;
            })+
        }
    };
}

/// Registers tests (`async fn(String)`, the database's URL) of this file on the databases that outlive a
/// `Store`.
macro_rules! on_lasting_databases {
    ($($test:ident),+ $(,)?) => {
        mod lasting_file {
            $(#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
            async fn $test() {
                crate::database::with_file(super::$test).await;
            })+
        }
        mod lasting_postgres {
            $(#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
            async fn $test() {
                crate::database::with_postgres(super::$test).await;
            })+
        }
    };
}

/// Opens the database, runs the test and closes it.
pub(crate) async fn with_store<F: Future<Output = ()>>(url: String, test: impl FnOnce(Store) -> F) {
    let store = Store::open(&url).await.unwrap();
    test(store.clone()).await;
    store.close().await;
}

/// A new folder that is removed at the end, also after a failure.
pub(crate) struct Folder(PathBuf);

impl Folder {
    pub(crate) fn new() -> Self {
        let path = std::env::temp_dir().join(format!("glasshouse_store_{}", RunId::generate()));
        std::fs::create_dir(&path).unwrap();
        Self(path)
    }

    pub(crate) fn path(&self) -> &Path {
        &self.0
    }

    pub(crate) fn url(&self) -> String {
        format!("sqlite://{}/test.db", self.0.display())
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// Gives the test the URL of an SQLite file that does not exist yet.
pub(crate) async fn with_file<F: Future<Output = ()>>(test: impl FnOnce(String) -> F) {
    let folder = Folder::new();
    test(folder.url()).await;
}

/// Gives the test the URL of a new PostgreSQL database, where `GLASSHOUSE_TEST_POSTGRES_URL` names a server.
pub(crate) async fn with_postgres<F>(test: impl FnOnce(String) -> F)
where
    F: Future<Output = ()> + 'static,
{
    let Some(mut server) = Server::connect().await else {
        return;
    };
    let name = server.create("").await;
    server.run(name, test).await;
}

/// The same, with a database that is migrated: most of the time of a short test is spent on the migrations.
pub(crate) async fn with_migrated_postgres<F>(test: impl FnOnce(String) -> F)
where
    F: Future<Output = ()> + 'static,
{
    let Some(mut server) = Server::connect().await else {
        return;
    };
    let template = server.template().await;
    let name = server.create(&format!("TEMPLATE {template}")).await;
    server.run(name, test).await;
}

/// The PostgreSQL server of the tests.
struct Server {
    url: String,
    connection: PgConnection,
}

impl Server {
    #[expect(
        clippy::disallowed_methods,
        reason = "tests have no configuration file"
    )]
    async fn connect() -> Option<Self> {
        let Ok(url) = std::env::var("GLASSHOUSE_TEST_POSTGRES_URL") else {
            let required = std::env::var("GLASSHOUSE_TEST_REQUIRE").is_ok_and(|value| value == "1");
            assert!(
                !required,
                "GLASSHOUSE_TEST_POSTGRES_URL must name a PostgreSQL server"
            );
            println!("skipped: GLASSHOUSE_TEST_POSTGRES_URL is not set");
            return None;
        };
        let connection = PgConnection::connect(&url).await.unwrap();
        Some(Self { url, connection })
    }

    async fn execute(&mut self, sql: String) {
        self.connection.execute(AssertSqlSafe(sql)).await.unwrap();
    }

    async fn create(&mut self, options: &str) -> String {
        let name = format!("glasshouse_{}", RunId::generate());
        self.execute(format!("CREATE DATABASE {name} {options}"))
            .await;
        name
    }

    /// The name of a migrated database without connections. The first test of a build creates it, and the others wait.
    async fn template(&mut self) -> String {
        let build = current_exe().and_then(std::fs::metadata);
        let built = build.and_then(|build| build.modified()).unwrap();
        let built = built.duration_since(UNIX_EPOCH).unwrap().as_nanos();
        let template = format!("{TEMPLATE_PREFIX}{built}");
        let lock = format!("SELECT pg_advisory_lock(hashtext('{TEMPLATE_PREFIX}'))");
        self.execute(lock).await;
        let known = sqlx::query_scalar::<_, String>(AssertSqlSafe(format!(
            "SELECT datname FROM pg_database WHERE starts_with(datname, '{TEMPLATE_PREFIX}')"
        )));
        let known = known.fetch_all(&mut self.connection).await.unwrap();
        if !known.contains(&template) {
            for old in known {
                self.execute(format!("DROP DATABASE {old} WITH (FORCE)"))
                    .await;
            }
            let unfinished = self.create("").await;
            Store::migrate(&at_database(&self.url, &unfinished))
                .await
                .unwrap();
            self.execute(format!("ALTER DATABASE {unfinished} RENAME TO {template}"))
                .await;
        }
        let unlock = format!("SELECT pg_advisory_unlock(hashtext('{TEMPLATE_PREFIX}'))");
        self.execute(unlock).await;
        template
    }

    #[expect(
        clippy::disallowed_methods,
        reason = "tests have no configuration file"
    )]
    async fn run<F>(mut self, name: String, test: impl FnOnce(String) -> F)
    where
        F: Future<Output = ()> + 'static,
    {
        let mut url = at_database(&self.url, &name);
        // The same tests through a pooler, to which a migrated database belongs; `cargo xtask test --cluster` does that.
        if let Ok(pooler) = std::env::var("GLASSHOUSE_TEST_POOLER_URL") {
            Store::migrate(&url).await.unwrap();
            url = at_database(&pooler, &name);
        }
        // In a task of its own, so that the database is dropped after a failed assertion too.
        let tasks = LocalSet::new();
        let outcome = tasks.run_until(tasks.spawn_local(test(url))).await;
        self.execute(format!("DROP DATABASE {name} WITH (FORCE)"))
            .await;
        if let Err(failure) = outcome {
            resume_unwind(failure.into_panic());
        }
    }
}

/// The URL with another database.
fn at_database(url: &str, name: &str) -> String {
    let (server, rest) = url.rsplit_once('/').expect("the URL names a database");
    match rest.split_once('?') {
        Some((_, parameters)) => format!("{server}/{name}?{parameters}"),
        None => format!("{server}/{name}"),
    }
}
