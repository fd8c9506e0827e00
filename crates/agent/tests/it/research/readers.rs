//! What readers of sources are told to do, as people see it.

use super::*;

/// A collection with one document.
#[derive(Debug)]
struct Shelf;

const LOG_BOOK: &str = "/knowledge/coll_1/doc_2";

impl Library for Shelf {
    fn name(&self) -> &'static str {
        "search_knowledge"
    }

    fn search<'a>(&'a self, _: &'a str, _: usize) -> BoxFuture<'a, Result<Hits, ToolFailure>> {
        let hit = Hit {
            title: "The log book".into(),
            url: LOG_BOOK.into(),
            snippet: "The Mayflower".into(),
        };
        std::future::ready(Ok(Hits {
            places: vec![hit],
            note: None,
        }))
        .boxed()
    }

    fn read<'a>(&'a self, url: &'a str) -> BoxFuture<'a, Result<Page, ToolFailure>> {
        let text = "It sailed from Plymouth with 102 passengers.".to_owned();
        std::future::ready(Ok(Page {
            title: "The log book".into(),
            url: url.to_owned(),
            copy: None,
            text,
        }))
        .boxed()
    }
}

#[tokio::test]
async fn a_document_is_named_by_its_title_and_a_page_by_its_address() {
    let (mut play, _) = play(good).await;
    play.research
        .as_mut()
        .unwrap()
        .libraries
        .push(Arc::new(Shelf));
    let log = play.log().await;
    let tasks: Vec<&str> = log
        .iter()
        .filter_map(|event| match &event.body {
            EventBody::AgentStarted { task, .. } => Some(task.as_str()),
            _ => None,
        })
        .collect();
    assert!(
        tasks.contains(&"The log book") && tasks.contains(&PAGES[0].0),
        "{tasks:?}"
    );
    assert!(!tasks.iter().any(|task| task.starts_with('/')), "{tasks:?}");
}

#[tokio::test]
async fn a_question_is_no_note() {
    let (play, _) = play(|request| match asked(request) {
        "read" => text(
            r#"{"notes": [{"point": "Was it a good ship?", "quote": "it was a very good ship"}]}"#,
        ),
        "report" => {
            assert!(!last(request).contains("a good ship"), "{}", last(request));
            text("102 [1].")
        }
        "repair" => panic!("no other quote makes it one"),
        _ => good(request),
    })
    .await;
    let log = play.log().await;
    assert_eq!(lines(&log).last().unwrap(), "main finished Completed");
}
