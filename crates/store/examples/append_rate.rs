//! Prints how fast events are stored: `cargo run --release -p store --example append_rate`. With
//! `GLASSHOUSE_TEST_POSTGRES_URL` set it measures that database too, and removes what it wrote.
#![expect(clippy::print_stdout, reason = "printing is what it is for")]

use std::time::{Duration, Instant};

use domain::{RunId, UserId};
use store::{NewRun, NewUser, Segment, Store, StoreError, UserRole};
use tokio::task::JoinSet;

const PRODUCERS: usize = 256;
const SEGMENTS_EACH: u64 = 400;
const ALONE: u64 = 2_000;
/// About as many events as a model writes in 50 ms.
const LINES: &str = concat!(
    r#"{"run":"run_0192f0c1d2e3f4a5b6c7d8e9fa0b1c2d","seq":17,"at":1790000000000,"#,
    r#""body":{"type":"text_delta","item":"t1","delta":"the quick brown fox "}}"#,
    "\n",
    r#"{"run":"run_0192f0c1d2e3f4a5b6c7d8e9fa0b1c2d","seq":18,"at":1790000000003,"#,
    r#""body":{"type":"text_delta","item":"t1","delta":"jumps over the lazy dog"}}"#,
    "\n",
);

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let folder = std::env::temp_dir().join(format!("append_rate_{}", RunId::generate()));
    std::fs::create_dir(&folder)?;
    let measured = measure("SQLite", &format!("sqlite://{}/rate.db", folder.display())).await;
    std::fs::remove_dir_all(&folder)?;
    measured?;
    #[expect(
        clippy::disallowed_methods,
        reason = "a measuring tool without a configuration"
    )]
    if let Ok(url) = std::env::var("GLASSHOUSE_TEST_POSTGRES_URL") {
        measure("PostgreSQL", &url).await?;
    }
    Ok(())
}

async fn measure(name: &str, url: &str) -> Result<(), StoreError> {
    let store = Store::open(url).await?;
    let user = NewUser {
        id: UserId::generate(),
        email: UserId::generate().to_string(),
        name: String::new(),
        role: UserRole::User,
        password_hash: String::new(),
        created_at: 0,
    };
    let owner = store.create_user(&user).await?.id;

    let run = new_run(&store, owner).await?;
    let mut times = Vec::new();
    for seq in 0..ALONE {
        let start = Instant::now();
        store.append(segment(run, seq)).await?;
        times.push(start.elapsed());
    }
    times.sort_unstable();
    let [median, p99] = [50, 99].map(|percent| times[times.len() * percent / 100]);

    let mut producers = JoinSet::new();
    for _ in 0..PRODUCERS {
        let (store, run) = (store.clone(), new_run(&store, owner).await?);
        producers.spawn(async move { produce(&store, run).await });
    }
    let start = Instant::now();
    for outcome in producers.join_all().await {
        outcome?;
    }
    let rate = (PRODUCERS as u64 * SEGMENTS_EACH) as f64
        / start.elapsed().max(Duration::from_nanos(1)).as_secs_f64();
    println!(
        "{name}: alone median {median:.0?}, p99 {p99:.0?}; {PRODUCERS} producers {rate:.0} segments/s"
    );
    for run in store.unfinished_runs().await? {
        store
            .finish_run(run.id, 0, &domain::RunSummary::default())
            .await?;
    }
    store.purge_runs(i64::MAX).await?;
    store.close().await;
    Ok(())
}

async fn produce(store: &Store, run: RunId) -> Result<(), StoreError> {
    for seq in 0..SEGMENTS_EACH {
        store.append(segment(run, seq)).await?;
    }
    Ok(())
}

fn segment(run: RunId, number: u64) -> Segment {
    Segment {
        run,
        first_seq: number * 2 + 1,
        last_seq: number * 2 + 2,
        lines: LINES.into(),
    }
}

async fn new_run(store: &Store, owner: UserId) -> Result<RunId, StoreError> {
    let id = RunId::generate();
    let run = NewRun {
        id,
        principal: store::Principal::of_account(owner),
        key_models: None,
        chat: None,
        message: None,
        model: "none".to_owned(),
        started_at: 0,
        request: None,
        idempotency: None,
        origin: None,
        research: None,
        workspace: None,
    };
    store.create_run(&run).await?;
    Ok(id)
}
