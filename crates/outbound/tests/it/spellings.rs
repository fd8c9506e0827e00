//! Alternative and invalid spellings of local addresses; each is refused, by the URL check or by the resolver.

use outbound::{Allowed, Fault, Outbound};

use crate::{
    get, names,
    site::{self, Site},
};

/// `PORT` is replaced by a listening port of this machine.
const SPELLINGS: [&str; 66] = [
    "http://127.0.0.1:PORT/",
    "http://127.1:PORT/",
    "http://127.0.1:PORT/",
    "http://127.255.255.254:PORT/",
    "http://2130706433:PORT/",
    "http://0x7f000001:PORT/",
    "http://0x7f.0.0.1:PORT/",
    "http://0X7F.1:PORT/",
    "http://0177.0.0.1:PORT/",
    "http://017700000001:PORT/",
    "http://0x7f.0.0x0.01:PORT/",
    "http://127.0.0.1.:PORT/",
    "http://127.1.:PORT/",
    "http://0:PORT/",
    "http://0.0.0.0:PORT/",
    "http://0x0:PORT/",
    "http://00000.0:PORT/",
    "http://%31%32%37.0.0.1:PORT/",
    "http://127%2e0%2e0%2e1:PORT/",
    "http://%30x7f.1:PORT/",
    "http://127。0。0。1:PORT/",
    "http://127．0．0．1:PORT/",
    "http://１２７.０.０.１:PORT/",
    "http://①②⑦.⓪.⓪.①:PORT/",
    "http://localhost:PORT/",
    "http://LOCALHOST:PORT/",
    "http://localhost.:PORT/",
    "http://ｌｏｃａｌｈｏｓｔ:PORT/",
    "http://lo%63alhost:PORT/",
    "http://foo.localhost:PORT/",
    "http://[::1]:PORT/",
    "http://[::]:PORT/",
    "http://[0:0:0:0:0:0:0:1]:PORT/",
    "http://[0000::0001]:PORT/",
    "http://[::ffff:127.0.0.1]:PORT/",
    "http://[::ffff:7f00:1]:PORT/",
    "http://[::FFFF:0x7f00:1]:PORT/",
    "http://[::127.0.0.1]:PORT/",
    "http://[::ffff:0:127.0.0.1]:PORT/",
    "http://[64:ff9b::127.0.0.1]:PORT/",
    "http://[64:ff9b:1::7f00:1]:PORT/",
    "http://[2002:7f00:1::]:PORT/",
    "http://[2001:0:7f00:1::1]:PORT/",
    "http://[fe80::1]:PORT/",
    "http://[fe80::1%25lo]:PORT/",
    "http://[::1%251]:PORT/",
    "http://[fec0::1]:PORT/",
    "http://[fd00:ec2::254]:PORT/",
    "http://[ff02::1]:PORT/",
    "http://169.254.169.254/latest/meta-data/",
    "http://0xa9fea9fe/latest/meta-data/",
    "http://100.100.100.200/latest/",
    "http://192.168.1.1/",
    "http://10.0.0.1/",
    "http://172.31.0.1/",
    "http://224.0.0.1/",
    "http://255.255.255.255/",
    "http://example.org@127.0.0.1:PORT/",
    "http://user:word@example.org/",
    "http://127.0.0.1:PORT\\@example.org/",
    "http:127.0.0.1:PORT",
    "http:///127.0.0.1:PORT/",
    "http://a.example\t@127.0.0.1:PORT/",
    "http://8.8.8.8:22/",
    "http://8.8.8.8:6667/",
    "gopher://127.0.0.1:PORT/",
];

#[tokio::test]
async fn no_spelling_leads_here() {
    let site = Site::start(|_| site::text("inside"));
    let outbound = Outbound::with_lookup(Allowed::default(), names(|_, _| vec!["127.0.0.1"]));
    for spelling in SPELLINGS {
        let fault = get(&outbound, &spelling.replace("PORT", &site.port.to_string()))
            .await
            .unwrap_err();
        assert!(
            matches!(fault, Fault::NotAllowed | Fault::NoAddress),
            "{spelling}: {fault:?}"
        );
    }
    assert_eq!(site.requests(), Vec::<String>::new());
}

#[test]
fn urls_are_checked_without_a_lookup() {
    let outbound = Outbound::new(Allowed::default());
    let chosen = ["10.0.0.1".to_owned()];
    for (url, expected) in [
        ("https://example.org/a", Ok(())),
        ("https://example.org:8443/a", Ok(())),
        ("http://8.8.8.8/", Ok(())),
        ("http://10.0.0.1:22/", Ok(())),
        ("http://10.0.0.2/", Err(Fault::NotAllowed)),
        ("https://example.org:25/", Err(Fault::NotAllowed)),
        ("http://user@example.org/", Err(Fault::NoAddress)),
        ("ftp://example.org/", Err(Fault::NoAddress)),
        ("data:text/plain,x", Err(Fault::NoAddress)),
        ("nonsense", Err(Fault::NoAddress)),
        ("http://./", Err(Fault::NoAddress)),
        ("", Err(Fault::NoAddress)),
    ] {
        assert_eq!(outbound.address(url, &chosen).map(drop), expected, "{url}");
    }
    let long = format!("https://example.org/{}", "x".repeat(4_000));
    assert_eq!(
        outbound.address(&long, &[]).map(drop),
        Err(Fault::NoAddress)
    );
}
