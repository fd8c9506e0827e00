//! Extractors for handlers: client info, caller and viewer, and the request's audit log entry.

use axum::{extract::FromRequestParts, http::request::Parts};
use store::UserRole;

use crate::{
    chat::access::Viewer,
    error::ApiError,
    http::state::AppState,
    identity::{
        audit::Noted,
        auth::{Admin, Caller},
    },
    messages,
    platform::client_info::ClientInfo,
};

impl FromRequestParts<AppState> for ClientInfo {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, state: &AppState) -> Result<Self, ApiError> {
        Self::of(
            &state.app.config.now().trusted_proxies,
            &parts.extensions,
            &parts.headers,
        )
    }
}

impl FromRequestParts<AppState> for Viewer {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, state: &AppState) -> Result<Self, ApiError> {
        let caller = Caller::from_request_parts(parts, state).await?;
        let place = ClientInfo::from_request_parts(parts, state).await?;
        Ok(Self::new(caller, place))
    }
}

impl<S: Sync> FromRequestParts<S> for Noted {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, ApiError> {
        let noted = parts.extensions.get::<Self>().cloned();
        noted.ok_or_else(|| {
            ApiError::internal("a route without a name in the audit log has something to note")
        })
    }
}

impl<S: Sync> FromRequestParts<S> for Caller {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, ApiError> {
        let caller = parts.extensions.get::<Self>().cloned();
        caller.ok_or_else(|| ApiError::internal("a public route asks for its caller"))
    }
}

impl<S: Sync> FromRequestParts<S> for Admin {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, ApiError> {
        let caller = Caller::from_request_parts(parts, state).await?;
        match caller.user.role {
            UserRole::Admin => Ok(Self(caller)),
            UserRole::User => Err(ApiError::forbidden(messages::Requests::OnlyAdministrators)),
        }
    }
}
