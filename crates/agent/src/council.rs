//! Mixture of agents: before several answers become one, each model answers again with all earlier answers in view. The run's
//! model reads the result and writes the answer.

use std::{fmt, sync::Arc};

use domain::{Message, Part, Role, event::NoticeLevel};
use futures_util::{FutureExt, future::join_all};

use crate::{CallableModel, Models, internal_call::call_one, messages, turns::AgentContext};

/// An answer is cut off after this many bytes.
const ANSWER_BYTES: usize = 100_000;

/// How answers are presented to the model that combines them.
type Ask = Arc<dyn Fn(&[String]) -> String + Send + Sync>;

/// The models that answer again before one writes the answer.
#[derive(Clone)]
pub struct Council {
    /// How many layers of answers there are, including the existing answers: 1 adds nothing.
    pub layers: u32,
    /// Those that answer again.
    pub members: Vec<CallableModel>,
    /// The prompt of a model that has these answers in view.
    pub ask: Ask,
}

impl fmt::Debug for Council {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            layers,
            members,
            ask: _,
        } = self;
        f.debug_struct("Council")
            .field("layers", layers)
            .field("members", members)
            .finish_non_exhaustive()
    }
}

impl Council {
    /// The conversation with the answers of the last layer in place of those in its last message. A model that fails
    /// is left out, and if all fail, the layer before counts.
    pub(crate) async fn hold(
        self,
        agent: &AgentContext,
        mut history: Vec<Message>,
    ) -> Vec<Message> {
        let Self {
            layers,
            members,
            ask,
        } = self;
        let members: Vec<Models> = members
            .into_iter()
            .map(|one| Models::new(one, Vec::new()))
            .collect();
        for layer in 2..=layers {
            agent.status(messages::Runs::Layer { layer, layers }).await;
            let asked = &history;
            // Boxed here, since the compiler cannot see through a borrowing closure that the futures are `Send`.
            let calls: Vec<_> = members
                .iter()
                .map(|member| answer(agent, member, asked).boxed())
                .collect();
            let answers: Vec<String> = join_all(calls).await.into_iter().flatten().collect();
            if answers.is_empty() {
                agent
                    .notice(NoticeLevel::Warning, messages::Runs::NobodyAnswered)
                    .await;
                break;
            }
            tell(&mut history, ask(&answers));
        }
        history
    }
}

/// What one of them says; `None` if it cannot.
async fn answer(agent: &AgentContext, member: &Models, asked: &[Message]) -> Option<String> {
    let _busy = (
        agent.run.active_time.busy(),
        agent.run.pending_input.at_work(),
    );
    match call_one(agent, member.chosen(), asked, ANSWER_BYTES, None).await {
        Ok(said) => {
            said.call.report(agent).await;
            Some(said.text).filter(|text| !text.trim().is_empty())
        }
        Err(problem) => {
            let name = member.chosen().model().name().to_owned();
            let why = problem.words();
            agent
                .notice(
                    NoticeLevel::Warning,
                    messages::Runs::NoAnswerOf { name, why },
                )
                .await;
            None
        }
    }
}

/// Puts the text into the place of that of the last message; pictures and the like stay.
fn tell(history: &mut [Message], text: String) {
    let Some(last) = history.last_mut().filter(|last| last.role == Role::User) else {
        return;
    };
    last.content
        .retain(|part| !matches!(part, Part::Text { .. }));
    last.content.insert(0, Part::Text { text });
}
