//! Messages for people that this crate raises, each with a stable code for translation. Their English texts exist only
//! here.

mod connections;
mod models;

pub use connections::Connections;
pub use models::Models;
