//! `GET /api/v1/programs`: whether agents can run programs here, and with what.

use std::sync::Arc;

use axum::extract::State;
use domain::Words;
use serde::Serialize;

use crate::{
    gateway::Gateway,
    http::extract::Json,
    identity::{auth::Caller, groups::Right},
    tools::programs::ProgramsHere,
};

#[derive(Debug, Serialize)]
pub(super) struct ProgramsView {
    /// Whether they can; nothing while that is being found out.
    available: Option<bool>,
    /// Why not.
    problem: Option<Words>,
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
        .map(agent::Programs::found)
        .cloned();
    let problem = refused.or_else(|| programs.why_not().cloned());
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
