//! What was found for the latest questions, and no more: a program that runs for months asks many.

/// Answers that are kept. Those to more questions that come in turn are found anew each time.
const KEPT: usize = 64;

/// Answers to the latest questions.
///
/// Questions are compared as wholes, so none ever gets the answer to another one; they are few, so that costs
/// little.
pub(super) struct Recent<Q, A> {
    /// The latest question last.
    known: Vec<(Q, A)>,
}

impl<Q, A> Default for Recent<Q, A> {
    fn default() -> Self {
        Recent { known: Vec::new() }
    }
}

impl<Q: PartialEq, A: Clone> Recent<Q, A> {
    /// The answer to this question, which becomes the latest.
    pub(super) fn get(&mut self, question: &Q) -> Option<A> {
        let place = self.known.iter().rposition(|(known, _)| known == question)?;
        self.known[place..].rotate_left(1);
        self.known.last().map(|(_, answer)| answer.clone())
    }

    /// Keeps the answer to a question that has none; the question that has not come for the longest time is
    /// forgotten.
    pub(super) fn put(&mut self, question: Q, answer: A) {
        if self.known.len() == KEPT {
            self.known.remove(0);
        }
        self.known.push((question, answer));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_latest_are_known() {
        let mut recent = Recent::default();
        for n in 0..3 * KEPT {
            assert_eq!(recent.get(&n), None);
            recent.put(n, 2 * n);
            // Asked for again and again, the first is always among the latest.
            assert_eq!(recent.get(&0), Some(0));
            assert_eq!(recent.get(&n), Some(2 * n));
        }
        assert_eq!(recent.known.len(), KEPT);
        let known = (0..3 * KEPT).filter(|n| recent.get(n).is_some());
        assert!(known.eq(std::iter::once(0).chain(2 * KEPT + 1..3 * KEPT)));
    }
}
