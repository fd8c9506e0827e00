//! A connection to a server, with its tools converted for agents.

use std::sync::{Arc, Mutex, PoisonError};

use mcp::{OfferedTool, Server};

use super::{McpServerNow, problem, tools::Usable};
use crate::platform::config::Approval;

pub(super) struct ToolCatalog {
    pub(super) server: Arc<Server>,
    approval: Approval,
    made: Mutex<Option<Made>>,
}

/// The tools converted from the server's last list.
struct Made {
    offered: Arc<[OfferedTool]>,
    usable: Arc<Usable>,
}

impl ToolCatalog {
    pub(super) fn new(server: Arc<Server>, approval: Approval) -> Self {
        Self {
            server,
            approval,
            made: Mutex::default(),
        }
    }

    /// The converted tools. Cached per list, as compiling the schemas takes a while.
    pub(super) fn usable(&self, offered: &Arc<[OfferedTool]>) -> Arc<Usable> {
        let mut made = self.made.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(made) = made
            .as_ref()
            .filter(|made| Arc::ptr_eq(&made.offered, offered))
        {
            return Arc::clone(&made.usable);
        }
        let usable = Arc::new(Usable::make(&self.server, offered, self.approval));
        *made = Some(Made {
            offered: Arc::clone(offered),
            usable: Arc::clone(&usable),
        });
        usable
    }

    /// Whether a run holds one of its tools.
    pub(super) fn is_used(&self) -> bool {
        let made = self.made.lock().unwrap_or_else(PoisonError::into_inner);
        made.as_ref().is_some_and(|made| {
            made.usable
                .tools
                .iter()
                .any(|tool| Arc::strong_count(tool) > 1)
        })
    }

    pub(super) fn now(&self) -> McpServerNow {
        let status = self.server.status();
        let usable = self.usable(&status.tools);
        let view = |tool: &Arc<agent::Tool>| {
            let needs_approval = usable.needs_approval.iter().any(|name| name == tool.name());
            (
                tool.name().to_owned(),
                tool.description().to_owned(),
                needs_approval,
            )
        };
        let problems = status.problems.into_iter().map(problem::words);
        McpServerNow {
            state: status.state,
            problems: problems.chain(usable.problems.iter().cloned()).collect(),
            tools: usable.tools.iter().map(view).collect(),
        }
    }
}
