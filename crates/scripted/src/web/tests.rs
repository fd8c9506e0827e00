//! Tests that the facts are in the closed web and can be found.

use std::collections::HashSet;

use super::*;

fn web() -> (Vec<Page>, Vec<Fact>) {
    pages::all("http://web", "http://canary")
}

#[test]
fn what_is_known_stands_in_the_pages_that_are_named() {
    let (pages, facts) = web();
    let of: HashMap<&str, &Page> = pages
        .iter()
        .map(|page| (page.path.as_str(), page))
        .collect();
    assert!(
        pages.len() >= 200 && of.len() == pages.len(),
        "{}",
        pages.len()
    );
    assert!(facts.len() >= 150);
    let asked: HashSet<&str> = facts.iter().map(|fact| fact.question.as_str()).collect();
    assert_eq!(asked.len(), facts.len());
    for fact in &facts {
        let texts: Vec<&str> = fact
            .pages
            .iter()
            .map(|path| of[path.as_str()].text.as_str())
            .collect();
        let says = |answer: &String| texts.iter().any(|text| text.contains(answer.as_str()));
        assert!(says(&fact.answer), "{fact:?}");
        assert!(fact.wrong.as_ref().is_none_or(says), "{fact:?}");
    }
    let hard = |kind| facts.iter().filter(|fact| fact.kind == kind).count();
    assert!(
        hard(FactKind::Contradicted) >= 10
            && hard(FactKind::InPdf) >= 5
            && hard(FactKind::Planted) >= 5
    );
}

#[test]
fn questions_find_the_page_that_the_way_begins_at() {
    let (pages, facts) = web();
    let index = search::Index::of(pages.iter().filter(|page| page.is_found));
    for fact in &facts {
        let found = index.paths(&fact.question);
        let has = |path: &String| found.iter().take(10).any(|found| found == path);
        assert!(fact.pages.iter().any(has), "{fact:?}: {found:?}");
    }
    assert!(index.paths("nonsense qwertz").is_empty());
}
