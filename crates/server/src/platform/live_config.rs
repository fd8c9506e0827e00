//! The configuration in effect. Administrators change some settings in the web app while the server runs.

use std::sync::{Arc, PoisonError, RwLock};

use super::config::Config;

/// The current configuration, shared by the services. Read it when it is needed, not when a service is constructed.
#[derive(Debug, Clone)]
pub struct LiveConfig(Arc<RwLock<Arc<Config>>>);

impl LiveConfig {
    /// Begins with this configuration.
    #[must_use]
    pub fn new(config: Config) -> Self {
        Self(Arc::new(RwLock::new(Arc::new(config))))
    }

    /// The configuration as it is now. It does not change under a holder of the result.
    #[must_use]
    pub fn now(&self) -> Arc<Config> {
        self.0
            .read()
            .unwrap_or_else(PoisonError::into_inner)
            .clone()
    }

    pub(crate) fn replace(&self, config: Config) {
        let mut current = self.0.write().unwrap_or_else(PoisonError::into_inner);
        *current = Arc::new(config);
    }
}
