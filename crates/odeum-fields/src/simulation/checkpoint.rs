//! A simulation written down, to be taken up again.

use crate::field::Field;
use crate::problem::grid::Grid;
use odeum_core::Argument;
use odeum_ode::{Error, Scalar};
use std::io::{self, Read, Write};

/// Counts of a simulation.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Steps that succeeded.
    pub steps: u64,
    /// Steps that were too inaccurate and taken again.
    pub rejected: u64,
    /// Evaluations of F over all cells.
    pub sweeps: u64,
}

/// All that a simulation needs to go on with the same bits.
#[derive(Clone, Debug, PartialEq)]
pub struct Checkpoint<T: Scalar> {
    /// The field.
    pub field: Field<T>,
    /// Time and memory of the method.
    pub clock: Clock,
}

/// The time of a simulation, and what its method remembers.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Clock {
    /// What tells the problem, the method and the steps from others; zero before a simulation. With others
    /// [`resume`](crate::Simulation::resume) begins anew.
    pub identity: u64,
    /// The time at which the simulation began \[time\].
    pub start: f64,
    /// The time reached \[time\].
    pub t: f64,
    /// Where the present sequence of equal steps began \[time\], and how many there were: times
    /// are multiples of the step, not sums.
    pub origin: f64,
    /// Equal steps since the origin.
    pub since_origin: u64,
    /// The step proposed, or that of a fraction of the largest \[time\]; zero before the first.
    pub next_step: f64,
    /// The spectral radius that stages are chosen by [1/time]; zero before it is known.
    pub radius: f64,
    /// Steps since it was computed.
    pub radius_age: u64,
    /// True when the last attempt met NaN or infinity.
    pub non_finite: bool,
    /// The largest step when steps were judged last \[time\]; zero before.
    pub largest: f64,
    /// How fast waves that do not decay may be made to grow over all the time from the start to the latest end [1/time]; zero
    /// before it is known.
    pub floor: f64,
    /// What steps of a given size whose coefficients change may have made of a wave that decays: ln of the factor.
    pub grown: f64,
    /// Steps from that judgement to the next; zero before.
    pub judged_every: u32,
    /// How many of these are left.
    pub judged_in: u32,
    /// How fast something grows that the error of adaptive steps does not see [1/time]; zero where nothing does.
    pub growth: f64,
    /// The largest |λ| of what does [1/time].
    pub growing: f64,
    /// Growth over the last steps that nothing but that has held, as ln of the factor, and their time \[time\].
    pub held: [f64; 2],
    /// The part of the values that the equations explain, of the coupled species of which it is least.
    pub explained: f64,
    /// Memory of the step-size controller.
    pub control: [f64; 4],
    /// What has been done.
    pub counts: Counts,
}

/// What to do about a clock that was changed.
pub(super) const UNCHANGED: &str =
    "take the clock of a simulation as it is, or begin anew with Clock::at";

/// More than any simulation counts; sums of counts stay numbers.
const MOST_COUNTED: u64 = 1 << 60;

impl Clock {
    /// A simulation that begins at `t`.
    pub fn at(t: f64) -> Clock {
        Clock {
            identity: 0,
            start: t,
            t,
            origin: t,
            since_origin: 0,
            next_step: 0.0,
            radius: 0.0,
            radius_age: 0,
            non_finite: false,
            largest: 0.0,
            floor: 0.0,
            grown: 0.0,
            judged_every: 0,
            judged_in: 0,
            growth: 0.0,
            growing: 0.0,
            held: [0.0; 2],
            explained: 1.0,
            control: [0.0; 4],
            counts: Counts::default(),
        }
    }

