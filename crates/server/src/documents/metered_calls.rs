//! Model calls about documents, charged to the document's owner and within their limits.

use domain::{LocalizedText, Usage as Tokens, UserId};
use llm::ModelError;
use store::{Principal, StoreError, UsageSum};

use crate::{
    documents::Documents,
    gateway::{
        models::ResolvedModel,
        usage::{Amount, UsageEstimate},
    },
};

/// The outcome of a model call.
pub(super) enum MeteredCall<T> {
    Answered(T),
    /// A limit of the account does not allow the call now.
    Limited {
        words: LocalizedText,
        wait_s: u64,
    },
    Failed(ModelError),
}

impl Documents {
    /// Calls `model` with `asking`, which takes about `input_tokens` and at most `output_tokens`; `used` extracts the
    /// usage from the answer.
    pub(super) async fn on_account<T>(
        &self,
        owner: UserId,
        model: &ResolvedModel,
        input_tokens: u64,
        output_tokens: u64,
        asking: impl Future<Output = Result<T, ModelError>>,
        used: impl Fn(&T) -> (Tokens, Option<u64>),
    ) -> Result<MeteredCall<T>, StoreError> {
        let principal = Principal::of_account(owner);
        let expected = UsageEstimate {
            input_tokens,
            max_output_tokens: Some(output_tokens),
            prices: model.prices,
        };
        self.usage.know(&principal).await?;
        let held = match self.usage.begin(&principal, expected).await {
            Ok(held) => held,
            Err(refused) => {
                return Ok(MeteredCall::Limited {
                    words: refused.words,
                    wait_s: refused.wait_s,
                });
            }
        };
        let asked = asking.await;
        let used = asked.as_ref().ok().map(used);
        self.usage.end(
            &held,
            expected,
            used.map(|(tokens, cost)| Amount::of_call(tokens, cost)),
        );
        if let Some((tokens, cost)) = used {
            self.usage.note(
                &principal,
                model.model.name(),
                UsageSum::of_call(tokens, cost),
            );
        }
        Ok(match asked {
            Ok(answer) => MeteredCall::Answered(answer),
            Err(error) => MeteredCall::Failed(error),
        })
    }
}
