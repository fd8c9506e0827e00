//! What the guard lets through, against servers on this machine, which is where it must not let anybody.
#![expect(
    clippy::unwrap_used,
    reason = "clippy spares only the test functions themselves"
)]

mod redirects;
mod site;
mod spellings;

use std::{
    io,
    net::IpAddr,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use outbound::{Allowed, Answer, Fault, Limits, Lookup, Outbound, Request};
use reqwest::Method;
use site::Site;

const LIMITS: Limits = Limits {
    time: Duration::from_secs(20),
    body_bytes: 1_000,
    hops: 3,
};

fn allowing(entries: &[&str]) -> Allowed {
    let entries: Vec<String> = entries.iter().map(|entry| (*entry).to_owned()).collect();
    Allowed::parse(&entries).unwrap()
}

/// A resolver that returns the addresses of `answer` for the first, second… lookup.
fn names(answer: impl Fn(&str, usize) -> Vec<&'static str> + Send + Sync + 'static) -> Lookup {
    let asked = AtomicUsize::new(0);
    Arc::new(move |name| {
        let found = answer(&name, asked.fetch_add(1, Ordering::SeqCst));
        let found: Vec<IpAddr> = found
            .into_iter()
            .map(|address| address.parse().unwrap())
            .collect();
        Box::pin(async move {
            match found.is_empty() {
                true => Err(io::Error::other("no such name")),
                false => Ok(found),
            }
        })
    })
}

async fn get(outbound: &Outbound, url: &str) -> Result<Answer, Fault> {
    let url = url.parse().map_err(|_| Fault::NoAddress)?;
    outbound.send(Request::new(Method::GET, url, LIMITS)).await
}

#[tokio::test]
async fn a_name_of_this_machine_is_refused_without_details() {
    let site = Site::start(|_| site::text("secret"));
    for address in [
        "127.0.0.1",
        "::1",
        "0.0.0.0",
        "10.0.0.1",
        "::ffff:127.0.0.1",
        "64:ff9b::7f00:1",
    ] {
        let outbound = Outbound::with_lookup(Allowed::default(), names(move |_, _| vec![address]));
        let fault = get(&outbound, &format!("http://a.example:{}/", site.port))
            .await
            .unwrap_err();
        assert_eq!(fault, Fault::NotAllowed, "{address}");
        let words = format!("{fault} {fault:?}");
        assert!(
            !words.contains(address) && !words.contains("a.example") && !words.contains("secret"),
            "{words}"
        );
    }
    assert_eq!(site.requests(), Vec::<String>::new());
}

#[tokio::test]
async fn of_the_addresses_of_a_name_only_those_that_are_let_are_connected_to() {
    let site = Site::start(|_| site::text("here"));
    // The second loopback address has no listener: using the first one gives a response.
    let lookup = names(|_, _| vec!["127.0.0.1", "127.0.0.77"]);
    let outbound = Outbound::with_lookup(allowing(&["127.0.0.77"]), lookup);
    let fault = get(&outbound, &format!("http://a.example:{}/", site.port))
        .await
        .unwrap_err();
    assert_eq!((fault, site.requests().len()), (Fault::Unreachable, 0));
}

#[tokio::test]
async fn dns_rebinding_has_no_effect() {
    let inside = Site::start(|_| site::text("inside"));
    let outside = Site::start_at("127.0.0.2", inside.port, |_| {
        site::text("outside").closing()
    });
    // The first lookup is allowed, later ones return this machine.
    let flip = || names(|_, asked| vec![if asked == 0 { "127.0.0.2" } else { "127.0.0.1" }]);
    let outbound = Outbound::with_lookup(allowing(&["127.0.0.2"]), flip());
    let url = format!("http://a.example:{}/", inside.port);
    assert_eq!(get(&outbound, &url).await.unwrap().body, "outside");
    assert_eq!(
        get(&outbound, &url).await.unwrap_err(),
        Fault::NotAllowed,
        "a new connection asks anew"
    );
    assert_eq!((inside.requests().len(), outside.requests().len()), (0, 1));
}

#[tokio::test]
async fn listed_hosts_may_have_any_address() {
    let site = Site::start(|_| site::text("here"));
    let here = format!("http://127.0.0.1:{}/", site.port);
    assert_eq!(
        get(&Outbound::new(Allowed::default()), &here)
            .await
            .unwrap_err(),
        Fault::NotAllowed
    );
    assert_eq!(
        get(&Outbound::new(allowing(&["127.0.0.0/8"])), &here)
            .await
            .unwrap()
            .body,
        "here"
    );
    let named = format!("http://localhost:{}/", site.port);
    assert_eq!(
        get(&Outbound::new(allowing(&["localhost"])), &named)
            .await
            .unwrap()
            .body,
        "here"
    );
    assert_eq!(
        get(&Outbound::new(allowing(&["other"])), &named)
            .await
            .unwrap_err(),
        Fault::NotAllowed
    );
    let chosen =
        Request::new(Method::GET, here.parse().unwrap(), LIMITS).chosen(&["127.0.0.1".to_owned()]);
    assert_eq!(
        Outbound::new(Allowed::default())
            .send(chosen)
            .await
            .unwrap()
            .body,
        "here"
    );
}

#[tokio::test]
async fn limits_are_enforced() {
    let site = Site::start(|asked| match asked.path() {
        "/large" => site::text(&"x".repeat(1_001)),
        "/fits" => site::text(&"x".repeat(1_000)),
        "/bomb" => site::text("\u{1f}").with("content-encoding: gzip"),
        "/silent" => site::silent(),
        _ => site::text("?"),
    });
    let outbound = Outbound::new(allowing(&["127.0.0.1"]));
    let at = |path: &str| format!("http://127.0.0.1:{}{path}", site.port);
    assert_eq!(
        get(&outbound, &at("/fits")).await.unwrap().body.len(),
        1_000
    );
    assert_eq!(
        get(&outbound, &at("/large")).await.unwrap_err(),
        Fault::TooLarge
    );
    assert_eq!(
        get(&outbound, &at("/bomb")).await.unwrap_err(),
        Fault::Compressed
    );
    for (path, size) in [
        ("/large", Ok(1_000)),
        ("/fits", Ok(1_000)),
        ("/bomb", Err(Fault::Compressed)),
    ] {
        let request = Request::new(Method::GET, at(path).parse().unwrap(), LIMITS).cut();
        assert_eq!(
            outbound.send(request).await.map(|answer| answer.body.len()),
            size,
            "{path}"
        );
    }
    assert!(
        site.requests()
            .iter()
            .all(|asked| asked.contains("accept-encoding: identity"))
    );
    let limits = Limits {
        time: Duration::from_millis(200),
        ..LIMITS
    };
    let request = Request::new(Method::GET, at("/silent").parse().unwrap(), limits);
    assert_eq!(outbound.send(request).await.unwrap_err(), Fault::Slow);
    let head = Limits {
        body_bytes: 0,
        ..LIMITS
    };
    let request = Request::new(Method::GET, at("/large").parse().unwrap(), head);
    assert_eq!(outbound.send(request).await.unwrap().body.len(), 0);
}

#[tokio::test]
async fn missing_servers_and_unknown_names_give_the_same_error() {
    let outbound = Outbound::with_lookup(allowing(&["127.0.0.0/8"]), names(|_, _| vec![]));
    let gone = Site::start(|_| site::text("")).port;
    assert_eq!(
        get(&outbound, "http://nowhere.example/").await.unwrap_err(),
        Fault::Unreachable
    );
    // Its listener keeps running, but port 1 is unused.
    assert_ne!(gone, 1);
    assert_eq!(
        get(&outbound, "http://127.0.0.9:65000/").await.unwrap_err(),
        Fault::Unreachable
    );
}
