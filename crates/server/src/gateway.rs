//! Models: connections to model servers, the catalogue, health, prices, usage and limits.

pub(crate) mod caller_info;
pub mod discovery;
pub mod models;
pub mod prices;
pub mod usage;
