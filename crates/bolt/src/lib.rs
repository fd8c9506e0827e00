//! A client for graph databases over Bolt 4.4 and 5.0 to 5.4: Neo4j, Memgraph, ArcadeDB and others. One query at a
//! time, each in its own transaction. Queries are retried if a connection has broken, so they must be idempotent.

mod address;
mod connection;
mod pack;

use std::{
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use connection::Connection;

pub use address::{Address, NoAddress};
pub use pack::Value;

/// The columns of a row.
pub type Row = Vec<Value>;

/// Maximum number of idle connections.
const MAX_IDLE: usize = 4;

/// Credentials and database.
#[derive(Clone)]
pub struct Access {
    /// Empty if the database requires no authentication.
    pub user: String,
    /// The user's password.
    pub password: String,
    /// The database name; empty for the default database.
    pub database: String,
}

/// Why a query failed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Fault {
    /// The server cannot be reached, or does not use TLS.
    #[error("it cannot be reached")]
    Unreachable,
    /// It timed out.
    #[error("it does not answer in time")]
    Slow,
    /// The server speaks another protocol.
    #[error("what answers there does not speak Bolt 4.4 or 5")]
    NotBolt,
    /// Authentication failed.
    #[error("it does not take the user name and the password")]
    NotLetIn,
    /// The query was refused. The message may contain file names of the server.
    #[error("it refused a query ({code})")]
    Refused {
        /// The server's error code, such as `Neo.ClientError.Statement.SyntaxError`.
        code: String,
        /// The server's message.
        message: String,
    },
    /// The answer exceeds the size limit.
    #[error("its answer is too large")]
    TooLarge,
}

/// A client for a graph database. Cheap to clone; clones share their connections.
#[derive(Clone)]
pub struct Client(Arc<Inner>);

struct Inner {
    address: Address,
    access: Access,
    idle: Mutex<Vec<Connection>>,
}

impl Client {
    /// Connects on the first query.
    #[must_use]
    pub fn new(address: Address, access: Access) -> Self {
        Self(Arc::new(Inner {
            address,
            access,
            idle: Mutex::default(),
        }))
    }

    /// The rows of a query's answer, which must all arrive within `time`.
    ///
    /// # Errors
    /// Any [`Fault`].
    pub async fn run(
        &self,
        query: &str,
        parameters: &[(&str, Value)],
        time: Duration,
    ) -> Result<Vec<Row>, Fault> {
        tokio::time::timeout(time, self.ask(query, parameters))
            .await
            .unwrap_or(Err(Fault::Slow))
    }

    async fn ask(&self, query: &str, parameters: &[(&str, Value)]) -> Result<Vec<Row>, Fault> {
        let Inner {
            address, access, ..
        } = &*self.0;
        // The server may have closed a connection that was idle.
        let kept = self.idle().pop();
        if let Some(mut kept) = kept {
            match kept.run(query, parameters, &access.database).await {
                Err(Fault::Unreachable) => {}
                answer => return self.keep(kept, answer),
            }
            // The other idle connections have most likely been closed too.
            self.idle().clear();
        }
        let mut new = Connection::open(address, access).await?;
        let answer = new.run(query, parameters, &access.database).await;
        self.keep(new, answer)
    }

    /// After a failure a connection needs a reset; a new one is simpler.
    fn keep(
        &self,
        connection: Connection,
        answer: Result<Vec<Row>, Fault>,
    ) -> Result<Vec<Row>, Fault> {
        if answer.is_ok() {
            let mut idle = self.idle();
            if idle.len() < MAX_IDLE {
                idle.push(connection);
            }
        }
        answer
    }

    fn idle(&self) -> std::sync::MutexGuard<'_, Vec<Connection>> {
        self.0.idle.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
