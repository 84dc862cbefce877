//! What kernels differ in that are compiled for one problem and one tiling.

/// What a kernel is compiled for beside the problem and the tiling.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub(super) struct Variant {
    /// Of each axis, whether the velocity comes from the low end.
    pub(super) sides: [bool; 3],
    /// What is added to the right-hand side; `None` for a step of forward Euler.
    pub(super) blend: Option<Blended>,
}

impl Variant {
    /// Whether the old content of the output is added.
    pub(super) fn keeps(&self) -> bool {
        self.blend.is_some_and(|blend| blend.own)
    }
}

/// What a result is made of beside the right-hand side.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub(super) struct Blended {
    /// The field that the right-hand side is of.
    pub(super) itself: bool,
    /// The old content of the output.
    pub(super) own: bool,
    /// Other fields.
    pub(super) terms: usize,
}
