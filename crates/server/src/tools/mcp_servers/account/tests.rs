//! Concurrent token refreshes: two servers on one database, and an authorization server that is slow, faulty or down.

use std::sync::{
    Mutex,
    atomic::{AtomicUsize, Ordering},
};

use axum::{Json, Router, extract::State, http::StatusCode, response::IntoResponse, routing::post};
use outbound::Allowed;
use serde_json::{Value, json};
use store::{NewUser, UserRole};
use tokio::{net::TcpListener, sync::Semaphore};
use tokio_util::task::TaskTracker;

use super::*;

const HOUR_MS: i64 = 3_600_000;

/// A token endpoint with refresh tokens that each work once.
struct Desks {
    /// The refresh tokens that are still valid.
    good: Mutex<Vec<String>>,
    asked: AtomicUsize,
    /// A response instead of the normal one.
    odd: Mutex<Option<(u16, Value)>>,
    /// Each successful response waits for one of these.
    may_answer: Semaphore,
}

async fn token(State(desks): State<Arc<Desks>>, form: String) -> impl IntoResponse {
    let number = desks.asked.fetch_add(1, Ordering::SeqCst) + 1;
    // The state changes before the response: the old token is used up now.
    let said = match desks.odd.lock().unwrap().clone() {
        Some(odd) => odd,
        None => {
            let mut good = desks.good.lock().unwrap();
            let used = good
                .iter()
                .position(|token| form.contains(&format!("refresh_token={token}")));
            match used.map(|place| good.remove(place)) {
                None => (400, json!({ "error": "invalid_grant" })),
                Some(_) => {
                    let next = format!("refresh-{number}");
                    good.push(next.clone());
                    let access = format!("access-{number}");
                    (
                        200,
                        json!({ "access_token": access, "refresh_token": next, "expires_in": 3600 }),
                    )
                }
            }
        }
    };
    let waits = if said.0 == 200 {
        Some(desks.may_answer.acquire().await.unwrap())
    } else {
        None
    };
    if let Some(permit) = waits {
        permit.forget();
    }
    (StatusCode::from_u16(said.0).unwrap(), Json(said.1))
}

struct Setting {
    desks: Arc<Desks>,
    /// The same user's account, on two servers.
    one: Account,
    two: Account,
    tasks: TaskTracker,
    _folder: tempfile::TempDir,
}

impl Setting {
    /// A user who has signed in, with tokens that have expired.
    async fn open() -> Self {
        let desks = Arc::new(Desks {
            good: Mutex::new(vec!["refresh-0".to_owned()]),
            asked: AtomicUsize::new(0),
            odd: Mutex::new(None),
            may_answer: Semaphore::new(0),
        });
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url: Url = format!("http://{}/", listener.local_addr().unwrap())
            .parse()
            .unwrap();
        let tasks = TaskTracker::new();
        let routes = Router::new()
            .route("/token", post(token))
            .with_state(Arc::clone(&desks));
        tasks.spawn(async move { axum::serve(listener, routes).await });
        let store = Store::open("sqlite::memory:").await.unwrap();
        let user = UserId::generate();
        let new = NewUser {
            id: user,
            email: "ada@example.org".to_owned(),
            name: "Ada".to_owned(),
            role: UserRole::User,
            password_hash: "x".to_owned(),
            created_at: 0,
        };
        store.create_user(&new).await.unwrap();
        let folder = tempfile::tempdir().unwrap();
        let clock = Clock::movable(1_800_000_000_000);
        let account = || {
            let vault = Vault {
                store: store.clone(),
                sealer: Arc::new(
                    crate::platform::secret_key::SecretKey::DataFolder(folder.path().into())
                        .open()
                        .unwrap(),
                ),
                clock: clock.clone(),
                http: HttpClient::new().unwrap(),
                outbound: Outbound::new(Allowed::default()),
            };
            let chosen = vec!["127.0.0.1".to_owned()];
            Account {
                vault: Arc::new(vault),
                server: "notes".to_owned(),
                url: url.clone(),
                chosen,
                user,
            }
        };
        let one = account();
        let two = account();
        let grant = Grant {
            id: "first".to_owned(),
            claimed_until: 0,
            url: url.to_string(),
            resource: url.to_string(),
            client: serde_json::from_value(json!({ "id": "gh", "secret": null, "method": "None" }))
                .unwrap(),
            token: format!("{url}token"),
            revoke: None,
            access: "access-0".to_owned(),
            refresh: Some("refresh-0".to_owned()),
            expires_at: Some(clock.now_ms() + HOUR_MS),
        };
        one.put(&Credential::Grant(grant)).await.unwrap();
        assert_eq!(two.token(None).await, Ok("access-0".to_owned()));
        clock.advance_ms(HOUR_MS);
        Self {
            desks,
            one,
            two,
            tasks,
            _folder: folder,
        }
    }

