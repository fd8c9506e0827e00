//! Speaks with a graph database over Bolt, versions 4.4 and 5.0 to 5.4: Neo4j, Memgraph, ArcadeDB and others. One query at a
//! time and a transaction each; queries are sent once more where a connection has broken, so they must do the same when done
//! twice.

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

/// So many connections are kept for later.
const MAX_IDLE: usize = 4;

/// How to get in.
#[derive(Clone)]
pub struct Access {
    /// Empty where the database asks for nothing.
    pub user: String,
    /// Of the user.
    pub password: String,
    /// Which of the server's databases; the usual one where it is empty.
    pub database: String,
}

/// Why there is no answer.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Fault {
    /// Nobody is there, or not behind TLS.
    #[error("it cannot be reached")]
    Unreachable,
    /// It takes too long.
    #[error("it does not answer in time")]
    Slow,
    /// What is there speaks another language.
    #[error("what answers there does not speak Bolt 4.4 or 5")]
    NotBolt,
    /// It does not know us.
    #[error("it does not take the user name and the password")]
    NotLetIn,
    /// It does not do what it is asked for. Its words may name files of its machine.
    #[error("it refused a query ({code})")]
    Refused {
        /// In its words: `Neo.ClientError.Statement.SyntaxError`.
        code: String,
        /// In its words.
        message: String,
    },
    /// Its answer is larger than anybody asked for.
    #[error("its answer is too large")]
    TooLarge,
}

/// A graph database. Cheap to clone; clones share their connections.
#[derive(Clone)]
pub struct Client(Arc<Inner>);

struct Inner {
    address: Address,
    access: Access,
    idle: Mutex<Vec<Connection>>,
}

impl Client {
    /// Connects when there is something to ask.
    #[must_use]
    pub fn new(address: Address, access: Access) -> Self {
        Self(Arc::new(Inner {
            address,
            access,
            idle: Mutex::default(),
        }))
    }

    /// The rows of a query's answer, all of which must come within `time`.
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
        // One that was not used for a while may have been closed over there.
        let kept = self.idle().pop();
        if let Some(mut kept) = kept {
            match kept.run(query, parameters, &access.database).await {
                Err(Fault::Unreachable) => {}
                answer => return self.keep(kept, answer),
            }
            // Those beside it are most likely gone too.
            self.idle().clear();
        }
        let mut new = Connection::open(address, access).await?;
        let answer = new.run(query, parameters, &access.database).await;
        self.keep(new, answer)
    }

    /// After a failure a connection waits to be told so; a new one is as good.
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
