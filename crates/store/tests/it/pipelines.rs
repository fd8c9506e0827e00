//! What pipelines write beside a chat.

use domain::{MessageId, PipelineCallId, Usage};
use store::{Alternatives, Chat, NewTurn, PipelineCall, PipelineSum, Store, StoreError};

use crate::fixtures::{add_chat, add_user, new_turn};

on_every_database!(
    only_first_words_give_way_to_a_title,
    follow_ups_go_with_their_message,
    calls_are_noted_summed_and_forgotten,
    alternative_answers_store_their_sources,
);

/// A chat that is called by what was said in it.
async fn begun(store: &Store) -> (Chat, MessageId) {
    let ann = add_user(store).await;
    let chat = add_chat(store, ann, "", 50).await;
    let mut turn = new_turn(&chat, None, "How do plants grow?", 100);
    turn.title = Some("How do plants grow?".to_owned());
    store.begin_turn(&turn).await.unwrap();
    (chat, turn.assistant.id)
}

async fn only_first_words_give_way_to_a_title(store: Store) {
    let (chat, _) = begun(&store).await;
    let Chat { id, principal, .. } = chat;
    let owner = principal.account;
    assert!(store.is_titled_by_words(owner, id).await.unwrap());
    assert!(store.title_chat(owner, id, "🌱 Plants").await.unwrap());
    let titled = store
        .chat(&store::Principal::of_account(owner), id)
        .await
        .unwrap();
    assert_eq!(
        (titled.title.as_str(), titled.updated_at),
        ("🌱 Plants", 100)
    );
    // Somebody may ask for another one.
    assert!(
        store
            .title_unnamed_chat(owner, id, "🌱 Green Plants")
            .await
            .unwrap()
    );
    // One of a model stays, too, and a person's above all.
    assert!(!store.title_chat(owner, id, "🌱 Other").await.unwrap());
    store.rename_chat(owner, id, "Mine", 200).await.unwrap();
    assert!(!store.is_titled_by_words(owner, id).await.unwrap());
    assert!(
        !store
            .title_unnamed_chat(owner, id, "🌱 Other")
            .await
            .unwrap()
    );
    assert!(!store.title_chat(owner, id, "🌱 Other").await.unwrap());
    assert_eq!(
        store
            .chat(&store::Principal::of_account(owner), id)
            .await
            .unwrap()
            .title,
        "Mine"
    );
    let bob = add_user(&store).await;
    assert_eq!(
        store.is_titled_by_words(bob, id).await,
        Err(StoreError::NotFound)
    );
    // One that began with a name has one.
    let named = add_chat(&store, owner, "Named", 60).await;
    assert!(!store.title_chat(owner, named.id, "🌱 Other").await.unwrap());
    assert!(
        !store
            .title_unnamed_chat(owner, named.id, "🌱 Other")
            .await
            .unwrap()
    );
    let nameless = add_chat(&store, owner, "", 70).await;
    assert!(
        !store
            .title_unnamed_chat(bob, nameless.id, "🌱 Theirs")
            .await
            .unwrap()
    );
    assert!(
        store
            .title_unnamed_chat(owner, nameless.id, "🌱 Plants")
            .await
            .unwrap()
    );
}

async fn follow_ups_go_with_their_message(store: Store) {
    let (chat, answer) = begun(&store).await;
    let texts = ["Why?".to_owned(), "И как?".to_owned()];
    store
        .put_follow_ups(answer, &["Before?".to_owned()])
        .await
        .unwrap();
    store.put_follow_ups(answer, &texts).await.unwrap();
    store
        .put_follow_ups(MessageId::generate(), &texts)
        .await
        .unwrap();
    let kept = store.follow_ups(chat.id).await.unwrap();
    assert_eq!((kept.len(), &kept[&answer][..]), (1, &texts[..]));
    store
        .delete_chat(chat.principal.account, chat.id)
        .await
        .unwrap();
    assert!(store.follow_ups(chat.id).await.unwrap().is_empty());
}

async fn calls_are_noted_summed_and_forgotten(store: Store) {
    let (chat, _) = begun(&store).await;
    let run = store.runs_answering_in(chat.id).await.unwrap()[0];
    let call = |pipelines: &str, at, outcome: &str| PipelineCall {
        id: PipelineCallId::generate(),
        pipelines: pipelines.to_owned(),
        owner: chat.principal.account,
        chat: Some(chat.id),
        run: Some(run),
        model: "tiny".to_owned(),
        at,
        duration_ms: 7,
        usage: Usage::of(100, 10),
        cost_micro_usd: (outcome == "done").then_some(3),
        outcome: outcome.to_owned(),
        detail: domain::form::Forms::QuestionWithoutForm.into(),
    };
    let calls = [
        call("title,tags", 10, "done"),
        call("title,tags", 20, "fallback"),
        call("auto", 30, "cancelled"),
    ];
    for call in &calls {
        store.note_pipeline_call(call).await.unwrap();
    }
    assert_eq!(store.pipeline_calls_of(run).await.unwrap(), calls);
    assert_eq!(
        store.latest_pipeline_calls(2).await.unwrap(),
        [calls[2].clone(), calls[1].clone()]
    );
    let sums = store.pipeline_sums(0).await.unwrap();
    let usage = Usage::of(200, 20);
    let both = PipelineSum {
        pipelines: "title,tags".to_owned(),
        calls: 2,
        failed: 1,
        cancelled: 0,
        usage,
        cost_micro_usd: 3,
    };
    assert_eq!((sums.len(), &sums[1]), (2, &both));
    store.purge_pipeline_calls(20).await.unwrap();
    assert_eq!(store.pipeline_calls_of(run).await.unwrap().len(), 2);
    store
        .delete_chat(chat.principal.account, chat.id)
        .await
        .unwrap();
    assert!(store.latest_pipeline_calls(9).await.unwrap().is_empty());
    // Its chat is gone meanwhile.
    store.note_pipeline_call(&calls[0]).await.unwrap();
    assert!(store.latest_pipeline_calls(9).await.unwrap().is_empty());
}

async fn alternative_answers_store_their_sources(store: Store) {
    let (chat, first) = begun(&store).await;
    let asked = store.messages(chat.id).await.unwrap()[0].id;
    let mut expected = std::collections::HashMap::new();
    for made_of in [vec![], vec![first]] {
        let turn = new_turn(&chat, None, "", 200);
        let mut turn = NewTurn {
            user: None,
            beside: Some(Alternatives { first, made_of }),
            ..turn
        };
        turn.assistant.parent = Some(asked);
        store.begin_turn(&turn).await.unwrap();
        // One that was made of others takes their place, one among them does not.
        let is_made = turn
            .beside
            .as_ref()
            .is_some_and(|beside| !beside.made_of.is_empty());
        let current = store
            .chat(
                &store::Principal::of_account(chat.principal.account),
                chat.id,
            )
            .await
            .unwrap()
            .current;
        assert_eq!(
            current,
            Some(if is_made { turn.assistant.id } else { first })
        );
        expected.extend(turn.beside.map(|beside| (turn.assistant.id, beside)));
    }
    assert_eq!(store.alternative_answers(chat.id).await.unwrap(), expected);
    store
        .delete_chat(chat.principal.account, chat.id)
        .await
        .unwrap();
    assert!(store.alternative_answers(chat.id).await.unwrap().is_empty());
}
