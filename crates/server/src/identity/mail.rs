//! Mail to people, over the SMTP server of the settings.

mod texts;

use std::{error::Error, time::Duration};

use lettre::{
    AsyncSmtpTransport, AsyncTransport, Message, Tokio1Executor,
    message::{Mailbox, header::ContentType},
    transport::smtp::{
        authentication::Credentials,
        client::{Tls, TlsParameters},
    },
};

use crate::{
    error::ApiError,
    messages,
    platform::{
        config::{MailSecurity, MailSettings},
        live_config::LiveConfig,
    },
};

pub(crate) use texts::{MailLanguage, MailText};

/// How long sending a mail may take, with all commands and answers.
const TIMEOUT: Duration = Duration::from_secs(20);

/// Sends mail.
pub(crate) struct Mailer {
    pub(crate) config: LiveConfig,
}

impl Mailer {
    /// Whether a server is set.
    pub(crate) fn is_set(&self) -> bool {
        self.config.now().mail.is_some()
    }

    /// Sends a mail with the current settings.
    ///
    /// # Errors
    /// 409 if no server is set, 422 with the reason if the mail was not accepted.
    pub(crate) async fn send(&self, to: &str, text: MailText) -> Result<(), ApiError> {
        let config = self.config.now();
        let settings = config.mail.as_ref();
        let settings =
            settings.ok_or_else(|| ApiError::conflict(messages::Settings::MailServerMissing))?;
        send(settings, to, text).await
    }
}

/// Sends a mail with these settings.
///
/// # Errors
/// 422 with the reason if the mail was not accepted.
pub(crate) async fn send(
    settings: &MailSettings,
    to: &str,
    text: MailText,
) -> Result<(), ApiError> {
    let message = Message::builder()
        .from(settings.from.clone())
        .to(Mailbox::new(
            None,
            to.parse().map_err(|error| failed(&error))?,
        ))
        .subject(text.subject)
        .header(ContentType::TEXT_PLAIN)
        .body(text.body)
        .map_err(|error| failed(&error))?;
    let transport = transport(settings)?;
    match tokio::time::timeout(TIMEOUT, transport.send(message)).await {
        Ok(sent) => sent.map(|_| ()).map_err(|error| failed(&error)),
        Err(error) => Err(failed(&error)),
    }
}

fn transport(settings: &MailSettings) -> Result<AsyncSmtpTransport<Tokio1Executor>, ApiError> {
    let tls = || TlsParameters::new(settings.host.clone()).map_err(|error| failed(&error));
    let tls = match settings.security {
        MailSecurity::Starttls => Tls::Required(tls()?),
        MailSecurity::Tls => Tls::Wrapper(tls()?),
        MailSecurity::None => Tls::None,
    };
    let mut builder = AsyncSmtpTransport::<Tokio1Executor>::builder_dangerous(&settings.host)
        .port(settings.port)
        .tls(tls)
        .timeout(Some(TIMEOUT));
    if let Some((user, password)) = &settings.credentials {
        let credentials = Credentials::new(user.clone(), password.reveal().to_owned());
        builder = builder.credentials(credentials);
    }
    Ok(builder.build())
}

/// With all causes: the library's own text often names only the step that failed.
fn failed(error: &(dyn Error + 'static)) -> ApiError {
    let mut reason = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        // Some errors repeat their cause.
        let text = error.to_string();
        if !reason.contains(&text) {
            reason.push_str(": ");
            reason.push_str(&text);
        }
        cause = error.source();
    }
    ApiError::invalid(messages::Settings::MailFailed { reason })
        .with_status(axum::http::StatusCode::UNPROCESSABLE_ENTITY)
}
