//! Orders the messages of a tree whose links may be inconsistent.

/// Each message with its parent, after that one. In a cycle, the one that is visited first gets no parent.
pub(super) fn in_order(parents: &[Option<usize>]) -> Vec<(usize, Option<usize>)> {
    #[derive(Clone, Copy, PartialEq)]
    enum Met {
        Never,
        JustNow,
        Before,
    }
    let mut met = vec![Met::Never; parents.len()];
    let mut order = Vec::with_capacity(parents.len());
    for first in 0..parents.len() {
        let mut way = Vec::new();
        let mut at = first;
        let mut above = loop {
            match met[at] {
                Met::Before => break Some(at),
                Met::JustNow => break None,
                Met::Never => {}
            }
            met[at] = Met::JustNow;
            way.push(at);
            match parents[at] {
                Some(parent) => at = parent,
                None => break None,
            }
        };
        for at in way.into_iter().rev() {
            met[at] = Met::Before;
            order.push((at, above));
            above = Some(at);
        }
    }
    order
}
