//! Users, chats, messages and runs to test with.

use domain::{ChatId, MessageId, ModelParameters, Outcome, Part, Role, RunId, RunSummary, UserId};
use store::{
    Chat, ChatMessage, NewRun, NewTurn, NewUser, Segment, SessionLifetime, Store, UserRole,
};

pub(crate) fn new_user(email: &str) -> NewUser {
    NewUser {
        id: UserId::generate(),
        email: email.to_owned(),
        name: "Ann Example".to_owned(),
        role: UserRole::User,
        password_hash: "$argon2id$…".to_owned(),
        created_at: 1_000,
    }
}

/// A stored user with an address of its own.
pub(crate) async fn add_user(store: &Store) -> UserId {
    let user = new_user(&format!("{}@example.org", UserId::generate()));
    store.create_user(&user).await.unwrap().id
}

/// A stored chat that was last changed at `updated_at`.
pub(crate) async fn add_chat(store: &Store, owner: UserId, title: &str, updated_at: i64) -> Chat {
    let chat = Chat {
        id: ChatId::generate(),
        principal: store::Principal::of_account(owner),
        title: title.to_owned(),
        current: None,
        directory: None,
        parameters: ModelParameters::default(),
        created_at: 1_000,
        updated_at,
        unread: false,
        expires_at: None,
        order: store::ChatOrganization::default(),
    };
    store.create_chat(&chat).await.unwrap();
    chat
}

pub(crate) fn text(text: &str) -> Vec<Part> {
    vec![Part::Text {
        text: text.to_owned(),
    }]
}

/// A turn that asks `question` below `parent`.
pub(crate) fn new_turn(
    chat: &Chat,
    parent: Option<MessageId>,
    question: &str,
    now: i64,
) -> NewTurn {
    let user = ChatMessage {
        id: MessageId::generate(),
        chat: chat.id,
        parent,
        role: Role::User,
        content: text(question),
        created_at: now,
        model: None,
        run: None,
        summary: None,
        schedule: None,
        author: None,
    };
    let run = NewRun {
        id: RunId::generate(),
        principal: chat.principal.clone(),
        key_models: None,
        chat: Some(chat.id),
        message: Some(MessageId::generate()),
        model: "tour".to_owned(),
        started_at: now,
        request: Some("{}".to_owned()),
        idempotency: None,
        origin: None,
        research: None,
        workspace: None,
    };
    let assistant = ChatMessage {
        id: run.message.unwrap(),
        parent: Some(user.id),
        role: Role::Assistant,
        content: vec![],
        model: Some(run.model.clone()),
        run: Some(run.id),
        ..user.clone()
    };
    NewTurn {
        user: Some(user),
        assistant,
        run,
        title: None,
        beside: None,
        queued: None,
    }
}

/// A stored run without a chat.
pub(crate) async fn add_run(store: &Store, owner: UserId) -> RunId {
    let id = RunId::generate();
    let run = NewRun {
        id,
        principal: store::Principal::of_account(owner),
        key_models: None,
        chat: None,
        message: None,
        model: "tour".to_owned(),
        started_at: 1_000,
        request: None,
        idempotency: None,
        origin: None,
        research: None,
        workspace: None,
    };
    store.create_run(&run).await.unwrap();
    id
}

/// A segment of events `first_seq..=last_seq`, each line naming its number.
pub(crate) fn segment(run: RunId, first_seq: u64, last_seq: u64) -> Segment {
    let lines: String = (first_seq..=last_seq)
        .map(|seq| format!("{{\"seq\":{seq}}}\n"))
        .collect();
    Segment {
        run,
        first_seq,
        last_seq,
        lines: lines.into(),
    }
}

pub(crate) fn summary(answer: &str) -> RunSummary {
    let mut summary = RunSummary::default();
    summary.answer = answer.to_owned();
    summary.tools = 3;
    summary.outcome = Some(Outcome::Completed);
    summary
}

/// Sessions that are as good as without end.
pub(crate) const LONG: SessionLifetime = SessionLifetime {
    unused_ms: 1_000_000_000,
    max_ms: 1_000_000_000,
};
