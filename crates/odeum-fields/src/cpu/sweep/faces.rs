//! Faces between cells, and which of them let anything through.

use crate::plan::domain::{Bits, Domain};
use crate::problem::boundaries::End;
use odeum_core::Lanes;

/// What faces let through.
pub(super) trait Faces<L: Lanes>: Copy {
    /// The flux through the face after the cells `shift` along an axis from those at `x`; zero
    /// where that face is closed.
    fn through(self, x: usize, axis: usize, shift: isize, flux: L) -> L;

    /// A number that the cells there must give; zero where they are solid.
    fn given(self, x: usize, axis: usize, shift: isize, number: L) -> L;

    /// What a velocity carries through the face after the cells `shift` along an axis from those at
    /// `x`: a value, or the mean of both sides where the velocity points into the box at a boundary that
    /// gives one. `inward` is asked at boundaries alone.
    #[inline(always)]
    fn advected(self, _: usize, _: usize, _: isize, _: L::Mask, [own, _]: [L; 2]) -> L {
        own
    }
}

/// All cells belong to the domain.
#[derive(Clone, Copy)]
pub(super) struct Open;

impl<L: Lanes> Faces<L> for Open {
    #[inline(always)]
    fn through(self, _: usize, _: usize, _: isize, flux: L) -> L {
        flux
    }

    #[inline(always)]
    fn given(self, _: usize, _: usize, _: isize, number: L) -> L {
        number
    }
}

/// The faces of a row of the box, of which some are those of boundaries.
#[derive(Clone, Copy)]
pub(super) struct Bounded<F> {
    faces: F,
    nx: usize,
    /// What is at the low and at the high end of the row, and of its faces along y and z.
    ends: [[End; 2]; 3],
}

impl<F> Bounded<F> {
    /// The faces of row (y, z) of a box of this shape, with what a velocity finds at its ends.
    pub(super) fn new(
        faces: F,
        mut ends: [[End; 2]; 3],
        shape: [usize; 3],
        (y, z): (isize, isize),
    ) -> Bounded<F> {
        for (axis, at) in [(1, y), (2, z)] {
            let last = shape[axis] as isize - 1;
            for (end, boundary) in ends[axis].iter_mut().zip([0, last]) {
                *end = if at == boundary { *end } else { End::Open };
            }
        }
        Bounded { faces, nx: shape[0], ends }
    }

    /// A value in the lanes whose face after the cells `shift` along an axis is one at that end of
    /// it, and another in the rest. No face is asked for but those before and after the cells.
    #[inline(always)]
    fn at_end<L: Lanes>(&self, (x, axis, shift): (usize, usize, isize), there: L, rest: L) -> L {
        let cell = if shift == 0 { self.nx - 1 } else { 0 };
        match (axis, cell.checked_sub(x)) {
            (0, Some(lane)) if lane < L::WIDTH => L::select(L::from_bits(1 << lane), there, rest),
            (0, _) => rest,
            _ => there,
        }
    }
}

impl<L: Lanes, F: Faces<L>> Faces<L> for Bounded<F> {
    #[inline(always)]
    fn through(self, x: usize, axis: usize, shift: isize, flux: L) -> L {
        let flux = self.faces.through(x, axis, shift, flux);
        match self.ends[axis][usize::from(shift == 0)] {
            End::Shut => self.at_end((x, axis, shift), L::lit(0.0), flux),
            End::Open | End::Given => flux,
        }
    }

    #[inline(always)]
    fn given(self, x: usize, axis: usize, shift: isize, number: L) -> L {
        self.faces.given(x, axis, shift, number)
    }

    #[inline(always)]
    fn advected(
        self,
        x: usize,
        axis: usize,
        shift: isize,
        inward: L::Mask,
        [own, mean]: [L; 2],
    ) -> L {
        match self.ends[axis][usize::from(shift == 0)] {
            End::Given => self.at_end((x, axis, shift), L::select(inward, mean, own), own),
            End::Open | End::Shut => own,
        }
    }
}

/// A row with the two rows at either side along y and z.
#[derive(Clone, Copy)]
pub(super) struct Cross<'a> {
    here: Bits<'a>,
    /// Of rows that lie −2 … 2 along y, and along z.
    beside: [[Bits<'a>; 5]; 2],
}

impl<'a> Cross<'a> {
    /// That of row (y, z).
    pub(super) fn of(domain: &'a Domain, (y, z): (isize, isize)) -> Cross<'a> {
        let along_y = std::array::from_fn(|n| domain.row(y + n as isize - 2, z));
        let along_z = std::array::from_fn(|n| domain.row(y, z + n as isize - 2));
        Cross { here: domain.row(y, z), beside: [along_y, along_z] }
    }

    #[inline(always)]
    fn belong(&self, x: usize, axis: usize, shift: isize) -> u64 {
        match axis {
            0 => self.here.window(x, shift),
            _ => self.beside[axis - 1][(shift + 2) as usize].window(x, 0),
        }
    }
}

impl<L: Lanes> Faces<L> for &Cross<'_> {
    #[inline(always)]
    fn through(self, x: usize, axis: usize, shift: isize, flux: L) -> L {
        let open = self.belong(x, axis, shift) & self.belong(x, axis, shift + 1);
        L::select(L::from_bits(open), flux, L::lit(0.0))
    }

    #[inline(always)]
    fn given(self, x: usize, axis: usize, shift: isize, number: L) -> L {
        L::select(L::from_bits(self.belong(x, axis, shift)), number, L::lit(0.0))
    }
}
