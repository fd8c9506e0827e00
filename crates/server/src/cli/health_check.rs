//! `glasshouse health`: checks whether the server on this machine is ready, so that container images and service units
//! need no other program for it.

use std::{
    net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr},
    sync::Arc,
    time::Duration,
};

use anyhow::{Context, bail};
use rustls::{
    ClientConfig, DigitallySignedStruct, SignatureScheme,
    client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier},
    crypto::{WebPkiSupportedAlgorithms, ring, verify_tls12_signature, verify_tls13_signature},
    pki_types::{CertificateDer, ServerName, UnixTime},
};
use tokio::{
    io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt},
    net::TcpStream,
};
use tokio_rustls::TlsConnector;

/// Timeout. Health checks run every few seconds, with a timeout of about as long.
const PATIENCE: Duration = Duration::from_secs(4);

/// Maximum number of bytes read of the response; the status line fits easily.
const ANSWER_BYTES: u64 = 1024;

/// Requests `/readyz` at the first address that the server listens on.
///
/// # Errors
/// A sentence if there is no answer within four seconds, or the status is not 200.
pub(crate) async fn ask(listen: &[SocketAddr], by_tls: bool) -> anyhow::Result<()> {
    let address = from_here(*listen.first().context("there is no address to ask at")?);
    let answer = tokio::time::timeout(PATIENCE, first_line(address, by_tls)).await;
    let answer = answer.map_err(|_| anyhow::anyhow!("{address} is silent"))?;
    let line = answer.with_context(|| format!("the server at {address} cannot be reached"))?;
    let status = line
        .strip_prefix("HTTP/1.1 ")
        .and_then(|rest| rest.split(' ').next());
    match status {
        Some("200") => Ok(()),
        Some(status) => bail!("the server at {address} is not ready: it answers {status}"),
        None => bail!("what answers at {address} does not speak HTTP"),
    }
}

/// The unspecified address can be listened on, but not connected to on every platform.
fn from_here(address: SocketAddr) -> SocketAddr {
    let ip = match address.ip() {
        IpAddr::V4(ip) if ip.is_unspecified() => Ipv4Addr::LOCALHOST.into(),
        IpAddr::V6(ip) if ip.is_unspecified() => Ipv6Addr::LOCALHOST.into(),
        ip => ip,
    };
    SocketAddr::new(ip, address.port())
}

async fn first_line(address: SocketAddr, by_tls: bool) -> std::io::Result<String> {
    let stream = TcpStream::connect(address).await?;
    if !by_tls {
        return first_line_of(stream, address).await;
    }
    let name = ServerName::IpAddress(address.ip().into());
    let stream = any_certificate()?.connect(name, stream).await?;
    first_line_of(stream, address).await
}

async fn first_line_of(
    mut stream: impl AsyncRead + AsyncWrite + Unpin,
    address: SocketAddr,
) -> std::io::Result<String> {
    let request = format!("GET /readyz HTTP/1.1\r\nhost: {address}\r\nconnection: close\r\n\r\n");
    stream.write_all(request.as_bytes()).await?;
    let mut answer = Vec::new();
    stream.take(ANSWER_BYTES).read_to_end(&mut answer).await?;
    let text = String::from_utf8_lossy(&answer);
    Ok(text.lines().next().unwrap_or_default().to_owned())
}

/// TLS that accepts whatever certificate there is: it is made for the name that people use, while this asks an address of
/// the machine itself, and sends nothing secret.
fn any_certificate() -> std::io::Result<TlsConnector> {
    let provider = ring::default_provider();
    let algorithms = provider.signature_verification_algorithms;
    let config = ClientConfig::builder_with_provider(Arc::new(provider))
        .with_safe_default_protocol_versions()
        .map_err(std::io::Error::other)?
        .dangerous()
        .with_custom_certificate_verifier(Arc::new(AnyCertificate(algorithms)))
        .with_no_client_auth();
    Ok(TlsConnector::from(Arc::new(config)))
}

#[derive(Debug)]
struct AnyCertificate(WebPkiSupportedAlgorithms);

impl ServerCertVerifier for AnyCertificate {
    fn verify_server_cert(
        &self,
        _: &CertificateDer<'_>,
        _: &[CertificateDer<'_>],
        _: &ServerName<'_>,
        _: &[u8],
        _: UnixTime,
    ) -> Result<ServerCertVerified, rustls::Error> {
        Ok(ServerCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        verify_tls12_signature(message, certificate, signed, &self.0)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        verify_tls13_signature(message, certificate, signed, &self.0)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.0.supported_schemes()
    }
}

#[cfg(test)]
mod tests {
    use tokio::net::TcpListener;

    use super::*;

    /// Checks a server that sends these bytes and closes the connection.
    async fn asked(words: &'static [u8]) -> Result<(), String> {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let answers = async {
            let (mut stream, _) = listener.accept().await.unwrap();
            let mut request = [0; 512];
            let length = stream.read(&mut request).await.unwrap();
            assert!(request[..length].starts_with(b"GET /readyz HTTP/1.1\r\n"));
            stream.write_all(words).await.unwrap();
        };
        let listen = [SocketAddr::new(
            Ipv4Addr::UNSPECIFIED.into(),
            address.port(),
        )];
        let (answer, ()) = tokio::join!(ask(&listen, false), answers);
        answer.map_err(|error| format!("{error:#}"))
    }

    #[tokio::test]
    async fn only_a_server_that_is_ready_is_healthy() {
        assert_eq!(
            asked(b"HTTP/1.1 200 OK\r\ncontent-length: 3\r\n\r\nok\n").await,
            Ok(())
        );
        let stopping = asked(b"HTTP/1.1 503 Service Unavailable\r\n\r\n")
            .await
            .unwrap_err();
        assert!(stopping.contains("answers 503"), "{stopping}");
        for other in [&b"SSH-2.0-x 200\r\n"[..], b"", b"\xff\xfe"] {
            assert!(
                asked(other)
                    .await
                    .unwrap_err()
                    .contains("does not speak HTTP")
            );
        }
    }

    #[tokio::test]
    async fn nobody_is_not_healthy() {
        let gone = TcpListener::bind("127.0.0.1:0")
            .await
            .unwrap()
            .local_addr()
            .unwrap();
        let error = format!("{:#}", ask(&[gone], false).await.unwrap_err());
        assert!(error.contains("cannot be reached"), "{error}");
        assert!(ask(&[], false).await.is_err());
    }

    #[test]
    fn all_addresses_are_asked_on_loopback() {
        for (listen, asked) in [
            ("0.0.0.0:80", "127.0.0.1:80"),
            ("[::]:80", "[::1]:80"),
            ("192.0.2.7:8000", "192.0.2.7:8000"),
            ("[::1]:9", "[::1]:9"),
        ] {
            assert_eq!(from_here(listen.parse().unwrap()), asked.parse().unwrap());
        }
    }
}
