//! Systems that a group of threads evaluates together, from tables.

use super::Tables;
use crate::pattern::Pattern;
use std::fmt::Debug;

/// Where the threads of a group keep a matrix −∂f/∂y, or σI − ∂f/∂y and its factors.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MatrixPlaces {
    /// Place of each entry of the Jacobian, in the order of its pattern \[nnz\].
    pub entries: Vec<u32>,
    /// A place that nobody reads, for what is written to fill up a row of threads.
    pub unused: u32,
    /// A place whose value is zero, for what is read to fill up a row of threads.
    pub zero: u32,
    /// Number of places.
    pub len: u32,
}

/// How a group of threads evaluates a system.
#[derive(Clone, Debug, PartialEq)]
pub struct GroupText {
    /// The functions `od_group_rhs` and `od_group_linearise`.
    pub text: String,
    /// What they read.
    pub tables: Tables,
    /// Shared memory of a group beside state, slopes and matrix \[bytes\].
    pub memory: usize,
    /// Whether f may lie where y does.
    pub in_place: bool,
}

/// A system that a group of threads evaluates from tables.
///
/// The text defines, for `OD_WIDTH` threads of which each has its number `g.slot`,
///
/// ```text
/// void od_group_rhs(const OdGroup &g, real t, const real *y, const OdParams &p, real *f);
/// void od_group_linearise(const OdGroup &g, real t, const real *y, const OdParams &p, real *f,
///                         od_entry *matrix);
/// ```
///
/// where y and f \[n\] and the matrix lie in shared memory: f, and −∂f/∂y in its places and zero in all
/// others. All threads of the group call them; y is complete before, f and the matrix after. Sums are in a fixed
/// order.
pub trait Grouped: Debug + Send + Sync {
    /// Numbers of equations and of parameters.
    fn sizes(&self) -> (usize, usize);

    /// The pattern of the Jacobian, to whose entries places are given.
    fn matrix_pattern(&self) -> Pattern;

    /// Whether f depends on the time: then the text has `od_group_time_derivative`, too.
    fn uses_time(&self) -> bool;

    /// Whether entries of −∂f/∂y and of its factors may be of single precision where a tolerance is no tighter than
    /// their rounding can follow.
    fn allows_single(&self) -> bool {
        false
    }

    /// Coefficients of the linear invariants, sums that every solution keeps \[each: n\]: those that matrices of single
    /// precision would change.
    fn invariants(&self) -> Vec<Vec<f64>> {
        Vec::new()
    }

    /// Text and tables for groups of `width` threads; `single`: entries of the matrix are of single precision.
    fn group_text(&self, width: usize, places: &MatrixPlaces, single: bool) -> GroupText;

    /// The same of `od_group_rhs` alone, which takes less memory.
    fn rhs_text(&self, width: usize) -> GroupText;

    /// Text and tables of the right-hand side of interleaved systems: each lane has one, and so many warps share it, each with its
    /// number `g.warp`. A number of a system and the next one are `place` bytes apart. `None` where there is no such text. It defines
    ///
    /// ```text
    /// void od_group_rhs(const OdGroup &g, real t, OdNumbers y, const OdParams &p, F &f);
    /// ```
    ///
    /// where y lies in shared memory, and `f[e]` is of component `g.warp + e * OD_WARPS`. All threads call it; y is complete before,
    /// and before the memory is used again there has to be a barrier.
    fn interleaved_text(&self, _warps: usize, _place: usize) -> Option<GroupText> {
        None
    }
}
