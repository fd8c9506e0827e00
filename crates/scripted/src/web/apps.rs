//! Pages that are empty until a browser runs their scripts, some of which are hostile.

use std::time::Duration;

use bytes::Bytes;

use super::html;
use crate::{Reply, reply::Part};

/// What `/app` shows once its scripts have run.
pub const SHOWN_BY_SCRIPT: &str =
    "The boat to Korvel leaves at a quarter past noon, and the fare is 14 crowns.";

const APP: &str = "<script src=\"/app/main.js\"></script><link rel=\"stylesheet\" href=\"/app/look.css\">\
    <img src=\"/picture.png\"><noscript>Switch on your scripts.</noscript>";
/// Opens a dialog, follows a redirect, and finally navigates away.
const MAIN: &str = "alert('Welcome'); fetch('/app/old.json').then(answer => answer.json()).then(boat => {\
    root.innerHTML = '<article><h1>The boat</h1><p>' + boat.words + '</p><p><a href=\"/towns/\">Towns</a></p></article>';\
    location.href = '/dead/1'; });";

/// Each attempt reports its result; `CANARY` is replaced by the forbidden address.
const SPY: &str = "<p id=said>Spied:</p><script>\
    const say = words => { said.textContent += ' ' + words; };\
    const at = 'CANARY/';\
    fetch('/app/wait');\
    fetch(at + 'fetch').then(() => say('FETCHED'), () => say('fetch failed'));\
    fetch(at + 'blind', { mode: 'no-cors' }).then(() => say('FETCHED'), () => say('blind failed'));\
    fetch('/away').then(() => say('LED'), () => say('led failed'));\
    fetch('http://169.254.169.254/latest').then(() => say('FETCHED'), () => say('metadata failed'));\
    fetch('/app/post', { method: 'POST', body: 'x' }).then(() => say('POSTED'), () => say('post failed'));\
    navigator.sendBeacon(at + 'beacon', 'x');\
    const picture = new Image(); picture.src = at + 'picture';\
    const frame = document.createElement('iframe'); frame.src = at + 'frame'; document.body.append(frame);\
    try { new WebSocket(at.replace('http', 'ws') + 'socket').onerror = () => say('socket failed'); } catch { say('no socket'); }\
    const work = new Blob(['fetch(\"' + at + 'worker\").then(() => postMessage(\"FETCHED\"), () => postMessage(\"worker failed\"))']);\
    new Worker(URL.createObjectURL(work)).onmessage = message => say(message.data);\
    import(at + 'module.js').then(() => say('IMPORTED'), () => say('import failed'));\
    open(at + 'window');\
    setTimeout(() => { location.href = at + 'left'; }, 100);</script>";

const BUSY: &str = "<p id=count>Counted to 0.</p><script>let number = 0; setInterval(() => {\
    count.textContent = 'Counted to ' + ++number + '.'; fetch('/app/nothing?' + number); }, 5);</script>";

/// The response for these path segments below `/app`.
pub(super) fn reply(parts: &[&str], canary: &str) -> Option<Reply> {
    let script = |script: &str| Reply::status(200, &[("content-type", "text/javascript")], script);
    Some(match parts {
        [] => page(APP),
        ["main.js"] => script(MAIN),
        ["old.json"] => Reply::status(302, &[("location", "/app/boat.json")], ""),
        ["boat.json"] => {
            let words = format!("{{\"words\": \"{SHOWN_BY_SCRIPT}\"}}");
            Reply::status(200, &[("content-type", "application/json")], &words)
        }
        ["spy"] => page(&SPY.replace("CANARY", canary)),
        ["endless"] => {
            page("<script>for (;;) {}</script><p>This stands behind a script without end.</p>")
        }
        ["busy"] => page(BUSY),
        ["greedy"] => page(GREEDY),
        // Delays the page until the results of all other attempts are known.
        ["wait"] => {
            let parts = vec![
                Part::Pause(Duration::from_secs(3)),
                Part::Bytes(Bytes::from_static(b".")),
            ];
            Reply::parts(200, &[("content-type", "text/plain")], parts)
        }
        ["nothing"] => Reply::status(200, &[("content-type", "text/plain")], "Nothing."),
        _ => return None,
    })
}

/// Takes 3 GB, and stops there if it is not stopped before.
const GREEDY: &str = "<script>
const kept = [];
const take = () => {
  if (kept.length < 48) { kept.push(new Uint8Array(64 << 20).fill(1)); setTimeout(take, 5); }
  else document.getElementById('root').textContent = 'TOOK IT ALL';
};
take();
fetch('/app/wait');
</script>";

fn page(body: &str) -> Reply {
    let head = "<!doctype html><html lang=\"en\"><head><meta charset=\"utf-8\"><title>The boats</title></head>";
    html(
        200,
        &format!("{head}<body><div id=\"root\"></div>{body}</body></html>"),
    )
}
