//! Which runners there are, and what all of them can run.

use std::{collections::HashMap, sync::PoisonError};

use runner_protocol::About;
use sandbox::Programs;
use store::{RunnerRow, StoreError};

use super::Runners;
use crate::messages;

/// The runners and their queue, as last read.
#[derive(Debug, Clone, Default)]
pub(crate) struct RunnersStatus {
    /// The calls that wait for a runner.
    pub(crate) waiting: u64,
    /// The connected runners: the name and the number of calls that run, by ID.
    pub(crate) connected: HashMap<String, (String, u64)>,
}

impl Runners {
    /// Reads which runners there are, and gives agents the tools that all of them have.
    pub(crate) async fn refresh(&self) -> Result<(), StoreError> {
        let rows = self.store.runners().await?;
        let connected = rows.iter().filter(|row| row.is_connected);
        let now = RunnersStatus {
            waiting: self.store.waiting_program_calls().await?,
            connected: connected
                .map(|row| (row.id.clone(), (row.name.clone(), row.running)))
                .collect(),
        };
        let before = {
            let mut status = self.status.lock().unwrap_or_else(PoisonError::into_inner);
            std::mem::replace(&mut *status, now.clone())
        };
        tell(&before, &now);
        match found(&rows) {
            None => self
                .programs
                .set_unavailable(messages::Tools::ProgramsNoRunner),
            Some(found)
                if self
                    .programs
                    .here()
                    .is_none_or(|here| *here.found() != found) =>
            {
                tracing::info!(python_version = found.python_version, python_modules = ?found.python_modules,
                    shell = found.shell, latex = ?found.latex, "agents can run programs, on runners");
                match self.equip(found) {
                    Ok((programs, agents)) => self.programs.set_available(programs, agents),
                    Err(failure) => self.programs.set_unavailable(failure.0),
                }
            }
            Some(_) => {}
        }
        Ok(())
    }

    /// The runners and their queue, as last read.
    pub(crate) fn status(&self) -> RunnersStatus {
        self.status
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clone()
    }
}

/// Logs who came and went.
fn tell(before: &RunnersStatus, now: &RunnersStatus) {
    let without = |all: &RunnersStatus, those: &RunnersStatus| -> Vec<String> {
        let names = all
            .connected
            .iter()
            .filter(|(id, _)| !those.connected.contains_key(*id));
        names.map(|(_, (name, _))| name.clone()).collect()
    };
    let connected = now.connected.len();
    for name in without(now, before) {
        tracing::info!(name, connected, "a runner is connected");
    }
    for name in without(before, now) {
        tracing::warn!(name, connected, "a runner is gone");
    }
}

/// What all connected runners have, or else the one that was heard of last; `None` if there was never one.
pub(crate) fn found(rows: &[RunnerRow]) -> Option<Programs> {
    let mut read = rows.iter().filter_map(|row| {
        let about: About = serde_json::from_str(&row.about).ok()?;
        Some((row.is_connected && !row.is_draining, about.programs))
    });
    let (is_connected, mut all) = read.next()?;
    let mut is_connected = is_connected;
    for (also_connected, programs) in read {
        match (is_connected, also_connected) {
            (_, false) => {}
            // A draining one was heard of later.
            (false, true) => (is_connected, all) = (true, programs),
            (true, true) => all = in_common(all, &programs),
        }
    }
    Some(all)
}

fn in_common(one: Programs, other: &Programs) -> Programs {
    let both = |mut names: Vec<String>, others: &[String]| {
        names.retain(|name| others.contains(name));
        names
    };
    let versions = [one.python_version, other.python_version.clone()];
    let python_version = versions.into_iter().min_by_key(|version| numbers(version));
    Programs {
        python_version: python_version.unwrap_or_default(),
        python_modules: both(one.python_modules, &other.python_modules),
        shell: one.shell && other.shell,
        latex: both(one.latex, &other.latex),
    }
}

/// The numbers of a version, by which versions are ordered.
fn numbers(version: &str) -> Vec<u32> {
    let parts = version.split(|letter: char| !letter.is_ascii_digit());
    parts.filter_map(|part| part.parse().ok()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(modules: &[&str], is_connected: bool) -> RunnerRow {
        let about = About {
            version: "1".into(),
            slots: 1,
            programs: Programs {
                python_version: "3.12".into(),
                python_modules: modules.iter().map(|&name| name.to_owned()).collect(),
                shell: true,
                latex: Vec::new(),
            },
            accounting: String::new(),
        };
        RunnerRow {
            id: String::new(),
            name: String::new(),
            about: serde_json::to_string(&about).unwrap(),
            is_draining: false,
            is_connected,
            running: 0,
        }
    }

    #[test]
    fn agents_are_told_what_every_connected_runner_has() {
        let modules = |rows: &[RunnerRow]| found(rows).map(|found| found.python_modules.join(" "));
        assert_eq!(modules(&[]), None);
        let (a, b, gone) = (
            row(&["numpy", "scipy"], true),
            row(&["scipy", "sympy"], true),
            row(&["pandas"], false),
        );
        assert_eq!(modules(&[a.clone(), b]).as_deref(), Some("scipy"));
        let latest = [gone.clone(), a];
        assert_eq!(modules(&latest).as_deref(), Some("numpy scipy"));
        let of_python = |version: &str| Programs {
            python_version: version.to_owned(),
            ..Programs::default()
        };
        for [one, other] in [["3.9.2", "3.12.1"], ["3.12.1", "3.9.2"]] {
            let common = in_common(of_python(one), &of_python(other));
            assert_eq!(common.python_version, "3.9.2");
        }
        // Of those that are gone, the last one.
        let both = [gone, row(&[], false)];
        assert_eq!(modules(&both).as_deref(), Some("pandas"));
    }
}
