//! What is brought from elsewhere: a chat with all of it or nothing, facts up to the limit, and pages of what is taken along.

use domain::{ChatId, FactId, MessageId, ModelParameters, RunId, UserId};
use store::{Chat, ChatMessage, ChatOrganization, EndedRun, Fact, Segment, Store, StoreError};

use crate::fixtures::{add_chat, add_run, add_user, new_turn, summary};

on_every_database!(
    a_chat_import_is_atomic,
    facts_are_brought_up_to_the_limit,
    pages_have_everything_once
);

fn chat_of(owner: UserId) -> (Chat, Vec<ChatMessage>, EndedRun) {
    let id = ChatId::generate();
    let run = RunId::generate();
    let title = "Brought".to_owned();
    let chat = Chat {
        id,
        principal: store::Principal::of_account(owner),
        title,
        current: None,
        directory: None,
        parameters: ModelParameters::default(),
        created_at: 3,
        updated_at: 9,
        unread: true,
        expires_at: None,
        order: ChatOrganization::default(),
    };
    let turn = new_turn(&chat, None, "Question\0", 5);
    let asked = turn.user.unwrap();
    let answer = MessageId::generate();
    let chat = Chat {
        current: Some(answer),
        ..chat
    };
    let answer = ChatMessage {
        id: answer,
        parent: Some(asked.id),
        run: Some(run),
        ..turn.assistant
    };
    let run = EndedRun {
        id: run,
        message: Some(answer.id),
        model: "m".to_owned(),
        started_at: 5,
        finished_at: 6,
        summary: summary("A"),
    };
    (chat, vec![asked, answer], run)
}

async fn a_chat_import_is_atomic(store: Store) {
    let owner = add_user(&store).await;
    let (chat, messages, run) = chat_of(owner);
    let segment = |first_seq, last_seq| Segment {
        run: run.id,
        first_seq,
        last_seq,
        lines: "{}\n".into(),
    };
    let log = [segment(1, 2), segment(1_000_001, 1_000_001)];
    let bring = async |commit: bool| {
        let mut import = store.import_chat(chat.clone(), &messages).await?;
        import.add_run(&run).await?;
        for segment in &log {
            import.add_log(segment).await?;
        }
        import.add_file("/a", 7, 4, &[0, 1]).await?;
        if commit {
            import.commit().await
        } else {
            Ok(())
        }
    };
    bring(false).await.unwrap();
    assert_eq!(
        store
            .chat(&store::Principal::of_account(owner), chat.id)
            .await,
        Err(StoreError::NotFound)
    );
    bring(true).await.unwrap();
    assert_eq!(bring(true).await, Err(StoreError::Conflict("id")));

    assert_eq!(
        store
            .chat(&store::Principal::of_account(owner), chat.id)
            .await,
        Ok(chat.clone())
    );
    assert_eq!(store.messages(chat.id).await.unwrap(), messages);
    assert_eq!(store.events_after(run.id, 0, 1_000).await.unwrap(), log);
    let stored = store.runs_in(chat.id).await.unwrap();
    assert_eq!(
        (
            stored.len(),
            stored[0].principal.account,
            stored[0].finished_at
        ),
        (1, owner, Some(6))
    );
    assert_eq!(stored[0].summary.as_ref(), Some(&run.summary));
    let file = store
        .read_file(&chat.id.to_string(), "/a")
        .await
        .unwrap()
        .unwrap();
    assert_eq!((file.version, file.content), (7, vec![0, 1]));
    assert!(store.unfinished_runs().await.unwrap().is_empty());
    assert!(
        store
            .chats_to_learn_from(i64::MAX, i64::MAX, 10)
            .await
            .unwrap()
            .is_empty()
    );

    // Nothing of another's chat, nor of nobody's.
    let (other, messages, _) = chat_of(owner);
    let mut import = store.import_chat(other, &messages).await.unwrap();
    assert_eq!(
        import.add_log(&segment(3, 3)).await,
        Err(StoreError::NotFound)
    );
    assert_eq!(import.add_run(&run).await, Err(StoreError::Conflict("id")));
    drop(import);
    let (nobodys, messages, _) = chat_of(UserId::generate());
    assert_eq!(
        store.import_chat(nobodys, &messages).await.err(),
        Some(StoreError::NotFound)
    );
    let (chat, mut messages, _) = chat_of(owner);
    messages.reverse();
    assert_eq!(
        store.import_chat(chat, &messages).await.err(),
        Some(StoreError::Conflict("parent"))
    );
}

async fn facts_are_brought_up_to_the_limit(store: Store) {
    let owner = add_user(&store).await;
    let other = add_user(&store).await;
    let own = add_chat(&store, owner, "a", 1).await;
    let theirs = add_chat(&store, other, "b", 1).await;
    let fact = |chat| Fact {
        id: FactId::generate(),
        text: "Likes tides.".to_owned(),
        chat: Some(chat),
        message: Some(MessageId::generate()),
        learned_at: 4,
        corrected: true,
    };
    let first = fact(own.id);
    let second = fact(theirs.id);
    assert_eq!(store.import_fact(owner, &first, 2).await, Ok(true));
    assert_eq!(store.import_fact(owner, &first, 2).await, Ok(false));
    assert_eq!(store.import_fact(other, &first, 2).await, Ok(false));
    assert_eq!(store.import_fact(owner, &second, 2).await, Ok(true));
    assert_eq!(store.import_fact(owner, &fact(own.id), 2).await, Ok(false));
    assert_eq!(
        store.facts(owner).await.unwrap(),
        [
            first,
            Fact {
                chat: None,
                ..second
            }
        ]
    );
    assert!(store.facts(other).await.unwrap().is_empty());
}

async fn pages_have_everything_once(store: Store) {
    let owner = add_user(&store).await;
    let other = add_user(&store).await;
    let mut chats = Vec::new();
    let mut runs = Vec::new();
    for _ in 0..5 {
        chats.push(add_chat(&store, owner, "c", 7).await);
        add_chat(&store, other, "c", 7).await;
        runs.push(add_run(&store, owner).await);
        add_run(&store, other).await;
    }
    let mut paged = Vec::new();
    let mut after = None;
    loop {
        let page = store.chats_made_after(owner, after, 2).await.unwrap();
        let Some(last) = page.last() else { break };
        after = Some(last.id);
        paged.extend(page);
    }
    assert_eq!(paged, chats);
    let mut paged = Vec::new();
    let mut after = None;
    loop {
        let page = store
            .runs_without_chat_after(owner, after, 2)
            .await
            .unwrap();
        let Some(last) = page.last() else { break };
        after = Some(last.id);
        paged.extend(page.iter().map(|run| run.id));
    }
    assert_eq!(paged, runs);
}
