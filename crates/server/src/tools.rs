//! MCP servers, skills, programs and workspaces of agents.

pub mod mcp_servers;
pub mod programs;
pub(crate) mod runners;
pub mod skills;
pub mod workspaces;
