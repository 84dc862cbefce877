//! Faces between cells, and which of them let anything through.

use crate::domain::{Bits, Domain};
use odeum_core::Lanes;

/// What faces let through.
pub(super) trait Faces<L: Lanes>: Copy {
    /// The flux through the face after the cells `shift` along an axis from those at `x`; zero
    /// where that face is closed.
    fn through(self, x: usize, axis: usize, shift: isize, flux: L) -> L;

    /// A number that the cells there must give; zero where they are solid.
    fn given(self, x: usize, axis: usize, shift: isize, number: L) -> L;
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
