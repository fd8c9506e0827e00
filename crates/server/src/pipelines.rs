//! Pipelines: model calls for titles, tags, follow-ups and the like. Determines which are enabled, their models and who
//! pays; they never delay an answer.

mod common;
mod moa;
mod model_call;
mod settings;
pub(crate) mod tags;
mod tools;

use std::{
    collections::{HashMap, HashSet},
    net::IpAddr,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};
use store::{Store, User};

use agent::pipelines::{Now, Person, Said, Values};
use domain::{ChatId, Message, Role};
use jiff::{Timestamp, tz::TimeZone};
use tokio_util::{sync::CancellationToken, task::TaskTracker};

pub(crate) use common::{Common, CommonSettings};
pub(crate) use model_call::{Job, cannot_continue};
pub(crate) use settings::{InForce, PipelineSettings, wrong_template};

use crate::{
    error::ApiError,
    gateway::{
        Gateway,
        models::{Models, ResolvedModel},
        usage::Usage,
    },
    identity::groups::{Groups, Resource},
    platform::{built_in::TOUR, clock::Clock, live_config::LiveConfig},
};

/// Maximum number of alternatives in one request.
pub(crate) const MAX_ALTERNATIVES: usize = 8;
/// Maximum number of layers of answers before merging.
pub(crate) const MAX_LAYERS: u32 = 3;
/// How long records of pipeline calls are kept: a week.
pub(crate) const KEPT_MS: i64 = 7 * 24 * 3_600_000;

/// Model calls around a chat: titles, tags, follow-ups, autocomplete and others.
pub struct Pipelines {
    pub(crate) clock: Clock,
    pub(crate) gateway: Arc<Gateway>,
    pub(crate) effective_pipelines: Arc<EffectivePipelines>,
    pub(crate) stopping: CancellationToken,
    pub(crate) store: Store,
    pub(crate) tasks: TaskTracker,
    pub(crate) usage: Arc<Usage>,
    pub(crate) work: SideWork,
    /// Ids of models whose servers have refused to continue texts.
    pub(crate) cannot_continue: Mutex<HashSet<String>>,
}

impl Pipelines {
    /// Cancels pending calls around a chat, as it has a new message.
    pub(crate) fn give_up(&self, chat: ChatId) {
        self.work.give_up(chat);
    }

    /// Records that a model's server does not continue texts.
    pub(crate) fn note_cannot_continue(&self, model: &str) {
        let mut refused = self
            .cannot_continue
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        refused.insert(model.to_owned());
    }
}

/// The pending model calls around each chat, at most one set per chat.
#[derive(Debug, Default)]
pub(crate) struct SideWork(Mutex<HashMap<ChatId, CancellationToken>>);

impl SideWork {
    /// Cancels pending calls around a chat, as it has a new message.
    fn give_up(&self, chat: ChatId) {
        if let Some(work) = self.lock().remove(&chat) {
            work.cancel();
        }
    }

    /// Registers work for a chat and cancels any before it; the returned token cancels it.
    pub(crate) fn begin(&self, chat: ChatId) -> CancellationToken {
        let work = CancellationToken::new();
        if let Some(before) = self.lock().insert(chat, work.clone()) {
            before.cancel();
        }
        work
    }

