//! What agents work with: MCP servers, agent definitions, skills, programs, workspaces and memory.

pub mod agents;
pub mod mcp_servers;
pub(crate) mod memory;
pub mod programs;
pub mod skills;
pub mod workspaces;
