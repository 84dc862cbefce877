//! What a reader found: a mechanism, and which files its parts are from.

use super::problem::Log;
use crate::mechanism::Mechanism;

/// A mechanism as far as it could be read.
#[derive(Clone, Debug, Default)]
pub(crate) struct Found {
    pub(crate) mechanism: Mechanism,
    /// Names of the files, that of the mechanism first.
    pub(crate) files: Vec<String>,
    /// The file of each species and of each reaction; beyond the end it is the first.
    pub(crate) of_species: Vec<usize>,
    pub(crate) of_reaction: Vec<usize>,
}

impl Found {
    /// A mechanism of one file.
    pub(crate) fn of_one(file: &str, mechanism: Mechanism) -> Found {
        Found { mechanism, files: vec![file.to_owned()], ..Found::default() }
    }

    /// Problems to come are of the file of a species.
    pub(crate) fn enter_species(&self, species: usize, log: &mut Log) {
        log.enter(&self.files[self.of_species.get(species).copied().unwrap_or(0)]);
    }

    /// Problems to come are of the file of a reaction.
    pub(crate) fn enter_reaction(&self, reaction: usize, log: &mut Log) {
        log.enter(&self.files[self.of_reaction.get(reaction).copied().unwrap_or(0)]);
    }

    /// Problems to come are of the mechanism's own file.
    pub(crate) fn enter_own(&self, log: &mut Log) {
        log.enter(&self.files[0]);
    }

    /// Where a reaction stands, seen from another.
    pub(crate) fn line_of(&self, reaction: usize, from: usize) -> String {
        let file = |r: usize| self.of_reaction.get(r).copied().unwrap_or(0);
        let line = self.mechanism.reactions[reaction].line;
        if file(reaction) == file(from) {
            format!("line {line}")
        } else {
            format!("line {line} of {}", self.files[file(reaction)])
        }
    }
}