    /// Refuses numbers that no simulation has.
    pub(super) fn check(&self) -> Result<(), Error> {
        let Clock { start, t, origin, next_step, radius, largest, floor, grown, .. } = *self;
        let Clock { growth, growing, held: [exponents, time], explained, .. } = *self;
        for (name, x) in [("start", start), ("t", t), ("origin", origin), ("next_step", next_step)]
        {
            if !x.is_finite() {
                return Err(Error::input(Argument::new("clock").key(name), x, UNCHANGED));
            }
        }
        let sizes = [
            ("next_step", next_step),
            ("radius", radius),
            ("largest", largest),
            ("floor", floor),
            ("grown", grown),
            ("growth", growth),
            ("growing", growing),
            ("held", exponents),
            ("held", time),
            ("explained", explained),
        ];
        if let Some((name, x)) = sizes.into_iter().find(|(_, x)| x.is_nan() || *x < 0.0) {
            return Err(Error::input(Argument::new("clock").key(name), x, UNCHANGED));
        }
        let counts = [
            ("since_origin", self.since_origin),
            ("radius_age", self.radius_age),
            ("counts.steps", self.counts.steps),
            ("counts.rejected", self.counts.rejected),
            ("counts.sweeps", self.counts.sweeps),
        ];
        if let Some((name, x)) = counts.into_iter().find(|(_, x)| *x > MOST_COUNTED) {
            return Err(Error::input(Argument::new("clock").key(name), x, UNCHANGED));
        }
        match self.control.into_iter().find(|x| !x.is_finite()) {
            Some(x) => Err(Error::input(Argument::new("clock").key("control"), x, UNCHANGED)),
            None => Ok(()),
        }
    }

    /// How many numbers a clock is written as.
    pub const NUMBERS: usize = 25;

    /// The clock as whole numbers: counts, and the bits of others.
    pub fn numbers(&self) -> [u64; Clock::NUMBERS] {
        let [a, b, c, d] = self.control.map(f64::to_bits);
        [
            self.t.to_bits(),
            self.origin.to_bits(),
            self.since_origin,
            self.next_step.to_bits(),
            self.radius.to_bits(),
            self.radius_age,
            u64::from(self.non_finite),
            a,
            b,
            c,
            d,
            self.counts.steps,
            self.counts.rejected,
            self.counts.sweeps,
            self.largest.to_bits(),
            u64::from(self.judged_every) << 32 | u64::from(self.judged_in),
            self.floor.to_bits(),
            self.start.to_bits(),
            self.grown.to_bits(),
            self.identity,
            self.growth.to_bits(),
            self.held[0].to_bits(),
            self.held[1].to_bits(),
            self.growing.to_bits(),
            self.explained.to_bits(),
        ]
    }

    /// The inverse of [`numbers`](Clock::numbers).
    pub fn from_numbers(numbers: [u64; Clock::NUMBERS]) -> Clock {
        let real = |k: usize| f64::from_bits(numbers[k]);
        Clock {
            identity: numbers[19],
            start: real(17),
            t: real(0),
            origin: real(1),
            since_origin: numbers[2],
            next_step: real(3),
            radius: real(4),
            radius_age: numbers[5],
            non_finite: numbers[6] != 0,
            largest: real(14),
            floor: real(16),
            grown: real(18),
            judged_every: (numbers[15] >> 32) as u32,
            judged_in: numbers[15] as u32,
            growth: real(20),
            growing: real(23),
            held: [real(21), real(22)],
            explained: real(24),
            control: [real(7), real(8), real(9), real(10)],
            counts: Counts { steps: numbers[11], rejected: numbers[12], sweeps: numbers[13] },
        }
    }
}

/// First bytes of a checkpoint, with the version of its form.
const MAGIC: &[u8; 8] = b"odmfld08";

/// How many of these bytes are those of all versions.
const MARK: usize = 6;

/// Numbers before the values: bytes of one, cells along x, y and z, species; those of the clock.
const HEAD: usize = 5;
const CLOCK: usize = Clock::NUMBERS;

impl<T: Scalar> Checkpoint<T> {
    /// Bytes that [`write`](Checkpoint::write) writes for a field of so many species; none where
    /// there are too many to count.
    pub fn bytes(grid: &Grid, species: usize) -> Option<u64> {
        let [nx, ny, nz] = grid.shape().map(|n| n as u64);
        let plane = nx.checked_mul(ny)?.checked_mul(species as u64)?;
        let values = plane.checked_mul(nz)?.checked_mul(size_of::<T>() as u64)?;
        values.checked_add((MAGIC.len() + 8 * (HEAD + CLOCK)) as u64)
    }

