//! A look before the answer: what is searched and read, how it is told, and what is not done again after a restart.

use std::sync::{Arc, Mutex};

use agent::{
    Asker, LookUp, ToolChoice, ToolFailure,
    history::messages_of,
    library::{Hit, Hits, Library, Page},
};
use domain::{EventBody, Message, Role, RunEvent, event::Source, laws};
use futures_util::{FutureExt, future::BoxFuture};
use llm::script::{call, text};
use serde_json::json;

use crate::play::{Play, lines};

const SHIP: &str = "https://ships.example/mayflower";
const FACT: &str = "The Mayflower sailed from Plymouth on 6 September 1620.";

/// What was asked of either place.
type Asked = Arc<Mutex<Vec<String>>>;

#[derive(Debug)]
struct Place {
    name: &'static str,
    asked: Asked,
}

impl Library for Place {
    fn name(&self) -> &'static str {
        self.name
    }

    fn search<'a>(&'a self, query: &'a str, _: usize) -> BoxFuture<'a, Result<Hits, ToolFailure>> {
        self.asked
            .lock()
            .unwrap()
            .push(format!("{} {query}", self.name));
        let hit = |title: &str, url: &str, snippet: &str| Hit {
            title: title.into(),
            url: url.into(),
            snippet: snippet.into(),
        };
        let found = match (self.name, query) {
            (_, "fails") => Err(ToolFailure("No search today.".into())),
            (_, "nothing") => Ok(Vec::new()),
            ("web_search", _) => Ok(vec![
                hit("Ship", SHIP, "A ship."),
                hit("Dead", "https://dead.example/", "It says little."),
            ]),
            _ => Ok(vec![hit(
                "Log book",
                "/knowledge/c/d?from=4&to=9",
                "The captain was Jones.",
            )]),
        };
        std::future::ready(found.map(|places| Hits { places, note: None })).boxed()
    }

    fn read<'a>(&'a self, url: &'a str) -> BoxFuture<'a, Result<Page, ToolFailure>> {
        self.asked.lock().unwrap().push(format!("reads {url}"));
        let page = Page {
            title: "The Mayflower".into(),
            url: url.into(),
            copy: Some("/pages/p".into()),
            text: FACT.into(),
        };
        let page = if url == SHIP {
            Ok(page)
        } else {
            Err(ToolFailure("It is gone.".into()))
        };
        std::future::ready(page).boxed()
    }
}

#[derive(Debug)]
struct Says(Vec<&'static str>, Asked);

impl Asker for Says {
    fn queries(&self) -> BoxFuture<'_, Vec<String>> {
        self.1.lock().unwrap().push("queries".into());
        std::future::ready(self.0.iter().map(|&query| query.to_owned()).collect()).boxed()
    }

    fn material(&self, found: String) -> BoxFuture<'_, String> {
        std::future::ready(format!("<found>\n{found}</found>")).boxed()
    }
}

