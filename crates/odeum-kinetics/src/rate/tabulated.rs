//! Laws that give ln k as a function of temperature and pressure, without a third body.
//!
//! Their reactions are numbered one law after the other; so are their derivatives
//! [`Constants::dlnk_dlnp`].

use super::chebyshev::Chebyshev;
use super::plog::Plog;
use super::{Conditions, Constants};
use crate::mechanism::{self, PlogPoint};
use odeum_core::Real;

/// All reactions with such laws.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Tabulated {
    pub(crate) plog: Plog,
    pub(crate) chebyshev: Chebyshev,
}

impl Tabulated {
    pub(crate) fn push_plog(&mut self, reaction: usize, points: &[PlogPoint]) {
        self.plog.push(reaction, points);
    }

    pub(crate) fn push_chebyshev(&mut self, reaction: usize, table: &mechanism::Chebyshev) {
        self.chebyshev.push(reaction, table);
    }

    /// Number of reactions.
    pub(crate) fn len(&self) -> usize {
        self.plog.reaction.len() + self.chebyshev.reaction.len()
    }

    /// The j-th of its reactions.
    #[inline(always)]
    pub(crate) fn reaction(&self, j: usize) -> usize {
        let n_plog = self.plog.reaction.len();
        let reaction =
            if j < n_plog { self.plog.reaction[j] } else { self.chebyshev.reaction[j - n_plog] };
        reaction as usize
    }

    /// k of all reactions, and with `D` their derivatives.
    #[inline(always)]
    pub(crate) fn evaluate<R: Real, const D: bool>(
        &self,
        with: &Conditions<R>,
        rates: &mut Constants<'_, R>,
    ) {
        self.plog.evaluate::<R, D>(with, rates);
        self.chebyshev.evaluate::<R, D>(with, self.plog.reaction.len(), rates);
    }
}
