//! A client's socket: holds its slot while it is open, also as a WebSocket, and is closed if the client does not read
//! what is written to it.

use std::{
    future::Future,
    io,
    pin::Pin,
    task::{Context, Poll, ready},
    time::Duration,
};

use tokio::{
    io::{AsyncRead, AsyncWrite, ReadBuf},
    net::TcpStream,
    time::{Sleep, sleep},
};

use super::connections::Slot;

/// How long a client may read nothing of what is written to it.
const STALL_LIMIT: Duration = Duration::from_secs(60);

/// The socket and its slot.
#[derive(Debug)]
pub(super) struct Socket<S = TcpStream> {
    stream: S,
    /// Runs while a write waits for the client.
    stalled: Option<Pin<Box<Sleep>>>,
    _slot: Slot,
}

impl<S> Socket<S> {
    pub(super) fn new(stream: S, slot: Slot) -> Self {
        Self {
            stream,
            stalled: None,
            _slot: slot,
        }
    }

    /// The result of a write, or an error if it has waited for too long.
    fn unless_stalled<T>(
        &mut self,
        written: Poll<io::Result<T>>,
        context: &mut Context<'_>,
    ) -> Poll<io::Result<T>> {
        if written.is_ready() {
            self.stalled = None;
            return written;
        }
        let stalled = self
            .stalled
            .get_or_insert_with(|| Box::pin(sleep(STALL_LIMIT)));
        ready!(stalled.as_mut().poll(context));
        Poll::Ready(Err(io::Error::new(
            io::ErrorKind::TimedOut,
            "the client does not read",
        )))
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for Socket<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_read(context, buffer)
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for Socket<S> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.stream).poll_write(context, bytes);
        self.unless_stalled(written, context)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        slices: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.stream).poll_write_vectored(context, slices);
        self.unless_stalled(written, context)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(context)
    }
}

#[cfg(test)]
mod tests {
    use tokio::{
        io::{AsyncReadExt, AsyncWriteExt, duplex},
        time::Instant,
    };

    use super::*;
    use crate::platform::{
        listen::connections::{ConnectionLimits, Connections},
        proxies::Proxies,
    };

    #[tokio::test(start_paused = true)]
    async fn a_client_that_reads_nothing_is_given_up_and_a_slow_one_is_not() {
        let limits = ConnectionLimits {
            total: 1,
            per_address: 1,
            proxies: Proxies::default(),
        };
        let slot = Connections::new(limits).admit([127, 0, 0, 1].into()).await;
        let (ours, mut client) = duplex(10);
        let mut socket = Socket::new(ours, slot);
        let slow = async move {
            for _ in 0..10 {
                sleep(STALL_LIMIT / 2).await;
                client.read_exact(&mut [0; 10]).await.unwrap();
            }
            client
        };
        let (written, _client) = tokio::join!(socket.write_all(&[0; 100]), slow);
        written.unwrap();
        let began = Instant::now();
        let stalled = socket.write_all(&[0; 100]).await.unwrap_err();
        assert_eq!(stalled.kind(), io::ErrorKind::TimedOut);
        assert_eq!(began.elapsed().as_secs(), STALL_LIMIT.as_secs());
    }
}
