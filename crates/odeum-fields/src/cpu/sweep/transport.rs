//! What carries species beside the Laplacian: a velocity, and diffusion that differs from cell to
//! cell. Both as differences of fluxes through the faces of a cell.

use super::faces::Faces;
use super::gather::{Around, Spare};
use super::row::{self, PAD};
use crate::problem::Advection;
use crate::problem::boundaries::Ghost;
use odeum_core::{Lanes, Scalar};

/// −∇·(w u) of a row for a velocity that is the same everywhere, upwind, put into `sum` \[padded\].
/// `speed` is w/h along each axis, `line` the row with its ghosts.
#[inline(always)]
pub(super) fn upwind<L: Lanes>(
    around: &Around<'_, L::Scalar>,
    (j, k): (isize, isize),
    faces: impl Faces<L>,
    speed: [f64; 3],
    line: &[L::Scalar],
    spare: &mut [L::Scalar],
    sum: &mut [L::Scalar],
) {
    let nx = around.shape[0];
    let mut spare = spare.chunks_exact_mut(around.wide);
    // The side the velocity comes from.
    let from_y = around.neighbour::<L>(if speed[1] > 0.0 { j - 1 } else { j + 1 }, k, &mut spare);
    let from_z = around.neighbour::<L>(j, if speed[2] > 0.0 { k - 1 } else { k + 1 }, &mut spare);
    let from_x = &line[if speed[0] > 0.0 { PAD - 1 } else { PAD + 1 }..];
    let (line, sum) = (&line[PAD..], &mut sum[PAD..]);
    let wide = nx.next_multiple_of(L::WIDTH);
    let rows = [line, from_x, from_y, from_z];
    assert!(wide <= sum.len() && rows.iter().all(|row| wide <= row.len()));
    let [vx, vy, vz] = speed.map(|speed| L::lit(speed.abs()));
    let mut x = 0;
    while x < nx {
        // SAFETY: whole packs up to `wide`, which has been compared with all rows.
        let [here, from_x, from_y, from_z]: [L; 4] = unsafe {
            [
                row::within(line, x),
                row::within(from_x, x),
                row::within(from_y, x),
                row::within(from_z, x),
            ]
        };
        let along_x = advected(faces, (x, 0), speed[0] > 0.0, from_x, here);
        let along_y = advected(faces, (x, 1), speed[1] > 0.0, from_y, here);
        let along_z = advected(faces, (x, 2), speed[2] > 0.0, from_z, here);
        let gain = along_x.mul_add(vx, along_y.mul_add(vy, along_z * vz));
        // SAFETY: as above.
        unsafe { row::put(sum, x, gain) };
        x += L::WIDTH;
    }
}

/// What comes in at one face of the cells at `x` less what leaves at the other.
#[inline(always)]
fn advected<L: Lanes>(
    faces: impl Faces<L>,
    (x, axis): (usize, usize),
    forward: bool,
    from: L,
    here: L,
) -> L {
    let (into, out) = if forward { (-1, 0) } else { (0, -1) };
    let all = L::lit(0.0).lt(L::lit(1.0));
    let from = faces.advected(x, axis, into, all, [from, L::lit(0.5) * (from + here)]);
    faces.through(x, axis, into, from) - faces.through(x, axis, out, here)
}

/// The flux w u through the face after the cells `shift` along an axis from those at `x`, from
/// the values on both sides: at a boundary that gives a value that is what comes in. Of first order where the cell it would have to know too is solid.
#[inline(always)]
fn flux<L: Lanes>(
    advection: Advection,
    w: L,
    [before, below, above, after]: [L; 4],
    faces: impl Faces<L>,
    (x, axis, shift): (usize, usize, isize),
) -> L {
    let forward = w.gt(L::lit(0.0));
    let (from, behind, ahead) = (
        L::select(forward, below, above),
        L::select(forward, before, after),
        L::select(forward, above, below),
    );
    let value = match advection {
        Advection::Upwind => from,
        Advection::Koren => {
            let more = limited(from - behind, ahead - from);
            let known =
                [faces.given(x, axis, shift - 1, more), faces.given(x, axis, shift + 2, more)];
            from + L::select(forward, known[0], known[1])
        }
    };
    let inward = if shift == 0 { w.lt(L::lit(0.0)) } else { forward };
    let mean = L::lit(0.5) * (below + above);
    faces.through(x, axis, shift, w * faces.advected(x, axis, shift, inward, [value, mean]))
}