    /// Removes finished work.
    pub(crate) fn end(&self, chat: ChatId, work: &CancellationToken) {
        // If it was replaced, it is cancelled, and the entry belongs to the newer work.
        if !work.is_cancelled() {
            self.lock().remove(&chat);
        }
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<ChatId, CancellationToken>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Which pipelines are on, with which model and prompt.
pub(crate) struct EffectivePipelines {
    pub(crate) clock: Clock,
    pub(crate) config: LiveConfig,
    pub(crate) gateway: Arc<Gateway>,
    pub(crate) groups: Arc<Groups>,
    pub(crate) models: Arc<Models>,
    pub(crate) store: Store,
}

impl EffectivePipelines {
    /// The model of a pipeline for a chat that is answered by `chat_model`; `None` if that is the tour, which is
    /// scripted and understands nothing.
    ///
    /// # Errors
    /// 404 or 503 if the model that was chosen for the pipeline does not exist: there is no fallback.
    pub(crate) fn pipeline_model(
        &self,
        set: &InForce,
        chat_model: &ResolvedModel,
    ) -> Result<Option<ResolvedModel>, ApiError> {
        let task_model = match self.is_local(&chat_model.model_id) {
            true => &set.common.task_model,
            false => &set.common.task_model_external,
        };
        let chosen = set
            .model
            .as_deref()
            .or(Some(task_model.as_str()))
            .filter(|model| !model.is_empty());
        // An administrator has chosen it for all users. The key's own limit still applies: then the chat's model is
        // used.
        let permit = self
            .gateway
            .permit(chat_model.authority.clone())
            .regardless_of_groups();
        let chosen = chosen.filter(|model| permit.allows(Resource::Model(model)));
        let chosen = chosen
            .map(|model| self.models.resolve(Some(model), &permit))
            .transpose()?;
        let model = chosen.unwrap_or_else(|| chat_model.clone());
        Ok((model.model_id != TOUR).then_some(model))
    }

    /// Whether the model's server is this machine or in its network.
    fn is_local(&self, model: &str) -> bool {
        let catalogue = self.models.catalogue();
        let connection = catalogue
            .model(model)
            .and_then(|known| catalogue.connection(known.connection?));
        connection.is_none_or(|known| known.server.settings.base_url.host().is_none_or(is_near))
    }

    /// The user's details for the templates.
    pub(crate) fn person_variables(&self, user: &User) -> PersonVariables {
        let groups = self.groups.known().names_of(user.id).join(", ");
        PersonVariables {
            name: user.name.clone(),
            email: user.email.clone(),
            groups,
        }
    }

    /// The current time for the templates, in the server's time zone.
    pub(crate) fn time_variables(&self) -> TimeVariables {
        let at = Timestamp::from_millisecond(self.clock.now_ms()).unwrap_or_default();
        let zoned = at.to_zoned(TimeZone::system());
        TimeVariables {
            date: zoned.strftime("%Y-%m-%d").to_string(),
            time: zoned.strftime("%H:%M:%S").to_string(),
            weekday: zoned.strftime("%A").to_string(),
            timezone: zoned.time_zone().iana_name().unwrap_or("UTC").to_owned(),
        }
    }
}

impl Pipelines {
    /// The model in continuation mode, if its server may support it: remote servers treat every text as a message.
    pub(crate) fn continuing_model(&self, model: &ResolvedModel) -> Option<ResolvedModel> {
        let refused = self
            .cannot_continue
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        if refused.contains(&model.model_id) || !self.effective_pipelines.is_local(&model.model_id)
        {
            return None;
        }
        Some(ResolvedModel {
            model: model.model.continuing()?,
            ..model.clone()
        })
    }
}

impl TimeVariables {
    /// The weekday, the date and the time zone.
    pub(crate) fn day(&self) -> String {
        format!("{}, {} ({})", self.weekday, self.date, self.timezone)
    }
}

/// The user, for the templates.
#[derive(Debug, Default)]
pub(crate) struct PersonVariables {
    name: String,
    email: String,
    groups: String,
}

/// The current time, for the templates.
#[derive(Debug)]
pub(crate) struct TimeVariables {
    date: String,
    time: String,
    weekday: String,
    timezone: String,
}

/// The values that every template gets.
pub(crate) fn values<'a>(
    messages: &'a [Said],
    person: &'a PersonVariables,
    now: &'a TimeVariables,
) -> Values<'a> {
    let PersonVariables {
        name,
        email,
        groups,
    } = person;
    let TimeVariables {
        date,
        time,
        weekday,
        timezone,
    } = now;
    Values {
        messages,
        person: Person {
            name,
            email,
            groups,
        },
        now: Now {
            date,
            time,
            weekday,
            timezone,
        },
        ..Values::default()
    }
}

/// The text of user and assistant messages, without empty ones.
pub(crate) fn said_in(messages: &[Message]) -> Vec<Said> {
    let said = |message: &Message| Said {
        role: message.role,
        text: message.plain_text().trim().to_owned(),
    };
    let spoken = messages
        .iter()
        .filter(|message| matches!(message.role, Role::User | Role::Assistant));
    spoken
        .map(said)
        .filter(|said| !said.text.is_empty())
        .collect()
}

/// Whether a host is this machine, or in its network judging by the name.
fn is_near(host: &str) -> bool {
    let host = host.trim_matches(['[', ']']);
    match host.parse::<IpAddr>() {
        Ok(IpAddr::V4(address)) => {
            address.is_loopback() || address.is_private() || address.is_link_local()
        }
        Ok(IpAddr::V6(address)) => {
            address.is_loopback() || address.is_unique_local() || address.is_unicast_link_local()
        }
        Err(_) => {
            !host.contains('.')
                || [".local", ".lan", ".internal", ".localhost", ".home.arpa"]
                    .iter()
                    .any(|end| host.ends_with(end))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn near_hosts() {
        for host in [
            "localhost",
            "127.0.0.1",
            "[::1]",
            "10.1.2.3",
            "ollama",
            "gpu.local",
            "host.docker.internal",
        ] {
            assert!(is_near(host), "{host}");
        }
        for host in [
            "api.example.com",
            "8.8.8.8",
            "2606:4700::1",
            "local.example.org",
        ] {
            assert!(!is_near(host), "{host}");
        }
    }

    #[test]
    fn something_new_gives_up_what_goes_on() {
        let work = SideWork::default();
        let chat = ChatId::generate();
        let first = work.begin(chat);
        let second = work.begin(chat);
        assert!(first.is_cancelled() && !second.is_cancelled());
        work.end(chat, &first);
        work.give_up(chat);
        assert!(second.is_cancelled());
        let third = work.begin(chat);
        work.end(chat, &third);
        work.give_up(chat);
        assert!(!third.is_cancelled());
    }
}
