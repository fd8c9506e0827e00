//! Building blocks used by all other modules: settings, clock, secrets, data folder, listener, background jobs and
//! metrics.

pub mod body_memory;
pub mod built_in;
pub(crate) mod client_info;
pub(crate) mod clock_skew;
pub mod config;
pub(crate) mod data_dir;
pub(crate) mod form_values;
#[cfg(target_os = "linux")]
pub mod init;
pub mod jobs;
pub mod listen;
pub mod live_config;
pub mod metrics;
pub mod model_aliases;
pub(crate) mod object_storage;
pub(crate) mod outbound_fault;
pub mod proxies;
pub(crate) mod redacted_stderr;
pub(crate) mod request_context;
pub mod secret;
pub mod secret_key;
pub(crate) mod server_settings;
pub(crate) mod standard_webhooks;
pub(crate) mod web_push;

pub use domain::clock;
