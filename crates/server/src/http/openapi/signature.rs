//! Derives the request and response types of an operation from its handler's signature.

use axum::{
    Extension,
    extract::{Request, State},
    http::{HeaderMap, StatusCode, Uri},
    response::Response,
};
use schemars::JsonSchema;

use super::operations::Describe;
use crate::{
    chat::access::Viewer,
    http::extract::{Json, ModelJson, Path, Query, RawJson},
    identity::{
        audit::Noted,
        auth::{Admin, Caller},
    },
    platform::client_info::ClientInfo,
};

/// A handler with a describable signature; `M` is the tuple of its arguments' types.
pub(in crate::http) trait Signature<M> {
    /// Adds the query, the request body and the response.
    fn describe(&self, operation: &mut Describe<'_>);
}

/// An argument type of a handler.
pub(in crate::http) trait Argument {
    /// Adds the parts of the request that it reads, except the path.
    fn describe(_operation: &mut Describe<'_>) {}
}

/// A return type of a handler.
pub(in crate::http) trait Answer {
    /// Adds the response.
    fn describe(operation: &mut Describe<'_>);
}

macro_rules! signatures {
    ($($($argument:ident)*;)*) => {$(
        impl<F, O, A, $($argument),*> Signature<($($argument,)*)> for F
        where
            F: Fn($($argument),*) -> O,
            O: Future<Output = A>,
            A: Answer,
            $($argument: Argument,)*
        {
            fn describe(&self, operation: &mut Describe<'_>) {
                $($argument::describe(operation);)*
                A::describe(operation);
            }
        }
    )*};
}

signatures! {
    ;
    T1;
    T1 T2;
    T1 T2 T3;
    T1 T2 T3 T4;
    T1 T2 T3 T4 T5;
    T1 T2 T3 T4 T5 T6;
    T1 T2 T3 T4 T5 T6 T7;
    T1 T2 T3 T4 T5 T6 T7 T8;
    T1 T2 T3 T4 T5 T6 T7 T8 T9;
}

impl<T> Argument for State<T> {}
impl<T> Argument for Extension<T> {}
impl<T> Argument for Path<T> {}
impl Argument for Admin {}
impl Argument for Caller {}
impl Argument for HeaderMap {}
impl Argument for ModelJson {}
impl Argument for Noted {}
impl Argument for ClientInfo {}
impl Argument for RawJson {}
impl Argument for Request {}
impl Argument for Uri {}
impl Argument for Viewer {}

impl<T: JsonSchema> Argument for Query<T> {
    fn describe(operation: &mut Describe<'_>) {
        operation.query::<T>();
    }
}

impl<T: JsonSchema> Argument for Json<T> {
    fn describe(operation: &mut Describe<'_>) {
        operation.body::<T>();
    }
}

impl<T: JsonSchema> Answer for Json<T> {
    fn describe(operation: &mut Describe<'_>) {
        operation.answers::<T>(200);
    }
}

impl<T: Answer, E> Answer for Result<T, E> {
    fn describe(operation: &mut Describe<'_>) {
        T::describe(operation);
    }
}

/// Success without a body; other statuses are described manually.
impl Answer for StatusCode {
    fn describe(operation: &mut Describe<'_>) {
        operation.answers_nothing(204);
    }
}

/// Described manually.
impl Answer for Response {
    fn describe(_operation: &mut Describe<'_>) {}
}
