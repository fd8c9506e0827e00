//! What agents work with: MCP servers, agent definitions, skills, programs, workspaces and memory.

pub mod mcp_servers;
pub mod programs;
pub mod skills;
pub mod workspaces;
