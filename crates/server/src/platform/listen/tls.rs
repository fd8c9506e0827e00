//! TLS of the listener itself, with a certificate and a key from files that are read again when they change.

use std::{
    fmt,
    path::{Path, PathBuf},
    sync::{Arc, Mutex, PoisonError, RwLock},
    time::Duration,
};

use anyhow::{Context, ensure};
use rustls::{
    ServerConfig,
    crypto::ring,
    pki_types::{CertificateDer, PrivateKeyDer, pem::PemObject},
    server::{ClientHello, ResolvesServerCert},
    sign::CertifiedKey,
};
use tokio::{
    io::{AsyncRead, AsyncWrite},
    time::Instant,
};
use tokio_rustls::{TlsAcceptor, server::TlsStream};

/// How often the files are read again, at most; they are read when a client connects.
const LOOK_EVERY: Duration = Duration::from_secs(10);

/// The names of protocols that clients choose from.
const HTTP2: &[u8] = b"h2";
const HTTP1: &[u8] = b"http/1.1";

/// The files of TLS, in PEM.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TlsFiles {
    /// The certificate, followed by those of the authorities between it and the root.
    pub certificate: PathBuf,
    /// Its private key.
    pub key: PathBuf,
}

/// Whether the client has chosen HTTP/2.
pub(super) fn is_http2<S>(stream: &TlsStream<S>) -> bool {
    stream.get_ref().1.alpn_protocol() == Some(HTTP2)
}

/// What the files hold.
#[derive(PartialEq, Eq)]
struct Contents {
    certificate: Vec<u8>,
    key: Vec<u8>,
}

/// TLS of all listeners. New connections use the newest certificate; open ones go on.
pub(crate) struct Tls {
    files: TlsFiles,
    acceptor: TlsAcceptor,
    current: Arc<Current>,
    last_look: Mutex<LastLook>,
}

/// The files as they were read last, whether they could be used or not.
struct LastLook {
    at: Instant,
    contents: Contents,
}

/// The certificate in use.
struct Current(RwLock<Arc<CertifiedKey>>);

impl Tls {
    /// Reads the files. Clients may choose HTTP/2 if it is `with_http2`.
    ///
    /// # Errors
    /// A sentence that names the file that cannot be used.
    pub(crate) fn open(files: TlsFiles, with_http2: bool) -> anyhow::Result<Self> {
        let contents = Contents::read(&files)?;
        let current = Arc::new(Current(RwLock::new(Arc::new(contents.certified(&files)?))));
        let config = ServerConfig::builder_with_provider(Arc::new(ring::default_provider()))
            .with_safe_default_protocol_versions()
            .context("TLS is not available")?
            .with_no_client_auth();
        let mut config = config.with_cert_resolver(current.clone());
        let known: &[&[u8]] = if with_http2 {
            &[HTTP2, HTTP1]
        } else {
            &[HTTP1]
        };
        config.alpn_protocols = known.iter().map(|name| name.to_vec()).collect();
        Ok(Self {
            files,
            acceptor: TlsAcceptor::from(Arc::new(config)),
            current,
            last_look: Mutex::new(LastLook {
                at: Instant::now(),
                contents,
            }),
        })
    }

    /// Shakes hands with a client.
    pub(super) async fn accept<S>(self: &Arc<Self>, stream: S) -> std::io::Result<TlsStream<S>>
    where
        S: AsyncRead + AsyncWrite + Unpin,
    {
        if self.is_due() {
            let tls = self.clone();
            // Files may be on a slow disk. If the thread fails, the certificate in use stays.
            let _ = tokio::task::spawn_blocking(move || tls.look()).await;
        }
        self.acceptor.accept(stream).await
    }

    /// Whether it is time to look, which only one caller is told.
    fn is_due(&self) -> bool {
        let mut last = self
            .last_look
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        let due = last.at.elapsed() >= LOOK_EVERY;
        if due {
            last.at = Instant::now();
        }
        due
    }

    /// Uses the files if they have changed and are valid. Those that are not are told once.
    fn look(&self) {
        let contents = match Contents::read(&self.files) {
            Ok(contents) => contents,
            Err(error) => {
                tracing::warn!("keeping the TLS certificate in use: {error:#}");
                return;
            }
        };
        let mut last = self
            .last_look
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        if last.contents == contents {
            return;
        }
        match contents.certified(&self.files) {
            Ok(certified) => {
                let mut current = self
                    .current
                    .0
                    .write()
                    .unwrap_or_else(PoisonError::into_inner);
                *current = Arc::new(certified);
                tracing::info!(certificate = %self.files.certificate.display(), "loaded the new TLS certificate");
            }
            Err(error) => tracing::error!("keeping the TLS certificate in use: {error:#}"),
        }
        last.contents = contents;
    }
}

impl Contents {
    fn read(files: &TlsFiles) -> anyhow::Result<Self> {
        let read = |path: &Path| {
            std::fs::read(path).with_context(|| format!("cannot read {}", path.display()))
        };
        Ok(Self {
            certificate: read(&files.certificate)?,
            key: read(&files.key)?,
        })
    }

    fn certified(&self, files: &TlsFiles) -> anyhow::Result<CertifiedKey> {
        let named = |path: &Path, fault: &str| format!("{} {fault}", path.display());
        let chain: Vec<_> = CertificateDer::pem_slice_iter(&self.certificate)
            .collect::<Result<_, _>>()
            .with_context(|| named(&files.certificate, "is no PEM file"))?;
        ensure!(
            !chain.is_empty(),
            named(&files.certificate, "has no certificate (BEGIN CERTIFICATE)")
        );
        let key = PrivateKeyDer::from_pem_slice(&self.key).with_context(|| {
            named(
                &files.key,
                "has no private key without a password (BEGIN PRIVATE KEY)",
            )
        })?;
        CertifiedKey::from_der(chain, key, &ring::default_provider()).with_context(|| {
            format!(
                "the key {} does not fit the certificate {}",
                files.key.display(),
                files.certificate.display()
            )
        })
    }
}

impl ResolvesServerCert for Current {
    fn resolve(&self, _: ClientHello<'_>) -> Option<Arc<CertifiedKey>> {
        Some(
            self.0
                .read()
                .unwrap_or_else(PoisonError::into_inner)
                .clone(),
        )
    }
}

impl fmt::Debug for Current {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("Current")
    }
}

impl fmt::Debug for Tls {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_tuple("Tls").field(&self.files).finish()
    }
}
