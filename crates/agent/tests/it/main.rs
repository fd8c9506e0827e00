//! The run loop driven by a scripted model: whole logs and the exact requests are looked at.

mod asks;
mod limits;
mod play;
mod subagents;
mod tools;
mod tour;
mod turns;
