//! The browser and operating system of a session, from its `User-Agent`. The header can be forged, so this only helps
//! users recognize their own sessions.

use schemars::JsonSchema;
use serde::Serialize;

/// A browser and its operating system, by their common names.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Device {
    /// Such as `Firefox`.
    pub browser: Option<&'static str>,
    /// Such as `Windows`.
    pub system: Option<&'static str>,
}

/// Tokens that identify a browser in its `User-Agent`. Most browsers also contain the tokens of those they derive from,
/// so the order matters: all but Firefox contain Safari, and most of these Chrome.
const BROWSERS: [(&str, &str); 17] = [
    ("Edg/", "Edge"),
    ("EdgA/", "Edge"),
    ("EdgiOS/", "Edge"),
    ("OPR/", "Opera"),
    ("YaBrowser/", "Yandex Browser"),
    ("Vivaldi/", "Vivaldi"),
    ("SamsungBrowser/", "Samsung Internet"),
    ("Electron/", "Electron"),
    ("FxiOS/", "Firefox"),
    ("CriOS/", "Chrome"),
    ("Firefox/", "Firefox"),
    ("HeadlessChrome/", "Chrome"),
    ("Chromium/", "Chromium"),
    ("Chrome/", "Chrome"),
    ("Safari/", "Safari"),
    ("curl/", "curl"),
    ("python", "Python"),
];

/// The same for operating systems: those of phones also contain the names of those they derive from.
const SYSTEMS: [(&str, &str); 8] = [
    ("Windows", "Windows"),
    ("Android", "Android"),
    ("iPhone", "iPhone"),
    ("iPad", "iPad"),
    ("Macintosh", "macOS"),
    ("CrOS", "ChromeOS"),
    ("FreeBSD", "FreeBSD"),
    ("Linux", "Linux"),
];

impl Device {
    /// Parses a `User-Agent`.
    #[must_use]
    pub fn of(user_agent: Option<&str>) -> Self {
        let text = user_agent.unwrap_or_default();
        let first = |names: &[(&str, &'static str)]| {
            names
                .iter()
                .find(|(mark, _)| text.contains(mark))
                .map(|(_, name)| *name)
        };
        Self {
            browser: first(&BROWSERS),
            system: first(&SYSTEMS),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_browsers_and_systems() {
        for (user_agent, browser, system) in [
            (
                "Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0",
                "Firefox",
                "Linux",
            ),
            (
                "Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) \
                 Chrome/142.0.0.0 Safari/537.36",
                "Chrome",
                "Windows",
            ),
            (
                "Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) \
                 Chrome/142.0.0.0 Safari/537.36 Edg/142.0.0.0",
                "Edge",
                "Windows",
            ),
            (
                "Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/605.1.15 (KHTML, like Gecko) \
                 Version/26.0 Safari/605.1.15",
                "Safari",
                "macOS",
            ),
            (
                "Mozilla/5.0 (iPhone; CPU iPhone OS 18_6 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) \
                 CriOS/142.0 Mobile/15E148 Safari/604.1",
                "Chrome",
                "iPhone",
            ),
            (
                "Mozilla/5.0 (Linux; Android 10; K) AppleWebKit/537.36 (KHTML, like Gecko) \
                 Chrome/142.0.0.0 Mobile Safari/537.36",
                "Chrome",
                "Android",
            ),
        ] {
            let device = Device::of(Some(user_agent));
            assert_eq!(
                device,
                Device {
                    browser: Some(browser),
                    system: Some(system)
                },
                "{user_agent}"
            );
        }
        let nothing = Device {
            browser: None,
            system: None,
        };
        for unknown in [None, Some(""), Some("<script>alert(1)</script>")] {
            assert_eq!(Device::of(unknown), nothing);
        }
    }
}