    fn asks(&self, account: &Account) -> tokio::task::JoinHandle<Result<String, NoBearer>> {
        let account = account.clone();
        self.tasks.spawn(async move { account.token(None).await })
    }

    /// Waits until the endpoint has received `count` requests.
    async fn asked(&self, count: usize) {
        while self.desks.asked.load(Ordering::SeqCst) < count {
            tokio::task::yield_now().await;
        }
    }

    async fn has_lapsed(&self) -> bool {
        matches!(
            self.one.read().await.unwrap(),
            Some(Credential::Lapsed { .. })
        )
    }
}

#[tokio::test]
async fn of_two_servers_one_renews() {
    let setting = Setting::open().await;
    let asking: Vec<_> = [&setting.one, &setting.two, &setting.one]
        .into_iter()
        .map(|account| setting.asks(account))
        .collect();
    setting.asked(1).await;
    setting.desks.may_answer.add_permits(10);
    for one in asking {
        assert_eq!(one.await.unwrap(), Ok("access-1".to_owned()));
    }
    assert_eq!(setting.desks.asked.load(Ordering::SeqCst), 1);
}

#[tokio::test]
async fn good_tokens_outlive_the_failure_of_another_server_with_the_old_ones() {
    let setting = Setting::open().await;
    let slow = setting.asks(&setting.one);
    setting.asked(1).await;
    // The first server takes too long, so the second one takes over its claim and finds the old token used up.
    setting.one.vault.clock.advance_ms(CLAIM_MS + 1);
    assert_eq!(setting.two.token(None).await, Err(NoBearer::SignIn));
    assert!(setting.has_lapsed().await);
    setting.desks.may_answer.add_permits(10);
    assert_eq!(slow.await.unwrap(), Ok("access-1".to_owned()));
    assert_eq!(setting.two.token(None).await, Ok("access-1".to_owned()));
}

#[tokio::test]
async fn a_sign_out_and_a_new_sign_in_meanwhile_stay() {
    let setting = Setting::open().await;
    let slow = setting.asks(&setting.one);
    setting.asked(1).await;
    setting.two.forget().await.unwrap();
    setting.desks.may_answer.add_permits(10);
    assert_eq!(slow.await.unwrap(), Err(NoBearer::SignIn));
    assert!(setting.one.read().await.unwrap().is_none());
    // Nor does a grant replace another one that has lapsed.
    let setting = Setting::open().await;
    let slow = setting.asks(&setting.one);
    setting.asked(1).await;
    setting
        .two
        .put(&Credential::Lapsed {
            of: "second".to_owned(),
        })
        .await
        .unwrap();
    setting.desks.may_answer.add_permits(10);
    assert_eq!(slow.await.unwrap(), Err(NoBearer::SignIn));
    assert!(setting.has_lapsed().await);
}

#[tokio::test]
async fn only_what_says_that_the_sign_in_is_over_ends_it() {
    for (status, said, lapses) in [
        (400, json!({ "error": "invalid_grant" }), true),
        (401, json!({ "error": "invalid_client" }), true),
        (400, json!({ "error": "unauthorized_client" }), true),
        (400, json!({ "error": "invalid_request" }), false),
        (400, json!({ "error": "temporarily_unavailable" }), false),
        (400, json!({ "error": "slow_down" }), false),
        (403, json!({ "error": "access_denied" }), false),
        (429, json!({ "error": "invalid_request" }), false),
        (503, json!({ "error": "invalid_grant" }), false),
        (500, json!(null), false),
        (404, json!("gone"), false),
        (200, json!({ "error": "?" }), false),
    ] {
        let setting = Setting::open().await;
        setting.desks.may_answer.add_permits(10);
        *setting.desks.odd.lock().unwrap() = Some((status, said.clone()));
        let answer = setting.one.token(None).await;
        assert_eq!(
            answer == Err(NoBearer::SignIn),
            lapses,
            "{status} {said}: {answer:?}"
        );
        assert!(
            answer.is_err() && setting.has_lapsed().await == lapses,
            "{status} {said}: {answer:?}"
        );
        // If the grant was kept, it is retried at once, by the other server too.
        *setting.desks.odd.lock().unwrap() = None;
        let again = if lapses {
            Err(NoBearer::SignIn)
        } else {
            Ok("access-2".to_owned())
        };
        assert_eq!(setting.two.token(None).await, again, "{status} {said}");
    }
}

#[tokio::test]
async fn a_token_that_still_holds_is_used_while_it_cannot_be_renewed() {
    let setting = Setting::open().await;
    setting.one.vault.clock.advance_ms(-MARGIN_MS / 2);
    *setting.desks.odd.lock().unwrap() = Some((500, json!(null)));
    assert_eq!(setting.one.token(None).await, Ok("access-0".to_owned()));
    assert_eq!(setting.desks.asked.load(Ordering::SeqCst), 1);
    let refused = setting.one.token(Some("access-0".to_owned())).await;
    assert!(matches!(refused, Err(NoBearer::Fault(_))), "{refused:?}");
}
