//! The ids of a run, its items and its input for clients: each contains the run's id.

use domain::RunId;

/// The run's id without its prefix.
fn stem(run: RunId) -> String {
    let id = run.to_string();
    id.strip_prefix("run_").unwrap_or(&id).to_owned()
}

/// The response id of a run.
#[must_use]
pub fn response_id(run: RunId) -> String {
    format!("resp_{}", stem(run))
}

/// The run of a response; `None` if the id is not one of ours.
#[must_use]
pub fn run_of_response(id: &str) -> Option<RunId> {
    format!("run_{}", id.strip_prefix("resp_")?).parse().ok()
}

/// The id of an item of a run; `kind` is `msg`, `rs`, `fc`, `ctc` or `mcp`.
pub(super) fn item_id(kind: &str, run: RunId, item: &str) -> String {
    format!("{kind}_{}_{item}", stem(run))
}

/// An item's id as a call id: model servers limit those to 40 characters.
pub(super) fn model_call_id(item: &str) -> &str {
    item.trim_start_matches("mcp_")
}

/// The id of a call of our own tools in a conversation; a call for the caller has another.
#[must_use]
pub fn own_call_id(run: RunId, call: &str) -> String {
    model_call_id(&item_id("mcp", run, call)).to_owned()
}

/// The run of such a call, if the id is one of ours.
#[must_use]
pub fn run_of_own_call(id: &str) -> Option<RunId> {
    format!("run_{}", id.split_once('_')?.0).parse().ok()
}

/// The id of item number `at` (from 0) of a run's input.
pub(super) fn input_id(run: RunId, at: usize) -> String {
    item_id("msg", run, &format!("in{at}"))
}

/// The run of an item, if the id is one of ours.
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
    fn ids_contain_the_run() {
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
