//! Programs over rows of points.
//!
//! Each instruction goes along the whole row before the next one begins, so that choosing it and
//! finding its operands costs next to nothing per point, and inputs are read where they lie.

use super::program::{Array, Place, Program};
use crate::graph::{Offsets, Operands};
use crate::lanes::{Lanes, Scalar};
use std::marker::PhantomData;

impl Program {
    /// Values of workspace that [`run_along`](Program::run_along) wants for rows of `points`.
    pub fn row_workspace(&self, points: usize) -> usize {
        self.lengths[Array::Work as usize] * points
    }

    /// Writes the constants and the time, each `points` times, into a workspace, where they stay
    /// for any number of [`run_along`](Program::run_along) of rows of that length.
    ///
    /// # Panics
    ///
    /// When the workspace is too short.
    pub fn load_along<T: Scalar>(&self, t: f64, points: usize, work: &mut [T]) {
        let time = self.uses_time.then_some(t);
        let given = self.constants.iter().copied().chain(time);
        for (k, value) in given.enumerate() {
            work[k * points..(k + 1) * points].fill(T::from_f64(value));
        }
    }

    /// Computes all outputs at the first `points` points, from a row of each state; of a program
    /// without parameters. Rows of outputs begin `stride` apart. `work` has been
    /// [loaded](Program::load_along) for `room` points. Points are computed in whole packs: where
    /// they do not fill the last, so many more are read and written.
    ///
    /// # Panics
    ///
    /// When the program has parameters, there are too few rows, or one is too short.
    #[inline(always)]
    pub fn run_along<L: Lanes>(
        &self,
        points: usize,
        states: &[&[L::Scalar]],
        (outputs, stride): (&mut [L::Scalar], usize),
        (work, room): (&mut [L::Scalar], usize),
    ) {
        let points = points.next_multiple_of(L::WIDTH);
        assert!(self.lengths[Array::Param as usize] == 0, "parameters are to be numbers");
        assert!(room >= points && work.len() >= self.row_workspace(room), "workspace too short");
        assert!(states.len() >= self.lengths[Array::State as usize], "too few states");
        assert!(states.iter().all(|row| row.len() >= points), "a row is too short");
        let last = self.n_outputs().saturating_sub(1) * stride;
        assert!(stride >= points && outputs.len() >= last + points, "too few outputs");
        if points == 0 {
            return;
        }
        let mut rows = Rows { states, outputs, stride, work, room };
        for instruction in &self.instructions {
            // No `array::map`: that stays a call.
            let to = rows.find(instruction.place(0));
            let (a, b) = (rows.find(instruction.place(1)), rows.find(instruction.place(2)));
            let from = [a, b, rows.find(instruction.place(3))];
            let along = Along::<L> { to, from, at: 0, points, pack: PhantomData };
            instruction.op.run_along(along);
        }
        for &(to, from) in &self.copies {
            let (to, from) = (rows.find(to), rows.find(from));
            // SAFETY: rows of at least so many points; those of outputs are no others.
            unsafe { std::ptr::copy(from, to, points) };
        }
    }
}

/// The rows of a run.
struct Rows<'a, T> {
    states: &'a [&'a [T]],
    outputs: &'a mut [T],
    stride: usize,
    work: &'a mut [T],
    room: usize,
}

impl<T> Rows<'_, T> {
    /// The first point of a row. States are never written: `validate` has checked that.
    #[inline(always)]
    fn find(&mut self, place: Place) -> *mut T {
        match place.array() {
            0 => self.work[place.index() * self.room..].as_mut_ptr(),
            1 => self.states[place.index()].as_ptr().cast_mut(),
            _ => self.outputs[place.index() * self.stride..].as_mut_ptr(),
        }
    }
}

/// An instruction on its way along rows of `points` points, whole packs.
///
/// Made only by [`Program::run_along`], which has compared the lengths of all rows.
struct Along<L: Lanes> {
    to: *mut L::Scalar,
    from: [*mut L::Scalar; 3],
    at: usize,
    points: usize,
    pack: PhantomData<L>,
}

impl<L: Lanes> Operands<L> for Along<L> {
    #[inline(always)]
    fn operand(&self, k: usize) -> L {
        // SAFETY: a whole pack lies within the row, since `at` is below `points`.
        L::load(unsafe { std::slice::from_raw_parts(self.from[k].add(self.at), L::WIDTH) })
    }

    #[inline(always)]
    fn result(&mut self, value: L) {
        // SAFETY: as above; the rows are the run's own, and no operand is held any more.
        let to = unsafe { std::slice::from_raw_parts_mut(self.to.add(self.at), L::WIDTH) };
        value.store(to);
    }
}

impl<L: Lanes> Offsets<L> for Along<L> {
    #[inline(always)]
    fn advance(&mut self) -> bool {
        self.at += L::WIDTH;
        self.at < self.points
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lanes::{Isa, LaneWork};
    use crate::{Graph, Real, Symbol};

    struct Run<'a>(&'a Program, [&'a [f64]; 2]);

    impl LaneWork<f64> for Run<'_> {
        type Output = Vec<f64>;

        #[inline(always)]
        fn run<L: Lanes<Scalar = f64>>(self) -> Vec<f64> {
            let Run(program, states) = self;
            let mut out = vec![0.0; 3 * 40];
            let mut work = vec![f64::NAN; program.row_workspace(32)];
            program.load_along(0.5, 32, &mut work);
            program.run_along::<L>(21, &states, (&mut out, 40), (&mut work, 32));
            out
        }
    }

    #[test]
    fn rows_give_what_points_give() {
        // An output that is an input, one that is used again, constants, the time.
        let graph = Graph::record(2, 0, |t, y, _| {
            let product = y[0] * y[1] + Symbol::lit(3.0);
            vec![product, y[1], (product * t).sin() - y[0] / y[1]]
        });
        let program = Program::new(&graph);
        let first: Vec<f64> = (0..32).map(|i| 0.3 + f64::from(i)).collect();
        let second: Vec<f64> = (0..32).map(|i| 1.7 - 0.25 * f64::from(i)).collect();
        for isa in Isa::available() {
            let found = isa.dispatch(Run(&program, [&first, &second]));
            for i in 0..21 {
                let wanted = graph.eval(0.5, &[first[i], second[i]], &[]);
                for k in 0..3 {
                    let error = (found[40 * k + i] - wanted[k]).abs();
                    assert!(error <= 4e-15 * (1.0 + wanted[k].abs()), "{isa} {k} {i}: {error}");
                }
            }
        }
    }
}
