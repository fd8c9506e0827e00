//! The names by which clients know a run, its items and its input: each tells the run.

use domain::RunId;

/// The run's id without its prefix.
fn stem(run: RunId) -> String {
    let id = run.to_string();
    id.strip_prefix("run_").unwrap_or(&id).to_owned()
}

/// A run's name as a response.
#[must_use]
pub fn response_id(run: RunId) -> String {
    format!("resp_{}", stem(run))
}

/// The run behind a response; nothing for what is no name of ours.
#[must_use]
pub fn run_of_response(id: &str) -> Option<RunId> {
    format!("run_{}", id.strip_prefix("resp_")?).parse().ok()
}

/// The name of an item of a run; `kind` is `msg`, `rs`, `fc`, `ctc` or `mcp`.
pub(super) fn item_id(kind: &str, run: RunId, item: &str) -> String {
    format!("{kind}_{}_{item}", stem(run))
}

/// An item's name as the id of a call: model servers take ids of up to 40 characters only.
pub(super) fn model_call_id(item: &str) -> &str {
    item.trim_start_matches("mcp_")
}

/// The id that a call of our own tools has in a conversation; one that was handed over has another.
#[must_use]
pub fn own_call_id(run: RunId, call: &str) -> String {
    model_call_id(&item_id("mcp", run, call)).to_owned()
}

/// The run of such a call, where its id is one of ours.
#[must_use]
pub fn run_of_own_call(id: &str) -> Option<RunId> {
    format!("run_{}", id.split_once('_')?.0).parse().ok()
}

/// The name of item number `at` (from 0) of what came with a run.
pub(super) fn input_id(run: RunId, at: usize) -> String {
    item_id("msg", run, &format!("in{at}"))
}

/// The run that an item belongs to, where its name is one of ours.
#[must_use]
pub fn run_of_item(id: &str) -> Option<RunId> {
    let (_, rest) = id.split_once('_')?;
    let (stem, _) = rest.split_once('_')?;
    format!("run_{stem}").parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_tell_the_run() {
        let run: RunId = "run_0192f0c1d2e3f4a5b6c7d8e9fa0b1c2d".parse().unwrap();
        assert_eq!(response_id(run), "resp_0192f0c1d2e3f4a5b6c7d8e9fa0b1c2d");
        assert_eq!(run_of_response(&response_id(run)), Some(run));
        assert_eq!(run_of_item(&item_id("msg", run, "t_1")), Some(run));
        for other in [
            "",
            "resp_",
            "msg_1",
            "run_0192f0c1d2e3f4a5b6c7d8e9fa0b1c2d",
            "resp_0192F0C1",
        ] {
            assert_eq!(
                (run_of_response(other), run_of_item(other)),
                (None, None),
                "{other}"
            );
        }
    }
}
