//! A connection: handshake, chunked messages, queries and their rows.

use std::sync::Arc;

use rustls::{ClientConfig, crypto::ring, pki_types::ServerName};
use rustls_platform_verifier::BuilderVerifierExt;
use tokio::{
    io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt},
    net::TcpStream,
};
use tokio_rustls::TlsConnector;

use crate::{
    Access, Address, Fault, Row,
    pack::{Value, pack, unpack_message},
};

/// The client's handshake with the supported versions, best first: 5.4 and the four before it, 4.4, and two empty
/// slots.
const GREETING: [u8; 20] = [
    0x60, 0x60, 0xB0, 0x17, 0, 4, 4, 5, 0, 0, 4, 4, 0, 0, 0, 0, 0, 0, 0, 0,
];
const AGENT: &str = concat!("Glasshouse/", env!("CARGO_PKG_VERSION"));
/// Maximum size of the answer to one query, bytes.
const ANSWER_LIMIT_BYTES: usize = 64 << 20;
const CHUNK_BYTES: usize = u16::MAX as usize;

const HELLO: u8 = 0x01;
const LOGON: u8 = 0x6A;
const RUN: u8 = 0x10;
const PULL: u8 = 0x3F;
const SUCCESS: u8 = 0x70;
const RECORD: u8 = 0x71;
const IGNORED: u8 = 0x7E;
const FAILURE: u8 = 0x7F;

trait Stream: AsyncRead + AsyncWrite + Send + Unpin {}
impl<T: AsyncRead + AsyncWrite + Send + Unpin> Stream for T {}

/// An authenticated connection.
pub(crate) struct Connection {
    stream: Box<dyn Stream>,
    /// Number of further bytes accepted for the current answer.
    left_bytes: usize,
}

impl Connection {
    pub(crate) async fn open(address: &Address, access: &Access) -> Result<Self, Fault> {
        let tcp = TcpStream::connect((address.host.as_str(), address.port))
            .await
            .map_err(unreachable)?;
        // Queries are small, and each waits for its answer.
        tcp.set_nodelay(true).map_err(unreachable)?;
        let stream: Box<dyn Stream> = if address.encrypted {
            Box::new(encrypted(&address.host, tcp).await?)
        } else {
            Box::new(tcp)
        };
        let mut connection = Self {
            stream,
            left_bytes: ANSWER_LIMIT_BYTES,
        };
        let minor = connection.greet().await?;
        connection.log_in(access, minor).await?;
        Ok(connection)
    }

    /// Negotiates the version. Returns the minor number of version 5; `None` for 4.4.
    async fn greet(&mut self) -> Result<Option<u8>, Fault> {
        self.stream
            .write_all(&GREETING)
            .await
            .map_err(unreachable)?;
        let mut chosen = [0; 4];
        // A server with another protocol closes the connection, or answers with text.
        self.stream
            .read_exact(&mut chosen)
            .await
            .map_err(|_| Fault::NotBolt)?;
        match chosen {
            [0, 0, minor @ 0..=4, 5] => Ok(Some(minor)),
            [0, 0, 4, 4] => Ok(None),
            _ => Err(Fault::NotBolt),
        }
    }

    async fn log_in(
        &mut self,
        Access { user, password, .. }: &Access,
        minor: Option<u8>,
    ) -> Result<(), Fault> {
        let mut own = vec![("user_agent".to_owned(), Value::from(AGENT))];
        let mut proof = vec![(
            "scheme".to_owned(),
            Value::from(if user.is_empty() { "none" } else { "basic" }),
        )];
        if !user.is_empty() {
            proof.push(("principal".to_owned(), Value::from(user.as_str())));
            proof.push(("credentials".to_owned(), Value::from(password.as_str())));
        }
        if minor.is_some_and(|minor| minor >= 3) {
            own.push((
                "bolt_agent".to_owned(),
                Value::map([("product", Value::from(AGENT))]),
            ));
        }
        if minor.is_some_and(|minor| minor >= 1) {
            self.send(HELLO, &[Value::Map(own)]).await?;
            self.send(LOGON, &[Value::Map(proof)]).await?;
            self.flush().await?;
            self.succeed().await?;
        } else {
            own.extend(proof);
            self.send(HELLO, &[Value::Map(own)]).await?;
            self.flush().await?;
        }
        self.succeed().await
    }

