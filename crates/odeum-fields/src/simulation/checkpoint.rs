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
    pub allowed_growth: f64,
    /// What steps of a given size whose coefficients change may have made of a wave that decays: ln of the factor.
    pub grown: f64,
    /// Steps from that judgement to the next; zero before.
    pub judged_every: u32,
    /// How many of these are left.
    pub judged_in: u32,
    /// How fast something grows that the error of adaptive steps does not see [1/time]; zero where nothing does.
    pub growth: f64,
    /// The largest |λ| of what does [1/time].
    pub growing_radius: f64,
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
pub(super) const MOST_COUNTED: u64 = 1 << 60;

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
            allowed_growth: 0.0,
            grown: 0.0,
            judged_every: 0,
            judged_in: 0,
            growth: 0.0,
            growing_radius: 0.0,
            held: [0.0; 2],
            explained: 1.0,
            control: [0.0; 4],
            counts: Counts::default(),
        }
    }

    /// How many numbers a clock is written as.
    pub const NUMBERS: usize = 26;

    /// Its numbers, in the order in which they are declared, with their names.
    fn numbers_mut(&mut self) -> [(&'static str, Number<'_>); Clock::NUMBERS] {
        let [exponents, time] = &mut self.held;
        let [a, b, c, d] = &mut self.control;
        let Counts { steps, rejected, sweeps } = &mut self.counts;
        [
            ("identity", Number::Any(&mut self.identity)),
            ("start", Number::Finite(&mut self.start)),
            ("t", Number::Finite(&mut self.t)),
            ("origin", Number::Finite(&mut self.origin)),
            ("since_origin", Number::Count(&mut self.since_origin)),
            ("next_step", Number::FiniteSize(&mut self.next_step)),
            ("radius", Number::Size(&mut self.radius)),
            ("radius_age", Number::Count(&mut self.radius_age)),
            ("non_finite", Number::Flag(&mut self.non_finite)),
            ("largest", Number::Size(&mut self.largest)),
            ("allowed_growth", Number::Size(&mut self.allowed_growth)),
            ("grown", Number::Size(&mut self.grown)),
            ("judged_every", Number::Short(&mut self.judged_every)),
            ("judged_in", Number::Short(&mut self.judged_in)),
            ("growth", Number::Size(&mut self.growth)),
            ("growing_radius", Number::Size(&mut self.growing_radius)),
            ("held", Number::Size(exponents)),
            ("held", Number::Size(time)),
            ("explained", Number::Size(&mut self.explained)),
            ("control", Number::Finite(a)),
            ("control", Number::Finite(b)),
            ("control", Number::Finite(c)),
            ("control", Number::Finite(d)),
            ("counts.steps", Number::Count(steps)),
            ("counts.rejected", Number::Count(rejected)),
            ("counts.sweeps", Number::Count(sweeps)),
        ]
    }

    /// Refuses numbers that no simulation has.
    pub(super) fn check(mut self) -> Result<(), Error> {
        match self.numbers_mut().into_iter().find_map(|(name, x)| Some((name, x.fault()?))) {
            Some((name, x)) => Err(Error::input(Argument::new("clock").key(name), x, UNCHANGED)),
            None => Ok(()),
        }
    }

    /// The clock as whole numbers: counts, and the bits of others.
    pub fn numbers(mut self) -> [u64; Clock::NUMBERS] {
        self.numbers_mut().map(|(_, x)| x.bits())
    }

    /// The inverse of [`numbers`](Clock::numbers).
    pub fn from_numbers(numbers: [u64; Clock::NUMBERS]) -> Clock {
        let mut clock = Clock::at(0.0);
        clock.numbers_mut().into_iter().zip(numbers).for_each(|((_, x), bits)| x.set(bits));
        clock
    }
}

/// A number of a clock, by what it may be.
enum Number<'a> {
    Any(&'a mut u64),
    /// Up to [`MOST_COUNTED`].
    Count(&'a mut u64),
    Short(&'a mut u32),
    Flag(&'a mut bool),
    Finite(&'a mut f64),
    /// Not negative.
    Size(&'a mut f64),
    /// Both.
    FiniteSize(&'a mut f64),
}

impl Number<'_> {
    /// What it is, where no simulation has that.
    fn fault(self) -> Option<String> {
        match self {
            Number::Any(_) | Number::Short(_) | Number::Flag(_) => None,
            Number::Count(n) => (*n > MOST_COUNTED).then(|| n.to_string()),
            Number::Finite(x) => (!x.is_finite()).then(|| x.to_string()),
            Number::Size(x) => (x.is_nan() || *x < 0.0).then(|| x.to_string()),
            Number::FiniteSize(x) => (!x.is_finite() || *x < 0.0).then(|| x.to_string()),
        }
    }

    fn bits(self) -> u64 {
        match self {
            Number::Any(n) | Number::Count(n) => *n,
            Number::Short(n) => u64::from(*n),
            Number::Flag(flag) => u64::from(*flag),
            Number::Finite(x) | Number::Size(x) | Number::FiniteSize(x) => x.to_bits(),
        }
    }

    fn set(self, bits: u64) {
        match self {
            Number::Any(n) | Number::Count(n) => *n = bits,
            Number::Short(n) => *n = u32::try_from(bits).unwrap_or(u32::MAX),
            Number::Flag(flag) => *flag = bits != 0,
            Number::Finite(x) | Number::Size(x) | Number::FiniteSize(x) => {
                *x = f64::from_bits(bits)
            }
        }
    }
}

/// First bytes of a checkpoint, with the version of its form.
const MAGIC: &[u8; 8] = b"odmfld09";

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
