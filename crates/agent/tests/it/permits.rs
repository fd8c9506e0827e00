//! What a run may use can change while it goes on: it is asked before each call.

use std::sync::{
    Arc, Mutex,
    atomic::{AtomicBool, AtomicUsize, Ordering},
};

use agent::{CallEstimate, EndCall, Quota};
use domain::{EventBody, Problem, ProblemCode};
use futures_util::{
    FutureExt,
    future::{BoxFuture, ready},
};
use llm::{
    ChatRequest,
    script::{call, text},
};
use serde_json::json;

use crate::play::{Play, lines};

/// Allows everything until something is taken away.
#[derive(Debug, Default)]
struct Permits {
    model_gone: AtomicBool,
    files_gone: AtomicBool,
}

impl Quota for Permits {
    fn begin<'a>(&'a self, call: CallEstimate<'a>) -> BoxFuture<'a, Result<EndCall, Problem>> {
        assert_eq!((call.model, call.agent), ("test", "main"));
        let end: Result<EndCall, Problem> = match self.model_gone.load(Ordering::Relaxed) {
            true => Err(Problem::new(
                ProblemCode::Forbidden,
                "It is not yours any more.",
            )),
            false => Ok(Box::new(|_| {})),
        };
        ready(end).boxed()
    }

    fn check(&self, _: CallEstimate<'_>, _: u64) -> Result<(), Problem> {
        Ok(())
    }

    fn allows_tool(&self, name: &str) -> bool {
        name != "write_file" || !self.files_gone.load(Ordering::Relaxed)
    }

    fn allows_agent(&self, name: &str) -> bool {
        name != "explore"
    }
}

fn write() -> Vec<llm::Line> {
    call(0, "write_file", &json!({"path": "/a.txt", "content": "x"}))
}

/// Plays these answers; `take` takes something away as soon as the model has been asked so often.
async fn play(turns: Vec<Vec<llm::Line>>, take: fn(&Permits, usize)) -> (Play, Arc<Permits>) {
    let permits = Arc::<Permits>::default();
    let (asked, turns, taken) = (
        AtomicUsize::new(0),
        Mutex::new(turns.into_iter()),
        Arc::clone(&permits),
    );
    let script = move |_: &ChatRequest<'_>| {
        take(&taken, asked.fetch_add(1, Ordering::Relaxed) + 1);
        turns.lock().unwrap().next().unwrap_or_default()
    };
    let mut play = Play::new(Arc::new(script)).await;
    play.quota = Some(Arc::clone(&permits) as Arc<dyn Quota>);
    (play, permits)
}

#[tokio::test]
async fn a_model_that_is_taken_away_is_not_called_again() {
    let take = |permits: &Permits, _| permits.model_gone.store(true, Ordering::Relaxed);
    let (play, _) = play(vec![write(), text("Never said.")], take).await;
    let all = lines(&play.log().await);
    assert_eq!(
        all.last().map(String::as_str),
        Some("main finished Failed: It is not yours any more.")
    );
    assert_eq!(play.requests().len(), 1);
}

#[tokio::test]
async fn a_tool_that_is_taken_away_does_nothing_more() {
    let take = |permits: &Permits, asked| permits.files_gone.store(asked > 1, Ordering::Relaxed);
    let (play, _) = play(vec![write(), write(), text("Done.")], take).await;
    let all = lines(&play.log().await);
    assert_eq!(
        all.iter()
            .filter(|line| line.contains("changed /a.txt"))
            .count(),
        1,
        "{all:#?}"
    );
    let refused = all.iter().find(|line| line.contains("failed")).unwrap();
    assert!(
        refused.contains("There is no tool write_file.") && refused.contains("read_file"),
        "{refused}"
    );
    assert!(!refused.contains(", write_file"), "{refused}");
}

#[tokio::test]
async fn a_tool_removed_during_an_approval_does_not_run() {
    let (mut play, permits) = play(vec![write(), text("Done.")], |_, _| ()).await;
    play.agents.main.tools = play.agents.main.tools.with_approval("write_file");
    let take = |event: &domain::RunEvent, play: &Play| {
        if matches!(event.body, EventBody::ApprovalAsked { .. }) {
            permits.files_gone.store(true, Ordering::Relaxed);
            play.allow(event);
        }
    };
    let all = lines(&play.watched(&mut { take }).await);
    assert!(
        all.iter()
            .any(|line| line.contains("failed") && line.contains("any more")),
        "{all:#?}"
    );
    assert!(
        !all.iter()
            .any(|line| line.contains("runs ") || line.contains("changed")),
        "{all:#?}"
    );
}

#[tokio::test]
async fn work_is_not_handed_to_an_agent_that_may_not_be_used() {
    let task = json!({"description": "Look.", "subagent_type": "explore"});
    let (play, _) = play(vec![call(0, "task", &task), text("Done.")], |_, _| ()).await;
    let all = lines(&play.log().await);
    let refused = all.iter().find(|line| line.contains("failed")).unwrap();
    assert!(
        refused.contains("There is no sub-agent explore. There are: general."),
        "{refused}"
    );
}