    /// The rows of a query. A connection that failed cannot be used again.
    pub(crate) async fn run(
        &mut self,
        query: &str,
        parameters: &[(&str, Value)],
        database: &str,
    ) -> Result<Vec<Row>, Fault> {
        self.left_bytes = ANSWER_LIMIT_BYTES;
        let parameters = parameters
            .iter()
            .map(|(name, value)| ((*name).to_owned(), value.clone()))
            .collect();
        let mut more = Vec::new();
        if !database.is_empty() {
            more.push(("db".to_owned(), Value::from(database)));
        }
        self.send(
            RUN,
            &[Value::from(query), Value::Map(parameters), Value::Map(more)],
        )
        .await?;
        self.send(PULL, &[Value::map([("n", Value::Int(-1))])])
            .await?;
        self.flush().await?;
        self.succeed().await?;
        let mut rows = Vec::new();
        loop {
            match self.receive().await? {
                (RECORD, mut values) => match values.pop() {
                    Some(Value::List(row)) => rows.push(row),
                    _ => return Err(Fault::NotBolt),
                },
                (SUCCESS, _) => return Ok(rows),
                (kind, values) => return Err(failure(kind, &values)),
            }
        }
    }

    async fn succeed(&mut self) -> Result<(), Fault> {
        match self.receive().await? {
            (SUCCESS, _) => Ok(()),
            (kind, values) => Err(failure(kind, &values)),
        }
    }

    async fn send(&mut self, kind: u8, values: &[Value]) -> Result<(), Fault> {
        let fields = u8::try_from(values.len()).unwrap_or(u8::MAX);
        let mut message = vec![0xB0 | fields, kind];
        values.iter().for_each(|value| pack(value, &mut message));
        let mut chunked = Vec::with_capacity(message.len() + 8);
        for chunk in message.chunks(CHUNK_BYTES) {
            let length = u16::try_from(chunk.len()).unwrap_or(u16::MAX);
            chunked.extend(length.to_be_bytes());
            chunked.extend_from_slice(chunk);
        }
        chunked.extend([0, 0]);
        self.stream.write_all(&chunked).await.map_err(unreachable)
    }

    async fn flush(&mut self) -> Result<(), Fault> {
        self.stream.flush().await.map_err(unreachable)
    }

    /// The next message: its tag and its fields.
    async fn receive(&mut self) -> Result<(u8, Vec<Value>), Fault> {
        let mut message = Vec::new();
        loop {
            let length = usize::from(self.stream.read_u16().await.map_err(unreachable)?);
            // An empty chunk is a keep-alive before a message, and its end after it.
            if length == 0 && message.is_empty() {
                self.left_bytes = self.left_bytes.checked_sub(2).ok_or(Fault::TooLarge)?;
                continue;
            }
            if length == 0 {
                return unpack_message(&message).map_err(|_| Fault::NotBolt);
            }
            self.left_bytes = self.left_bytes.checked_sub(length).ok_or(Fault::TooLarge)?;
            let before = message.len();
            message.resize(before + length, 0);
            self.stream
                .read_exact(&mut message[before..])
                .await
                .map_err(unreachable)?;
        }
    }
}

fn failure(kind: u8, values: &[Value]) -> Fault {
    if kind != FAILURE {
        // Requests after a failure are ignored; the failure itself is reported first.
        return if kind == IGNORED {
            Fault::Unreachable
        } else {
            Fault::NotBolt
        };
    }
    let word = |name| {
        values
            .first()
            .and_then(|said| said.get(name))
            .and_then(Value::as_text)
            .unwrap_or_default()
    };
    let code: String = word("code")
        .chars()
        .filter(|letter| letter.is_ascii_graphic())
        .take(120)
        .collect();
    if code.starts_with("Neo.ClientError.Security.") {
        return Fault::NotLetIn;
    }
    Fault::Refused {
        code,
        message: word("message").chars().take(2_000).collect(),
    }
}

async fn encrypted(host: &str, tcp: TcpStream) -> Result<impl Stream + use<>, Fault> {
    let config = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()
        .and_then(BuilderVerifierExt::with_platform_verifier)
        .map_err(unreachable)?
        .with_no_client_auth();
    let name = ServerName::try_from(host.to_owned()).map_err(unreachable)?;
    TlsConnector::from(Arc::new(config))
        .connect(name, tcp)
        .await
        .map_err(unreachable)
}

/// Details of a connection failure are only logged.
fn unreachable(error: impl std::fmt::Display) -> Fault {
    tracing::debug!(%error, "graph database connection failed");
    Fault::Unreachable
}