fn look_up(queries: &[&'static str], asked: &Asked) -> LookUp {
    let place = |name| {
        Arc::new(Place {
            name,
            asked: Arc::clone(asked),
        }) as Arc<dyn Library>
    };
    LookUp {
        asker: Arc::new(Says(queries.to_vec(), Arc::clone(asked))),
        documents: None,
        web: Some(place("web_search")),
        reads: true,
        passages: 8,
        in_system: false,
        warning: None,
    }
}

async fn play(look_up: LookUp, answer: &'static str) -> Play {
    let mut play = Play::new(Arc::new(move |_| text(answer))).await;
    play.look_up = Some(look_up);
    play.question = "When did it sail?".into();
    play.spec.ends_with_server = false;
    play
}

fn statuses(log: &[RunEvent]) -> Vec<&str> {
    let shown = log.iter().filter_map(|event| match &event.body {
        EventBody::Status {
            description,
            hidden: false,
            ..
        } => Some(description.as_str()),
        _ => None,
    });
    shown.collect()
}

fn sources(log: &[RunEvent]) -> Vec<&Source> {
    let found = log.iter().filter_map(|event| match &event.body {
        EventBody::SourcesFound { sources } => Some(sources),
        _ => None,
    });
    found.flatten().collect()
}

fn last(play: &Play) -> String {
    play.requests().last().unwrap().last().unwrap().plain_text()
}

fn answer(log: &[RunEvent]) -> String {
    messages_of(log)
        .last()
        .map(Message::plain_text)
        .unwrap_or_default()
}

#[tokio::test]
async fn results_precede_the_message_with_their_numbers() {
    let asked = Asked::default();
    let queries = [
        "mayflower sailed",
        "Mayflower  Sailed",
        "ships https://evil.example/?x",
        "fails",
    ];
    let play = play(
        look_up(&queries, &asked),
        "On 6 September 1620 [1], not [7].",
    )
    .await;
    let log = play.log().await;
    assert_eq!(
        *asked.lock().unwrap(),
        [
            "queries",
            "web_search mayflower sailed",
            "web_search ships",
            "web_search fails",
            "reads https://ships.example/mayflower",
            "reads https://dead.example/"
        ]
    );
    assert_eq!(
        statuses(&log),
        [
            "Deciding what to search for…",
            "Searching 3 queries…",
            "Reading 2 pages…",
            "Thinking…"
        ]
    );
    let told = format!(
        "<found>\n[1] The Mayflower ({SHIP})\n{FACT}\n\n[2] Dead (https://dead.example/)\nIt says little.\n\n</found>\nWhen did it \
         sail?"
    );
    assert_eq!(last(&play), told);
    let sources = sources(&log);
    let ids: Vec<_> = sources.iter().map(|source| source.id.as_str()).collect();
    assert_eq!(
        (ids, sources[0].quote.as_deref()),
        (vec!["1", "2"], Some(FACT))
    );
    assert_eq!(sources[0].copy.as_deref(), Some("/pages/p?from=0&to=55"));
    assert_eq!(
        answer(&log),
        "On 6 September 1620 [1], not.",
        "what no source has is not cited"
    );
    // The status is away before the first token.
    let at =
        |is: &dyn Fn(&EventBody) -> bool| log.iter().rposition(|event| is(&event.body)).unwrap();
    let first = log
        .iter()
        .position(|event| matches!(event.body, EventBody::TextStarted { .. }))
        .unwrap();
    let thinking = at(&|body| matches!(body, EventBody::Status { hidden: false, .. }));
    assert!(
        thinking < first
            && log[thinking..first]
                .iter()
                .any(|event| matches!(event.body, EventBody::Status { hidden: true, .. }))
    );
    // Later turns know what was searched and read.
    let recalled = messages_of(&log);
    assert!(
        recalled
            .iter()
            .any(|message| message.role == Role::Tool && message.plain_text().contains(FACT))
    );
}

#[tokio::test]
async fn without_queries_nothing_is_looked_up() {
    let asked = Asked::default();
    let play = play(look_up(&[], &asked), "You are welcome [1].").await;
    let log = play.log().await;
    assert_eq!(*asked.lock().unwrap(), ["queries"]);
    assert_eq!(
        (last(&play).as_str(), sources(&log).len()),
        ("When did it sail?", 0)
    );
    assert_eq!(answer(&log), "You are welcome [1].");
}

#[tokio::test]
async fn passages_can_go_with_the_instructions() {
    let asked = Asked::default();
    let documents = Arc::new(Place {
        name: "search_knowledge",
        asked: Arc::clone(&asked),
    });
    let look = LookUp {
        documents: Some(documents),
        web: None,
        in_system: true,
        ..look_up(&["captain", "who"], &asked)
    };
    let play = play(look, "Jones [1].").await;
    let log = play.log().await;
    let request = play.requests().remove(0);
    assert_eq!(request[0].role, Role::System);
    assert!(
        request[0]
            .plain_text()
            .ends_with("<found>\n[1] Log book\nThe captain was Jones.\n\n</found>")
    );
    assert_eq!(request.len(), 2, "one message of the system");
    assert_eq!(last(&play), "When did it sail?");
    assert_eq!(sources(&log)[0].url, "/knowledge/c/d?from=4&to=9");
}

#[tokio::test]
async fn it_searches_only_where_allowed_and_warns_of_the_rest() {
    let asked = Asked::default();
    let mut narrowed = play(look_up(&["ship"], &asked), "No.").await;
    narrowed.spec.tool_restrictions = vec![ToolChoice::Only(vec![
        "web_search".to_owned().try_into().unwrap(),
    ])];
    narrowed.log().await;
    assert_eq!(
        *asked.lock().unwrap(),
        ["queries", "web_search ship"],
        "nothing is read"
    );
    assert!(last(&narrowed).contains("[1] Ship (https://ships.example/mayflower)\nA ship."));
    let nowhere = LookUp {
        web: None,
        warning: Some("Not here.".into()),
        ..look_up(&["ship"], &asked)
    };
    let log = play(nowhere, "No.").await.log().await;
    assert!(log.iter().any(
        |event| matches!(&event.body, EventBody::Notice { message, .. } if message == "Not here.")
    ));
    assert_eq!(asked.lock().unwrap().len(), 2, "nobody is asked");
}

#[tokio::test]
async fn results_may_be_opened_and_do_not_count_as_turns() {
    let asked = Asked::default();
    let mut play = Play::turns(vec![call(0, "ls", &json!({})), text("Done.")]).await;
    (play.look_up, play.limits.steps) = (Some(look_up(&["ship"], &asked)), 2);
    let log = play.log().await;
    assert_eq!(answer(&log), "Done.");
    let steps: Vec<u32> = log
        .iter()
        .filter_map(|event| match event.body {
            EventBody::StepStarted { step, .. } => Some(step),
            _ => None,
        })
        .collect();
    assert_eq!(steps, [1, 2, 3, 4]);
}

#[tokio::test]
async fn killed_after_any_event_it_looks_for_nothing_twice() {
    let asked = Asked::default();
    let first = play(look_up(&["ship"], &asked), "On 6 September 1620 [1].").await;
    let whole = first.log().await;
    let finished = |log: &[RunEvent], tool: &str| {
        let is_it = |event: &&RunEvent| matches!(&event.body, EventBody::ToolFinished { name, .. } if name == tool);
        log.iter().filter(is_it).count()
    };
    for killed_at in 1..whole.len() {
        let asked = Asked::default();
        let mut again = play(look_up(&["ship"], &asked), "On 6 September 1620 [1].").await;
        again.before = whole[..killed_at].to_vec();
        let log = again.log().await;
        assert_eq!(laws::check(&log), Ok(()));
        let asked = asked.lock().unwrap();
        let searched = asked
            .iter()
            .filter(|asked| asked.starts_with("web_search"))
            .count();
        let read = asked
            .iter()
            .filter(|asked| asked.starts_with("reads"))
            .count();
        let before = &whole[..killed_at];
        assert_eq!(
            searched,
            1 - finished(before, "web_search"),
            "killed at {killed_at}: {asked:?}"
        );
        assert_eq!(
            read,
            2 - finished(before, "fetch_page"),
            "killed at {killed_at}: {asked:?}"
        );
        assert_eq!(
            sources(&log).len(),
            2,
            "killed at {killed_at}: {}",
            lines(&log).join("\n")
        );
        assert_eq!(
            answer(&log),
            "On 6 September 1620 [1].",
            "killed at {killed_at}"
        );
        if let Some(request) = again.requests().last() {
            assert!(
                request.last().unwrap().plain_text().contains(FACT),
                "killed at {killed_at}"
            );
        }
    }
}
