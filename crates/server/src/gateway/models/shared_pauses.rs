//! Pauses of model servers and keys, which the servers of a database tell each other about: what one of them has found out of
//! order, the others leave alone, too.

use std::{
    collections::HashMap,
    sync::{Arc, PoisonError},
    time::Duration,
};

use domain::LocalizedText;
use llm::openai::{Breaker, Server};
use store::{StoreError, UpstreamPause};
use tokio::time::Instant;

use super::Models;

/// Ends of pauses that differ by less are those of the same pause.
const SAME: Duration = Duration::from_millis(1500);

/// Ends of pauses, by the names of what pauses.
#[derive(Debug, Default)]
pub(super) struct SharedPauses {
    /// Those that the others know from this server.
    told: HashMap<String, Instant>,
    /// Those that this server knows from others.
    adopted: HashMap<String, Instant>,
}

/// A model server, or a key of one.
#[derive(Clone)]
struct Target {
    server: Arc<Server>,
    key: Option<usize>,
}

impl Target {
    fn left(&self) -> Option<Duration> {
        match self.key {
            None => match self.server.breaker() {
                Breaker::Open(left) => Some(left),
                Breaker::Closed | Breaker::HalfOpen => None,
            },
            Some(key) => self.server.keys().nth(key)?.cooldown,
        }
    }

    fn reason(&self) -> LocalizedText {
        let failure = match self.key {
            None => self.server.last_failure(),
            Some(key) => self.server.keys().nth(key).and_then(|key| key.last_failure),
        };
        failure.map_or_else(|| "".into(), |failure| failure.words)
    }

    fn pause(&self, pause: &UpstreamPause) {
        let reason = pause.reason.clone();
        match self.key {
            None => self.server.open_for(pause.left, reason),
            Some(key) => self.server.cool_down_key(key, pause.left, reason),
        }
    }

    fn end_pause(&self) {
        match self.key {
            None => self.server.half_open(),
            Some(key) => self.server.end_cooldown(key),
        }
    }
}

impl Models {
    /// Tells the other servers what pauses here, and pauses what they have told about.
    ///
    /// # Errors
    /// If the database fails.
    pub async fn share_pauses(&self) -> Result<(), StoreError> {
        let targets = self.pausing_targets();
        let (news, over) = self.shared_pauses().compare(&targets);
        for (pause, until) in news {
            self.store.share_upstream_pause(&pause).await?;
            self.shared_pauses().told.insert(pause.name, until);
        }
        for name in over {
            self.store.end_upstream_pause(&name).await?;
            self.shared_pauses().told.remove(&name);
        }
        let elsewhere = self.store.upstream_pauses().await?;
        self.shared_pauses().adopt(&targets, &elsewhere);
        Ok(())
    }

    fn shared_pauses(&self) -> std::sync::MutexGuard<'_, SharedPauses> {
        self.shared_pauses
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }

    fn pausing_targets(&self) -> HashMap<String, Target> {
        let catalogue = self.catalogue();
        let mut targets = HashMap::new();
        for known in catalogue.connections.iter().filter(|known| known.enabled) {
            let target = |key| Target {
                server: Arc::clone(&known.server),
                key,
            };
            targets.insert(known.id.to_string(), target(None));
            for (number, key) in known.server.keys().enumerate() {
                let ending = key.ending.unwrap_or_default();
                targets.insert(
                    format!("{}/{number}{ending}", known.id),
                    target(Some(number)),
                );
            }
        }
        targets
    }
}

impl SharedPauses {
    /// The pauses to tell the others about, with their ends, and those that have ended early.
    fn compare(
        &mut self,
        targets: &HashMap<String, Target>,
    ) -> (Vec<(UpstreamPause, Instant)>, Vec<String>) {
        let now = Instant::now();
        let mut news = Vec::new();
        for (name, target) in targets {
            let Some(left) = target.left() else {
                continue;
            };
            let until = now + left;
            let is_known = [&self.told, &self.adopted]
                .iter()
                .any(|known| known.get(name).is_some_and(|known| is_same(*known, until)));
            if !is_known {
                let pause = UpstreamPause {
                    name: name.clone(),
                    left,
                    reason: target.reason(),
                };
                news.push((pause, until));
            }
        }
        self.told.retain(|_, until| *until > now);
        let is_over = |name: &&String| {
            let left = targets.get(*name).and_then(Target::left);
            left.is_none()
        };
        let over = self.told.keys().filter(is_over).cloned().collect();
        (news, over)
    }

