//! The bus with a real Redis or Valkey: the program that `GLASSHOUSE_TEST_REDIS_PROGRAM` names, or one that is installed.
#![expect(
    clippy::unwrap_used,
    reason = "clippy spares only the test functions themselves"
)]

use std::{
    env,
    path::PathBuf,
    process::{Child, Command, Stdio},
    sync::atomic::Ordering::Relaxed,
    time::Duration,
};

use bus::{Audience, Bus, Delivery, KEY_BYTES, check_url};
use tokio::{
    net::{TcpListener, TcpStream},
    sync::mpsc,
    task::JoinSet,
    time::sleep,
};
use tokio_util::sync::CancellationToken;

const KEY: [u8; KEY_BYTES] = [1; KEY_BYTES];

/// A server of our own; killed when this is dropped.
struct Redis {
    child: Child,
    port: u16,
}

impl Redis {
    /// Starts one; `None` if its program is not installed.
    async fn start() -> Option<Self> {
        let variable = |wanted: &str| {
            env::vars_os()
                .find(|(name, value)| name == wanted && !value.is_empty())
                .map(|(_, value)| value)
        };
        let named = variable("GLASSHOUSE_TEST_REDIS_PROGRAM").map(PathBuf::from);
        let found = named.or_else(|| {
            let path = variable("PATH")?;
            let mut programs = env::split_paths(&path)
                .flat_map(|folder| ["redis-server", "valkey-server"].map(|name| folder.join(name)));
            programs.find(|program| program.is_file())
        });
        let Some(program) = found else {
            assert!(
                variable("GLASSHOUSE_TEST_REQUIRE").is_none(),
                "the whole test run needs Redis or Valkey"
            );
            return None;
        };
        let free = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let port = free.local_addr().unwrap().port();
        drop(free);
        let child = Command::new(program)
            .args(["--bind", "127.0.0.1", "--save", "", "--port"])
            .arg(port.to_string())
            .stdout(Stdio::null())
            .spawn()
            .unwrap();
        let redis = Self { child, port };
        while TcpStream::connect(("127.0.0.1", port)).await.is_err() {
            sleep(Duration::from_millis(10)).await;
        }
        Some(redis)
    }

    fn bus(&self, key: &[u8; KEY_BYTES]) -> Bus {
        Bus::new(&format!("redis://127.0.0.1:{}", self.port), key).unwrap()
    }
}

impl Drop for Redis {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Buses that run until they are dropped.
#[derive(Default)]
struct Running(JoinSet<()>);

impl Running {
    async fn start(&mut self, bus: &Bus) {
        self.0.spawn(bus.clone().run(CancellationToken::new()));
        let mut state = bus.state().unwrap();
        state.wait_for(|is_up| *is_up).await.unwrap();
    }
}

async fn subscribed(bus: &Bus, channel: &str) -> mpsc::Receiver<Delivery> {
    let (sender, mut receiver) = mpsc::channel(16);
    bus.subscribe(channel, &sender);
    assert_eq!(
        receiver.recv().await,
        Some(Delivery::Subscribed(channel.into()))
    );
    receiver
}

#[tokio::test]
async fn messages_reach_other_servers_with_the_key_and_nobody_else() {
    let Some(redis) = Redis::start().await else {
        return;
    };
    let mut running = Running::default();
    let [a, b] = [redis.bus(&KEY), redis.bus(&KEY)];
    let stranger = redis.bus(&[2; KEY_BYTES]);
    for bus in [&a, &b, &stranger] {
        running.start(bus).await;
    }
    let mut at_a = subscribed(&a, "news").await;
    let mut at_b = subscribed(&b, "news").await;
    let mut at_stranger = subscribed(&stranger, "news").await;
    let message = |content: &'static str| Delivery::Message {
        channel: "news".into(),
        content: content.into(),
    };
    a.publish("other", "no server subscribes to this");
    a.publish("news", "1");
    a.publish("news", "2");
    assert_eq!(at_b.recv().await, Some(message("1")));
    assert_eq!(at_b.recv().await, Some(message("2")));
    b.publish("news", "3");
    assert_eq!(
        at_a.recv().await,
        Some(message("3")),
        "its own are not heard"
    );
    stranger.publish("news", "4");
    b.unsubscribe("news");
    assert_eq!(at_b.recv().await, None);
    assert!(at_stranger.try_recv().is_err());
    assert_eq!(b.counts().unwrap().received.load(Relaxed), 2);
}

#[tokio::test]
async fn what_nobody_hears_is_no_longer_sent() {
    let Some(redis) = Redis::start().await else {
        return;
    };
    let mut running = Running::default();
    let [a, b] = [redis.bus(&KEY), redis.bus(&KEY)];
    running.start(&a).await;
    running.start(&b).await;
    let audience = Audience::expected_at_first();
    while audience.is_expected() {
        a.publish_to(&audience, "news", "is anybody there?");
        sleep(Duration::from_millis(1)).await;
    }
    let mut news = subscribed(&b, "news").await;
    a.publish_to(&audience, "news", "not sent");
    audience.renew();
    a.publish_to(&audience, "news", "sent");
    let heard = Delivery::Message {
        channel: "news".into(),
        content: "sent".into(),
    };
    assert_eq!(news.recv().await, Some(heard));
    assert!(audience.is_expected());
}

#[tokio::test]
async fn without_a_bus_nothing_happens() {
    let none = Bus::none();
    none.publish("news", "1");
    assert!(!none.is_up() && !none.is_configured());
    none.check().await.unwrap();
    none.run(CancellationToken::new()).await;
    for invalid in ["", "http://127.0.0.1", "redis", "redis://"] {
        assert!(check_url(invalid).is_err(), "{invalid}");
    }
    check_url("rediss://:secret@valkey.example.org:6380").unwrap();
    let unreachable = Bus::new("redis://127.0.0.1:1", &KEY).unwrap();
    assert!(unreachable.check().await.is_err());
}
