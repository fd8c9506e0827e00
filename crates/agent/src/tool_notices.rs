//! Notices, once per run, about tools that a model's server does not accept unchanged.

use std::{
    collections::HashSet,
    sync::{Mutex, PoisonError},
};

use domain::event::NoticeLevel;
use llm::{ToolLoss, ToolMode, ToolSpec};

use crate::{messages, models::OneModel, turns::AgentContext};

/// Maximum number of tools named in one notice.
const MAX_NAMED: usize = 50;

/// The tools for which this run has emitted a notice.
#[derive(Debug, Default)]
pub(crate) struct NotifiedTools(Mutex<HashSet<String>>);

impl NotifiedTools {
    /// Records a notice. Returns whether it is the first one for `what`.
    pub(crate) fn note(&self, what: &str) -> bool {
        let mut notified = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        !notified.contains(what) && notified.insert(what.to_owned())
    }
}

/// Notifies people of the parts of these tools that are left out for the model.
pub(crate) async fn notify_losses(agent: &AgentContext, model: &OneModel, tools: &[ToolSpec]) {
    if model.settings().tool_mode != ToolMode::Native {
        return;
    }
    let loss = |tool: &ToolSpec| {
        model
            .model()
            .loss(tool)
            .map(|loss| (tool.name.clone(), loss))
    };
    let losses: Vec<(String, ToolLoss)> = tools.iter().filter_map(loss).collect();
    notify(agent, &losses).await;
}

/// Like [`notify_losses`], for known losses.
pub(crate) async fn notify(agent: &AgentContext, losses: &[(String, ToolLoss)]) {
    for (kind, sentence) in [
        (
            ToolLoss::Simpler,
            (|tools| messages::Runs::ToolsSimplified { tools }) as fn(String) -> messages::Runs,
        ),
        (ToolLoss::LeftOut, |tools| messages::Runs::ToolsLeftOut {
            tools,
        }),
    ] {
        let new: Vec<&str> = losses
            .iter()
            .filter(|(name, loss)| {
                *loss == kind && agent.run.notified_tools.note(&format!("{kind:?} {name}"))
            })
            .map(|(name, _)| name.as_str())
            .collect();
        if new.is_empty() {
            continue;
        }
        let more = if new.len() > MAX_NAMED { ", …" } else { "" };
        let tools = new[..new.len().min(MAX_NAMED)].join(", ") + more;
        let level = if kind == ToolLoss::LeftOut {
            NoticeLevel::Warning
        } else {
            NoticeLevel::Info
        };
        agent.notice(level, sentence(tools)).await;
    }
}
