//! Cells of a flow code whose arrays lie on a device: the kernels that make states of reactors of them, and back.
//!
//! The text stands after the scalar of device code and after what kernels see of an ensemble on a device: `OdResident` with
//! component-major states, one parameter, steps, statuses and counts; `od_tell`, `od_own_system`, `OdStats`,
//! `OD_EXCHANGE_BLOCK` and the numbers of statuses.

use super::constants;
use crate::reactor::{Reactor, SUM_TOLERANCE};
use odeum_core::emit::literal;
use std::fmt::Write;

/// The kernel that fills states and parameters, and tells what stands against that ([`CellFault`]).
pub const TO_STATES: &str = "od_cells_to_states";
/// The kernel that gives the new states of cells that did not fail back, and tells how far they came ([`excess_temperature`]).
pub const TO_CELLS: &str = "od_states_to_cells";

const CELLS: &str = include_str!("cells.cuh");

/// Where arrays of cells lie on a device, the second argument of the kernels: `OdCells`. Strides are in numbers, and may be
/// zero or negative.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct Cells {
    /// Address of the temperatures \[K\] \[cells\].
    pub temperatures: u64,
    /// Address of the pressures \[Pa\] \[cells\]; zero: one for all.
    pub pressures: u64,
    /// Address of the mass fractions [cells, species].
    pub mass_fractions: u64,
    /// The pressure of all \[Pa\].
    pub pressure: f64,
    /// From a temperature to the next.
    pub temperature_stride: i64,
    /// From a pressure to the next.
    pub pressure_stride: i64,
    /// From a cell, and from a species, to the next.
    pub mass_fraction_strides: [i64; 2],
    /// One where pressures are written, else zero.
    pub updates_pressures: u64,
    /// How far outside the thermodynamic data a cell may start \[K\].
    pub temperature_margin: f64,
}

/// What [`TO_STATES`] tells from here on is a cell outside the data; below that, a number that is not finite.
const OUTSIDE: u64 = 1 << 63;

/// What is wrong with a cell, as [`TO_STATES`] told.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum CellFault {
    /// The first number that is not finite.
    NotFinite(NotFinite),
    /// All are, and this is the first cell that does not start because of its temperature.
    Outside(usize),
}

impl CellFault {
    /// Of the number that was told.
    pub fn decode(number: u64, n_species: usize) -> CellFault {
        match number.checked_sub(OUTSIDE) {
            Some(cell) => CellFault::Outside(cell as usize),
            None => CellFault::NotFinite(NotFinite::decode(number, n_species)),
        }
    }
}

/// How far outside the thermodynamic data the call left any cell \[K\], of the number that [`TO_CELLS`] told; zero where
/// steps alone ended there. No number is told where none did.
pub fn excess_temperature(number: u64) -> f64 {
    f64::from_bits((!number).saturating_sub(1))
}

/// A number of the caller that is not finite.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct NotFinite {
    /// Its cell.
    pub cell: usize,
    /// Its place in the cell: temperature, pressure, mass fractions.
    pub place: usize,
    /// NaN, or an infinity.
    pub value: f64,
}

impl NotFinite {
    /// The first number of the first cell.
    fn decode(number: u64, n_species: usize) -> NotFinite {
        let numbers = n_species as u64 + 2;
        let place = number / 3;
        let value = [f64::NAN, f64::INFINITY, f64::NEG_INFINITY][(number % 3) as usize];
        NotFinite { cell: (place / numbers) as usize, place: (place % numbers) as usize, value }
    }
}

impl Reactor {
    /// The text of both kernels. [`Cells`] say how far outside the data temperatures may lie. Mass fractions count as those
    /// of a gas as for [`state`](Reactor::state), and else after what is below zero by no more than its `slack` \[species\]
    /// became zero, if they then sum to one within `sum_tolerance`.
    pub fn cells_text(&self, slack: &[f64], sum_tolerance: f64) -> String {
        let kinetics = &**self.kinetics();
        let (low, high) = kinetics.temperature_bounds();
        let mut text = constants(self);
        // Writing to a string cannot fail.
        let _ = writeln!(text, "#define OD_CELLS_SPECIES {}", kinetics.n_species());
        for (name, value) in [
            ("LOWEST", low),
            ("HIGHEST", high),
            ("SUM", SUM_TOLERANCE),
            ("GIVEN_SUM", sum_tolerance),
        ] {
            let _ = writeln!(text, "#define OD_CELLS_{name} {}", literal(value));
        }
        let _ = writeln!(text, "#define OD_CELLS_OUTSIDE {OUTSIDE}ull");
        // Tables hold finite numbers.
        let slack: Vec<f64> = slack.iter().map(|slack| slack.min(f64::MAX)).collect();
        for (name, values) in [("slack", &slack), ("recip_weight", &kinetics.recip_weight)] {
            // One for each species, whatever was given.
            let of = |k| literal(values.get(k).copied().unwrap_or(0.0));
            let values: Vec<_> = (0..kinetics.n_species()).map(of).collect();
            let (n, values) = (values.len(), values.join(", "));
            let _ = writeln!(text, "__constant__ real od_cells_{name}[{n}] = {{{values}}};");
        }
        text.push_str(CELLS);
        text
    }
}
