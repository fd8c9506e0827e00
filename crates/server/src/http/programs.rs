//! `GET /api/v1/programs`: whether agents can run programs, and which languages and modules there are.

use std::sync::Arc;

use axum::extract::State;
use domain::LocalizedText;
use schemars::JsonSchema;
use serde::Serialize;

use crate::{
    gateway::Gateway,
    http::{extract::Json, openapi::Operations},
    identity::{auth::Caller, groups::Right},
    tools::programs::ProgramsHere,
};

/// Whether agents can run [programs](docs/tools/programs.md), and with what.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "Programs")]
pub(super) struct ProgramsView {
    /// `null` until the server knows.
    available: Option<bool>,
    /// Why they cannot.
    problem: Option<LocalizedText>,
    python_version: Option<String>,
    python_modules: Vec<String>,
    shell: bool,
    latex: Vec<String>,
}

pub(super) async fn get(
    State(gateway): State<Arc<Gateway>>,
    State(programs): State<Arc<ProgramsHere>>,
    caller: Caller,
) -> Json<ProgramsView> {
    let refused = gateway.permit_of(&caller).check(Right::Programs).err();
    let refused = refused.map(|refused| refused.problem().clone().words());
    let found = programs
        .here()
        .filter(|_| refused.is_none())
        .map(|programs| programs.found().clone());
    let problem = refused.or_else(|| programs.why_not());
    let available = problem
        .is_some()
        .then_some(false)
        .or(found.is_some().then_some(true));
    let sandbox::Programs {
        python_version,
        python_modules,
        shell,
        latex,
    } = found.unwrap_or_default();
    let python_version = Some(python_version).filter(|version| !version.is_empty());
    Json(ProgramsView {
        available,
        problem,
        python_version,
        python_modules,
        shell,
        latex,
    })
}

/// Describes the operations of this file.
pub(super) fn operations(api: &mut Operations) {
    api.handler(
        "GET /api/v1/programs",
        get,
        "Returns whether agents can run [programs](docs/tools/programs.md), and with what",
    );
}