    /// Pauses what pauses at others, and ends what has ended there.
    fn adopt(&mut self, targets: &HashMap<String, Target>, elsewhere: &[UpstreamPause]) {
        let now = Instant::now();
        for pause in elsewhere {
            if let Some(target) = targets.get(&pause.name)
                && target.left().is_none()
            {
                target.pause(pause);
                self.adopted.insert(pause.name.clone(), now + pause.left);
            }
        }
        self.adopted.retain(|name, until| {
            if *until <= now || elsewhere.iter().any(|pause| pause.name == *name) {
                return *until > now;
            }
            // Unless it pauses here for another reason by now.
            if let Some(target) = targets.get(name)
                && target
                    .left()
                    .is_some_and(|left| is_same(*until, now + left))
            {
                target.end_pause();
            }
            false
        });
    }
}

fn is_same(one: Instant, other: Instant) -> bool {
    one.max(other) - one.min(other) < SAME
}

#[cfg(test)]
mod tests {
    use llm::{BaseUrl, Secret};

    use super::*;

    fn pair() -> (HashMap<String, Target>, HashMap<String, Target>) {
        let targets = || {
            let url = BaseUrl::parse("localhost").unwrap();
            let server = Arc::new(Server::alone(url, Some(Secret::new("sk-1234567890abcd"))));
            let target = |key| Target {
                server: Arc::clone(&server),
                key,
            };
            HashMap::from([
                ("a".to_owned(), target(None)),
                ("a/0".to_owned(), target(Some(0))),
            ])
        };
        (targets(), targets())
    }

    fn words() -> LocalizedText {
        "No.".into()
    }

    fn news(pauses: &mut SharedPauses, targets: &HashMap<String, Target>) -> Vec<UpstreamPause> {
        let (news, _) = pauses.compare(targets);
        for (pause, until) in &news {
            pauses.told.insert(pause.name.clone(), *until);
        }
        news.into_iter().map(|(pause, _)| pause).collect()
    }

    #[tokio::test(start_paused = true)]
    async fn what_pauses_at_one_pauses_at_the_other_until_it_ends() {
        for name in ["a", "a/0"] {
            let (here, there) = pair();
            let (mut ours, mut theirs) = (SharedPauses::default(), SharedPauses::default());
            assert_eq!(news(&mut ours, &here), []);
            let pause = UpstreamPause {
                name: name.to_owned(),
                left: Duration::from_secs(20),
                reason: words(),
            };
            here[name].pause(&pause);
            assert_eq!(news(&mut ours, &here), std::slice::from_ref(&pause));
            assert_eq!(news(&mut ours, &here), [], "only once");

            theirs.adopt(&there, std::slice::from_ref(&pause));
            assert_eq!(there[name].left(), Some(pause.left));
            assert_eq!(there[name].reason().message, "No.");
            assert_eq!(news(&mut theirs, &there), [], "and is not told back");

            tokio::time::advance(Duration::from_secs(5)).await;
            here[name].end_pause();
            assert_eq!(ours.compare(&here).1, [name]);
            theirs.adopt(&there, &[]);
            assert_eq!(there[name].left(), None);
            assert!(theirs.adopted.is_empty());
        }
    }

    #[tokio::test(start_paused = true)]
    async fn a_pause_of_its_own_is_told_and_stays() {
        let (_, there) = pair();
        let mut theirs = SharedPauses::default();
        let pause = |seconds| UpstreamPause {
            name: "a/0".to_owned(),
            left: Duration::from_secs(seconds),
            reason: words(),
        };
        theirs.adopt(&there, &[pause(5)]);
        // The key is refused here, too, for longer.
        there["a/0"].pause(&pause(60));
        assert_eq!(news(&mut theirs, &there), [pause(60)]);
        theirs.adopt(&there, &[]);
        assert_eq!(there["a/0"].left(), Some(Duration::from_secs(60)));
        // A pause that has passed is forgotten.
        tokio::time::advance(Duration::from_secs(61)).await;
        let (news, over) = theirs.compare(&there);
        assert_eq!((news.len(), over.len(), theirs.told.len()), (0, 0, 0));
    }
}