/// Half the limited slope: ½ max(0, min(2 d₊, (d₋ + 2 d₊)/3, 2 d₋)) for slopes d₋ and d₊ of one
/// sign, zero at an extremum. Koren 1993.
#[inline(always)]
fn limited<L: Lanes>(behind: L, ahead: L) -> L {
    let zero = L::lit(0.0);
    let (d0, d1) = (behind.abs(), ahead.abs());
    let third = L::lit(1.0 / 6.0) * L::lit(2.0).mul_add(d1, d0);
    let least = third.min(d0.min(d1));
    let signed = L::select(ahead.lt(zero), -least, least);
    let same = (behind.lt(zero) & ahead.lt(zero)) | (behind.gt(zero) & ahead.gt(zero));
    L::select(same, signed, zero)
}

/// Velocity over the edge of a cell, along each axis: one number, or a field.
// There is one on the stack at a time, so its size does not matter.
#[allow(clippy::large_enum_variant)]
pub(crate) enum Speed<'a, T> {
    Uniform([f64; 3]),
    /// w/h at cell centres, each with closed or periodic boundaries.
    Cells([Around<'a, T>; 3]),
}

/// −∇·(w u) of a row as a difference of limited fluxes, added to `sum` \[padded\]. `lines` are
/// two padded rows to work in, the first the row of u with its ghosts.
#[inline(always)]
pub(super) fn fluxes<L: Lanes>(
    around: &Around<'_, L::Scalar>,
    (j, k): (isize, isize),
    faces: impl Faces<L>,
    advection: Advection,
    speed: &Speed<'_, L::Scalar>,
    lines: (&[L::Scalar], &mut [L::Scalar]),
    spare: &mut [L::Scalar],
    sum: &mut [L::Scalar],
) {
    let nx = around.shape[0];
    let mut spare = spare.chunks_exact_mut(around.wide);
    let (line, velocities) = lines;
    // Along x: u at the four cells around each face comes from one padded row.
    if let Speed::Cells(fields) = speed {
        velocities[PAD..PAD + nx].copy_from_slice(&fields[0].row(j, k)[..nx]);
        row::fill_ends(velocities, nx, &fields[0].ghosts[0]);
    }
    let half = L::lit(0.5);
    let mut x = 0;
    while x < nx {
        let at = PAD + x;
        let u = |shift: usize| L::load(&line[at + shift - 2..at + shift - 2 + L::WIDTH]);
        let (low, high) = match speed {
            Speed::Uniform([w, ..]) => (L::lit(*w), L::lit(*w)),
            Speed::Cells(_) => {
                let w =
                    |shift: usize| L::load(&velocities[at + shift - 1..at + shift - 1 + L::WIDTH]);
                (half * (w(0) + w(1)), half * (w(1) + w(2)))
            }
        };
        let into = flux(advection, low, [u(0), u(1), u(2), u(3)], faces, (x, 0, -1));
        let out = flux(advection, high, [u(1), u(2), u(3), u(4)], faces, (x, 0, 0));
        (L::load(&sum[at..at + L::WIDTH]) + (into - out)).store(&mut sum[at..at + L::WIDTH]);
        x += L::WIDTH;
    }
    for axis in 1..3 {
        let shifted = |n: isize| if axis == 1 { (j + n, k) } else { (j, k + n) };
        let mut rows = [&line[..0]; 5];
        for n in 0..5 {
            let (y, z) = shifted(n as isize - 2);
            rows[n] = around.neighbour::<L>(y, z, &mut spare);
        }
        let mut velocities = [&line[..0]; 3];
        if let Speed::Cells(fields) = speed {
            for n in 0..3 {
                let (y, z) = shifted(n as isize - 1);
                // Velocities have no affine ghosts, so nothing is computed.
                velocities[n] = fields[axis].neighbour::<L>(y, z, &mut nothing());
            }
        }
        let mut x = 0;
        while x < nx {
            let u = |n: usize| L::load(&rows[n][x..x + L::WIDTH]);
            let (low, high) = match speed {
                Speed::Uniform(w) => (L::lit(w[axis]), L::lit(w[axis])),
                Speed::Cells(_) => {
                    let w = |n: usize| L::load(&velocities[n][x..x + L::WIDTH]);
                    (half * (w(0) + w(1)), half * (w(1) + w(2)))
                }
            };
            let into = flux(advection, low, [u(0), u(1), u(2), u(3)], faces, (x, axis, -1));
            let out = flux(advection, high, [u(1), u(2), u(3), u(4)], faces, (x, axis, 0));
            let at = PAD + x..PAD + x + L::WIDTH;
            (L::load(&sum[at.clone()]) + (into - out)).store(&mut sum[at]);
            x += L::WIDTH;
        }
    }
}

/// Harmonic mean, zero when either is. The product of both might be too small, or too large, for a number.
#[inline(always)]
fn harmonic<L: Lanes>(a: L, b: L) -> L {
    let sum = a + b;
    L::select(sum.gt(L::lit(0.0)), L::lit(2.0) * a.min(b) * (a.max(b) / sum), L::lit(0.0))
}

/// ∇·(D ∇u) of a row from fluxes through faces, added to `sum` \[padded\]. `per_area` is 1/h²
/// along each axis; `lines` are two padded rows, of u and to work in.
#[inline(always)]
pub(super) fn diffusion<L: Lanes>(
    around: &Around<'_, L::Scalar>,
    coefficients: &Around<'_, L::Scalar>,
    (j, k): (isize, isize),
    faces: impl Faces<L>,
    per_area: [f64; 3],
    lines: (&[L::Scalar], &mut [L::Scalar]),
    spare: &mut [L::Scalar],
    sum: &mut [L::Scalar],
) {
    let nx = around.shape[0];
    let (line, d) = lines;
    let mut spare = spare.chunks_exact_mut(around.wide);
    d[PAD..PAD + nx].copy_from_slice(&coefficients.row(j, k)[..nx]);
    row::fill_ends(d, nx, &coefficients.ghosts[0]);
    let weight = L::lit(per_area[0]);
    let mut x = 0;
    while x < nx {
        let at = PAD + x;
        let u = |shift: usize| L::load(&line[at + shift - 1..at + shift - 1 + L::WIDTH]);
        let c = |shift: usize| L::load(&d[at + shift - 1..at + shift - 1 + L::WIDTH]);
        let into = faces.through(x, 0, -1, harmonic(c(0), c(1)) * (u(0) - u(1)));
        let out = faces.through(x, 0, 0, harmonic(c(1), c(2)) * (u(1) - u(2)));
        let gain = weight * (into - out);
        (L::load(&sum[at..at + L::WIDTH]) + gain).store(&mut sum[at..at + L::WIDTH]);
        x += L::WIDTH;
    }
    for axis in 1..3 {
        let shifted = |n: isize| if axis == 1 { (j + n, k) } else { (j, k + n) };
        let (mut u, mut c) = ([&line[..0]; 3], [&line[..0]; 3]);
        for n in 0..3 {
            let (y, z) = shifted(n as isize - 1);
            u[n] = around.neighbour::<L>(y, z, &mut spare);
            c[n] = coefficients.neighbour::<L>(y, z, &mut nothing());
        }
        let weight = L::lit(per_area[axis]);
        let mut x = 0;
        while x < nx {
            let at = |rows: &[&[L::Scalar]; 3], n: usize| L::load(&rows[n][x..x + L::WIDTH]);
            let into = harmonic(at(&c, 0), at(&c, 1)) * (at(&u, 0) - at(&u, 1));
            let into = faces.through(x, axis, -1, into);
            let out = harmonic(at(&c, 1), at(&c, 2)) * (at(&u, 1) - at(&u, 2));
            let out = faces.through(x, axis, 0, out);
            let range = PAD + x..PAD + x + L::WIDTH;
            (L::load(&sum[range.clone()]) + weight * (into - out)).store(&mut sum[range]);
            x += L::WIDTH;
        }
    }
}

/// No spare rows: for arrays without affine ghosts.
#[inline(always)]
fn nothing<'a, T>() -> Spare<'a, T> {
    let none: &mut [T] = &mut [];
    none.chunks_exact_mut(1)
}

/// Ghosts of coefficients and velocities: what is outside is what is inside.
pub(crate) fn inherited<T: Scalar>(
    of_species: &crate::problem::boundaries::Ghosts<T>,
) -> crate::problem::boundaries::Ghosts<T> {
    of_species.map(|ends| {
        ends.map(|end| match end {
            Ghost::Wrap => Ghost::Wrap,
            _ => Ghost::Mirror,
        })
    })
}
