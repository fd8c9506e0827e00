//! Mixture of agents: each model answers again with all earlier answers in view, and the run's model then combines the
//! result into the final answer.

use std::{fmt, sync::Arc};

use domain::{Message, Part, Role, event::NoticeLevel};
use futures_util::{FutureExt, future::join_all};

use crate::{CallableModel, Models, internal_call::call_one, messages, turns::AgentContext};

/// Maximum length of an answer, bytes; longer ones are cut.
const ANSWER_BYTES: usize = 100_000;

/// How answers are presented to the model that combines them.
type Ask = Arc<dyn Fn(&[String]) -> String + Send + Sync>;

/// The models that answer again before one writes the answer.
#[derive(Clone)]
pub struct Council {
    /// Number of layers of answers, including the existing ones: 1 adds none.
    pub layers: u32,
    /// The models that answer again.
    pub members: Vec<CallableModel>,
    /// Builds the prompt that shows these answers to a model.
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
    /// Returns the conversation with the answers of the last layer replacing those in its last message. A model that
    /// fails is left out; if all fail, the previous layer is used.
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
            // Boxed because the compiler cannot prove that futures from a borrowing closure are `Send`.
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

/// The answer of one member; `None` if it fails.
async fn answer(agent: &AgentContext, member: &Models, asked: &[Message]) -> Option<String> {
    let _at_work = agent.run.begin_work().await;
    let _busy = agent.run.active_time.busy();
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

/// Replaces the text of the last message. Pictures and other parts are kept.
fn tell(history: &mut [Message], text: String) {
    let Some(last) = history.last_mut().filter(|last| last.role == Role::User) else {
        return;
    };
    last.content
        .retain(|part| !matches!(part, Part::Text { .. }));
    last.content.insert(0, Part::Text { text });
}
