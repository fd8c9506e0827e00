//! One line of the route table: a path with a method, its access, and its handler.

use axum::{
    handler::Handler,
    http::Method,
    routing::{MethodFilter, MethodRouter, on},
};

use crate::{http::state::AppState, identity::auth::Access};

/// One path with one method.
pub struct Route {
    /// The method.
    pub method: Method,
    /// The path; `{…}` stands for one segment.
    pub path: &'static str,
    /// Who may call it.
    pub access: Access,
    /// The action in the audit log, if its use is audited.
    pub noted: Option<&'static str>,
    pub(super) handler: MethodRouter<AppState>,
}

impl Route {
    /// The same route, audited with this action.
    pub(super) fn noted(self, action: &'static str) -> Self {
        Self {
            noted: Some(action),
            ..self
        }
    }
}

pub(super) fn get<H: Handler<T, AppState>, T: 'static>(
    access: Access,
    path: &'static str,
    handler: H,
) -> Route {
    Route {
        method: Method::GET,
        path,
        access,
        noted: None,
        handler: on(MethodFilter::GET, handler),
    }
}

pub(super) fn post<H: Handler<T, AppState>, T: 'static>(
    access: Access,
    path: &'static str,
    handler: H,
) -> Route {
    Route {
        method: Method::POST,
        path,
        access,
        noted: None,
        handler: on(MethodFilter::POST, handler),
    }
}

pub(super) fn put<H: Handler<T, AppState>, T: 'static>(
    access: Access,
    path: &'static str,
    handler: H,
) -> Route {
    Route {
        method: Method::PUT,
        path,
        access,
        noted: None,
        handler: on(MethodFilter::PUT, handler),
    }
}

pub(super) fn patch<H: Handler<T, AppState>, T: 'static>(
    access: Access,
    path: &'static str,
    handler: H,
) -> Route {
    Route {
        method: Method::PATCH,
        path,
        access,
        noted: None,
        handler: on(MethodFilter::PATCH, handler),
    }
}

pub(super) fn delete<H: Handler<T, AppState>, T: 'static>(
    access: Access,
    path: &'static str,
    handler: H,
) -> Route {
    Route {
        method: Method::DELETE,
        path,
        access,
        noted: None,
        handler: on(MethodFilter::DELETE, handler),
    }
}
