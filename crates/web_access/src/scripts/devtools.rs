//! The DevTools protocol over two pipes: JSON messages, each terminated by a zero byte.

use std::io;

use serde_json::{Value, json};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    process::{ChildStdin, ChildStdout},
};

/// Maximum size of a message, bytes: it may contain a whole page as one string.
const MESSAGE_BYTES: usize = 100_000_000;

/// The connection to a browser.
pub(super) struct DevTools {
    input: ChildStdin,
    output: ChildStdout,
    /// Received bytes that are not a complete message yet.
    pending: Vec<u8>,
    /// How many of them were already searched for the terminator.
    looked: usize,
    last: u64,
}

impl DevTools {
    pub(super) fn new(input: ChildStdin, output: ChildStdout) -> Self {
        Self {
            input,
            output,
            pending: Vec::new(),
            looked: 0,
            last: 0,
        }
    }

    /// Sends a command, to a page if `session` is not empty; returns its id, which the answer repeats.
    pub(super) async fn send(
        &mut self,
        session: &str,
        method: &str,
        parameters: Value,
    ) -> io::Result<u64> {
        self.last += 1;
        let mut message = json!({ "id": self.last, "method": method, "params": parameters });
        if !session.is_empty() {
            message["sessionId"] = session.into();
        }
        let mut bytes = message.to_string().into_bytes();
        bytes.push(0);
        self.input.write_all(&bytes).await?;
        Ok(self.last)
    }

    /// The next message. Cancel-safe.
    pub(super) async fn receive(&mut self) -> io::Result<Value> {
        loop {
            if let Some(place) = self.pending[self.looked..]
                .iter()
                .position(|byte| *byte == 0)
            {
                let end = self.looked + place;
                let message = serde_json::from_slice(&self.pending[..end]);
                self.pending.drain(..=end);
                self.looked = 0;
                return message.map_err(io::Error::other);
            }
            self.looked = self.pending.len();
            if self.looked > MESSAGE_BYTES {
                return Err(io::Error::other("a message is too large"));
            }
            if self.output.read_buf(&mut self.pending).await? == 0 {
                return Err(io::ErrorKind::UnexpectedEof.into());
            }
        }
    }

    /// Sends a command and waits for its answer; messages before it are dropped.
    pub(super) async fn call(
        &mut self,
        session: &str,
        method: &str,
        parameters: Value,
    ) -> io::Result<Value> {
        let id = self.send(session, method, parameters).await?;
        loop {
            let mut message = self.receive().await?;
            if message["id"] == id {
                let failed = message.get("error").map(Value::to_string);
                return failed.map_or_else(
                    || Ok(message["result"].take()),
                    |error| Err(io::Error::other(error)),
                );
            }
        }
    }
}
