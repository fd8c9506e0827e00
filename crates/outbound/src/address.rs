//! Classifies IP addresses as global or special.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use ipnet::IpNet;

/// A range of addresses, such as `10.0.0.0/8`, or one address.
pub(crate) fn network(text: &str) -> Option<IpNet> {
    let (address, bits) = match text.split_once('/') {
        Some((address, bits)) => (address, Some(bits)),
        None => (text, None),
    };
    let address: IpAddr = address.trim_matches(['[', ']']).parse().ok()?;
    match bits {
        // A number may have a sign for Rust.
        Some(bits) if bits.bytes().all(|byte| byte.is_ascii_digit()) => {
            IpNet::new(address, bits.parse().ok()?).ok()
        }
        Some(_) => None,
        None => Some(address.into()),
    }
}

/// Whether an address is global. IPv6 addresses that embed an IPv4 address are not, whatever that is.
pub(crate) fn is_global(address: IpAddr) -> bool {
    match address {
        IpAddr::V4(address) => is_global_v4(address),
        IpAddr::V6(address) => is_global_v6(address),
    }
}

/// According to IANA's registry of special addresses.
fn is_global_v4(address: Ipv4Addr) -> bool {
    let [a, b, c, _] = address.octets();
    let special = address.is_private()
        || address.is_loopback()
        || address.is_link_local()
        || address.is_documentation()
        // “This network”.
        || a == 0
        // Carrier-grade NAT.
        || (a == 100 && b & 0xc0 == 64)
        // Protocol assignments, and the deprecated 6to4 relay.
        || (a, b, c) == (192, 0, 0)
        || (a, b, c) == (192, 88, 99)
        // Benchmarks.
        || (a == 198 && b & 0xfe == 18)
        // Multicast, reserved and broadcast.
        || a >= 224;
    !special
}

/// Only allocated global unicast: 2000::/3 without its special parts. So loopback, `::`, addresses that embed IPv4
/// (mapped, compatible, NAT64), local ones of all kinds and multicast are excluded.
fn is_global_v6(address: Ipv6Addr) -> bool {
    let [a, b, ..] = address.segments();
    let given_out = a & 0xe000 == 0x2000;
    // Teredo, benchmarks and ORCHID; documentation.
    let special_2001 = a == 0x2001 && (b & 0xfe00 == 0 || b == 0x0db8);
    // 6to4; documentation.
    let special = special_2001 || a == 0x2002 || (a == 0x3fff && b & 0xf000 == 0);
    given_out && !special
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn knows_the_open_internet() {
        let global = [
            "1.1.1.1",
            "8.8.8.8",
            "100.128.0.1",
            "172.32.0.1",
            "2606:4700::1111",
            "2a00:1450::1",
        ];
        let special = [
            "0.0.0.0",
            "0.1.2.3",
            "10.0.0.1",
            "100.64.0.1",
            "100.127.255.255",
            "127.0.0.1",
            "127.255.255.255",
            "169.254.169.254",
            "172.16.0.1",
            "172.31.255.255",
            "192.0.0.1",
            "192.0.2.1",
            "192.88.99.1",
            "192.168.0.1",
            "198.18.0.1",
            "198.19.255.255",
            "198.51.100.1",
            "203.0.113.1",
            "224.0.0.1",
            "240.0.0.1",
            "255.255.255.255",
            "::",
            "::1",
            "::ffff:127.0.0.1",
            "::ffff:8.8.8.8",
            "::ffff:0:10.0.0.1",
            "::127.0.0.1",
            "64:ff9b::7f00:1",
            "64:ff9b:1::a00:1",
            "100::1",
            "2001::1",
            "2001:2::1",
            "2001:20::1",
            "2001:db8::1",
            "2002:7f00:1::",
            "3fff::1",
            "5f00::1",
            "fc00::1",
            "fd00:ec2::254",
            "fe80::1",
            "fec0::1",
            "ff02::1",
        ];
        for (addresses, expected) in [(&global[..], true), (&special[..], false)] {
            for address in addresses {
                assert_eq!(is_global(address.parse().unwrap()), expected, "{address}");
            }
        }
    }

    #[test]
    fn networks() {
        for (text, address, has) in [
            ("10.0.0.0/8", "10.255.0.1", true),
            ("10.0.0.0/8", "11.0.0.1", false),
            ("0.0.0.0/0", "11.0.0.1", true),
            ("10.1.2.3", "10.1.2.3", true),
            ("10.1.2.3/32", "10.1.2.4", false),
            ("fd00::/8", "fd12::1", true),
            ("[::1]", "::1", true),
            ("::/0", "::1", true),
            ("::/0", "10.0.0.1", false),
        ] {
            assert_eq!(
                network(text)
                    .unwrap()
                    .contains(&address.parse::<IpAddr>().unwrap()),
                has,
                "{text}"
            );
        }
        for wrong in [
            "",
            "10.0.0.0/33",
            "10.0.0/8",
            "10.0.0.0/+8",
            "10.0.0.0/",
            "::/129",
            "a/8",
        ] {
            assert_eq!(network(wrong), None, "{wrong}");
        }
    }
}