    /// Writes everything, numbers in little-endian order: a mark, bytes of a number, shape,
    /// species, the clock, then the values of each species, x fastest.
    pub fn write(&self, to: &mut impl Write) -> io::Result<()> {
        let [nx, ny, nz] = self.field.shape();
        to.write_all(MAGIC)?;
        for number in [size_of::<T>(), nx, ny, nz, self.field.species()] {
            to.write_all(&(number as u64).to_le_bytes())?;
        }
        for number in self.clock.numbers() {
            to.write_all(&number.to_le_bytes())?;
        }
        let mut bytes = Vec::with_capacity(nx * size_of::<T>());
        for s in 0..self.field.species() {
            for z in 0..nz {
                for y in 0..ny {
                    bytes.clear();
                    for value in self.field.row(s, y, z) {
                        // A single-precision number goes through double precision unchanged.
                        match size_of::<T>() {
                            4 => bytes.extend((value.to_f64() as f32).to_le_bytes()),
                            _ => bytes.extend(value.to_f64().to_le_bytes()),
                        }
                    }
                    to.write_all(&bytes)?;
                }
            }
        }
        Ok(())
    }

    /// Reads what [`write`](Checkpoint::write) wrote, of so many species on a grid of this shape.
    ///
    /// # Errors
    /// What is read is of another field, or ends too soon. Memory for the field is taken only
    /// once it is known to have this size, whatever the bytes say.
    pub fn read(grid: &Grid, species: usize, from: &mut impl Read) -> io::Result<Checkpoint<T>> {
        let refuse = |what: String| io::Error::new(io::ErrorKind::InvalidData, what);
        let mut magic = [0; 8];
        from.read_exact(&mut magic)?;
        if &magic != MAGIC {
            return Err(refuse(match magic[..MARK] == MAGIC[..MARK] {
                true => "this is a checkpoint of another version of Odeum: begin anew".to_owned(),
                false => "this is no checkpoint of a field".to_owned(),
            }));
        }
        let mut number = || {
            let mut bytes = [0; 8];
            from.read_exact(&mut bytes).map(|()| u64::from_le_bytes(bytes))
        };
        let head: [u64; HEAD] = [number()?, number()?, number()?, number()?, number()?];
        let mut numbers = [0; CLOCK];
        for slot in &mut numbers {
            *slot = number()?;
        }
        if head[0] != size_of::<T>() as u64 {
            return Err(refuse(format!(
                "the checkpoint has numbers of {} bytes, not {}",
                head[0],
                T::NAME
            )));
        }
        let shape = grid.shape().map(|n| n as u64);
        if head[1..4] != shape {
            return Err(refuse(format!(
                "the checkpoint has {:?} cells, not {shape:?}",
                &head[1..4]
            )));
        }
        if head[4] != species as u64 {
            return Err(refuse(format!("the checkpoint has {} species, not {species}", head[4])));
        }
        let mut field = Field::zeros(grid, species).map_err(|error| refuse(error.to_string()))?;
        let [nx, ny, nz] = grid.shape();
        let mut bytes = vec![0; nx * size_of::<T>()];
        for s in 0..species {
            for z in 0..nz {
                for y in 0..ny {
                    from.read_exact(&mut bytes)?;
                    let row = field.row_mut(s, y, z);
                    for (value, bytes) in row.iter_mut().zip(bytes.chunks_exact(size_of::<T>())) {
                        *value = T::from_f64(match *bytes {
                            [a, b, c, d] => f64::from(f32::from_le_bytes([a, b, c, d])),
                            [a, b, c, d, e, f, g, h] => {
                                f64::from_le_bytes([a, b, c, d, e, f, g, h])
                            }
                            _ => f64::NAN,
                        });
                    }
                }
            }
        }
        Ok(Checkpoint { field, clock: Clock::from_numbers(numbers) })
    }
}
