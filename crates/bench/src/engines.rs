//! What several servers share: a database of its own, a bus, and a balancer before them.

use std::{
    net::SocketAddr,
    path::{Path, PathBuf},
    process::{Command, Stdio},
    time::Duration,
};

use anyhow::Context;
use sqlx::{AssertSqlSafe, Connection, Executor, PgConnection, Row};
use tokio::{
    net::{TcpListener, TcpStream},
    time::sleep,
};

use crate::{
    process::{Process, cpu_of_children, parent_of},
    program::new_folder,
};

/// The secret key of all servers of one database.
pub(crate) const SECRET_KEY: &str = "qZ8mJ0c1Yt3rVb7nKx5wEo2uHs6pLd9fGa4iRy0zTkM=";

/// What the servers need to share.
pub(crate) struct Engines<'a> {
    /// A PostgreSQL with the right to create databases.
    pub(crate) postgres: &'a str,
    /// The program of Redis or Valkey; `None` to measure without a bus only.
    pub(crate) redis: Option<&'a Path>,
    /// The program of HAProxy; `None` to measure without a balancer.
    pub(crate) haproxy: Option<&'a Path>,
}

/// An address that nothing listens on.
pub(crate) async fn free_address() -> anyhow::Result<SocketAddr> {
    let listener = TcpListener::bind("127.0.0.1:0").await?;
    Ok(listener.local_addr()?)
}

async fn until_it_listens(address: SocketAddr, program: &Path) -> anyhow::Result<()> {
    for _ in 0..200 {
        if TcpStream::connect(address).await.is_ok() {
            return Ok(());
        }
        sleep(Duration::from_millis(25)).await;
    }
    anyhow::bail!("{} did not start", program.display())
}

/// A private Redis, killed when it is dropped.
pub(crate) struct Redis {
    pub(crate) process: Process,
    pub(crate) url: String,
}

impl Redis {
    pub(crate) async fn start(program: &Path) -> anyhow::Result<Self> {
        let address = free_address().await?;
        let mut command = Command::new(program);
        command
            .args(["--bind", "127.0.0.1", "--save", "", "--port"])
            .arg(address.port().to_string())
            .stdout(Stdio::null());
        let process = Process::start(&mut command)?;
        until_it_listens(address, program).await?;
        Ok(Self {
            process,
            url: format!("redis://{address}"),
        })
    }
}

/// HAProxy before the servers, each in turn; killed when it is dropped.
pub(crate) struct Balancer {
    pub(crate) process: Process,
    pub(crate) address: SocketAddr,
    folder: PathBuf,
}

impl Balancer {
    pub(crate) async fn start(program: &Path, servers: &[SocketAddr]) -> anyhow::Result<Self> {
        let address = free_address().await?;
        let folder = new_folder("balancer");
        std::fs::create_dir_all(&folder)?;
        let server = |(number, address)| format!("    server s{number} {address}\n");
        let servers: String = servers.iter().enumerate().map(server).collect();
        let file = folder.join("haproxy.cfg");
        std::fs::write(
            &file,
            format!(
                "defaults\n    mode http\n    timeout connect 3s\n    timeout client 1h\n    timeout server 1h\n    \
                 option http-no-delay\n    option redispatch 1\n    retries 3\n    retry-on conn-failure 503\n\
                 frontend people\n    bind {address}\n    \
                 http-request disable-l7-retry unless {{ method GET HEAD }}\n    default_backend servers\n\
                 backend servers\n    balance roundrobin\n    option httpchk\n    \
                 http-check send meth GET uri /readyz ver HTTP/1.1 hdr Host localhost\n    \
                 http-check expect status 200\n    default-server check inter 500ms fall 2 rise 1\n{servers}"
            ),
        )?;
        let mut command = Command::new(program);
        command.arg("-db").arg("-f").arg(&file);
        command.stdout(Stdio::null()).stderr(Stdio::null());
        let process = Process::start(&mut command)?;
        until_it_listens(address, program).await?;
        Ok(Self {
            process,
            address,
            folder,
        })
    }
}

impl Drop for Balancer {
    fn drop(&mut self) {
        self.process.end();
        let _ = std::fs::remove_dir_all(&self.folder);
    }
}

/// A database of its own.
pub(crate) struct Database {
    name: String,
    pub(crate) url: String,
    pub(crate) connection: PgConnection,
    /// The main process of the database server, if it runs on this machine.
    main_process: Option<u32>,
}

/// What a database has done so far.
#[derive(Debug, Clone, Copy)]
pub(crate) struct DatabaseWork {
    /// Transactions, each of which is one statement of a reader or of the background.
    pub(crate) transactions: f64,
    /// Bytes of the write-ahead log, of all databases of the server.
    pub(crate) wal_bytes: f64,
    /// CPU seconds of the server; `None` if it runs elsewhere.
    pub(crate) cpu_s: Option<f64>,
}

impl Database {
    pub(crate) async fn create(server: &str) -> anyhow::Result<Self> {
        let name = format!("bench_{}", std::process::id());
        let mut connection = PgConnection::connect(server).await?;
        let sql = format!("DROP DATABASE IF EXISTS {name} WITH (FORCE)");
        connection.execute(AssertSqlSafe(sql)).await?;
        let sql = format!("CREATE DATABASE {name}");
        connection.execute(AssertSqlSafe(sql)).await?;
        let (before, _) = server
            .rsplit_once('/')
            .context("the URL names no database")?;
        let row = sqlx::query("SELECT pg_backend_pid()")
            .fetch_one(&mut connection)
            .await?;
        let backend = u32::try_from(row.get::<i32, _>(0)).ok();
        Ok(Self {
            url: format!("{before}/{name}"),
            name,
            connection,
            main_process: backend.and_then(parent_of),
        })
    }

    pub(crate) async fn work(&mut self) -> anyhow::Result<DatabaseWork> {
        let sql = "SELECT CAST(xact_commit AS FLOAT8), \
                   CAST(pg_wal_lsn_diff(pg_current_wal_lsn(), '0/0') AS FLOAT8) \
                   FROM pg_stat_database WHERE datname = $1";
        let row = sqlx::query(sql)
            .bind(&self.name)
            .fetch_one(&mut self.connection)
            .await?;
        Ok(DatabaseWork {
            transactions: row.get(0),
            wal_bytes: row.get(1),
            cpu_s: self.main_process.map(cpu_of_children),
        })
    }

    /// Transactions so far.
    pub(crate) async fn transactions(&mut self) -> anyhow::Result<f64> {
        Ok(self.work().await?.transactions)
    }

    pub(crate) async fn drop_it(mut self) -> anyhow::Result<()> {
        let sql = format!("DROP DATABASE IF EXISTS {} WITH (FORCE)", self.name);
        self.connection.execute(AssertSqlSafe(sql)).await?;
        Ok(())
    }
}
