//! What happens at the faces of the box.

use crate::problem::grid::{AXES, Grid};
use crate::problem::quantity::{Quantity, TimeDependent};
use odeum_core::Argument;
use odeum_ode::Error;

/// A face of the box.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Face {
    /// 0, 1, 2 for x, y, z.
    pub axis: usize,
    /// True for the face at the high end of the axis.
    pub high: bool,
}

impl Face {
    /// All six: x low, x high, y low, …
    pub const ALL: [Face; 6] = [
        Face { axis: 0, high: false },
        Face { axis: 0, high: true },
        Face { axis: 1, high: false },
        Face { axis: 1, high: true },
        Face { axis: 2, high: false },
        Face { axis: 2, high: true },
    ];

    /// The name of its boundary condition in errors: `boundary.x_low`.
    pub fn argument(self) -> Argument {
        Argument::new("boundary").key(self.name().replace(' ', "_"))
    }

    /// `"x low"`, `"z high"`, …
    pub fn name(self) -> String {
        let end = if self.high { "high" } else { "low" };
        match AXES.get(self.axis) {
            Some(axis) => format!("{axis} {end}"),
            None => format!("axis {} {end}", self.axis),
        }
    }
}

/// What a species does at a boundary. The boundary lies on the outer faces of the outermost cells, half
/// a cell beyond their centres; cells beyond it are ghosts, whose value u₋ follows from that of
/// their mirror image u₊. At edges and corners the rule is applied along each axis in turn.
#[derive(Clone, Debug, PartialEq)]
pub enum Boundary {
    /// Nothing passes: u₋ = u₊, and no velocity carries through it. The sum over all cells is conserved
    /// to rounding; what a velocity brings to it piles up before it.
    NoFlux,
    /// What is outside is what is inside: u₋ = u₊, and a velocity carries through it, out as well as in.
    /// So Molnár et al. (2011) treat the boundaries of their plume, which they call no-flux.
    Open,
    /// The opposite face continues here; both must be periodic, for every species.
    Periodic,
    /// The value at the boundary [units of u]: u₋ = 2 g − u₊. A velocity that comes in carries g.
    Dirichlet(Quantity),
    /// a u + b ∂u/∂n = g at the boundary, with n pointing outward:
    /// (a/2 + b/h) u₋ = g − (a/2 − b/h) u₊. With a = 0 and b = 1, a given gradient. A velocity that
    /// comes in carries the value at the boundary, (u₋ + u₊)/2. If a and b have opposite signs, more
    /// enters where there is more, and cells must be smaller than 2 |b/a|.
    Robin {
        /// a
        value: f64,
        /// b \[length\]
        gradient: f64,
        /// g [units of u]
        amount: Quantity,
    },
}

/// The boundaries of a box, face by face and species by species.
#[derive(Clone, Debug, PartialEq)]
pub struct Boundaries {
    everywhere: Boundary,
    faces: Vec<(Face, Option<String>, Boundary)>,
}

impl Default for Boundaries {
    fn default() -> Boundaries {
        Boundaries::all(Boundary::NoFlux)
    }
}

impl Boundaries {
    /// The same boundary on all faces, for all species: of a plane on those across it too.
    pub fn all(boundary: Boundary) -> Boundaries {
        Boundaries { everywhere: boundary, faces: Vec::new() }
    }

    /// Another boundary on one face, for all species.
    pub fn face(mut self, face: Face, boundary: Boundary) -> Boundaries {
        self.faces.push((face, None, boundary));
        self
    }

    /// Another boundary on one face, for one species. It goes before [`Boundaries::face`].
    pub fn species(mut self, face: Face, species: &str, boundary: Boundary) -> Boundaries {
        self.faces.push((face, Some(species.to_owned()), boundary));
        self
    }

    /// Another boundary on both faces of an axis, for all species.
    pub fn axis(self, axis: usize, boundary: Boundary) -> Boundaries {
        self.face(Face { axis, high: false }, boundary.clone())
            .face(Face { axis, high: true }, boundary)
    }

    /// The same boundaries where new axis k is old axis `axes[k]`.
    pub(crate) fn turned(&self, axes: [usize; 3]) -> Boundaries {
        let mut boundaries = self.clone();
        for (face, _, _) in &mut boundaries.faces {
            face.axis = axes.iter().position(|axis| *axis == face.axis).unwrap_or(face.axis);
        }
        boundaries
    }

    /// The boundaries of each of the species, ready for numbers.
    pub(crate) fn bind(
        &self,
        grid: &Grid,
        species: &[String],
        params: &[(String, f64)],
    ) -> Result<Vec<SpeciesBoundaries>, Error> {
        self.check(species)?;
        let mut boundaries = Vec::with_capacity(species.len());
        for name in species {
            let mut six = Vec::with_capacity(6);
            for face in Face::ALL {
                let field = face.argument().key(name.clone());
                let h = grid.spacing()[face.axis];
                six.push(self.of(face, name).bind(h, params, &field)?);
            }
            boundaries.push(SpeciesBoundaries(six));
        }
        for axis in 0..3 {
            let periodic = |boundaries: &SpeciesBoundaries, high: usize| {
                matches!(boundaries.0[2 * axis + high], BoundCondition::Periodic)
            };
            let all = boundaries
                .iter()
                .all(|boundaries| periodic(boundaries, 0) && periodic(boundaries, 1));
            let none = boundaries
                .iter()
                .all(|boundaries| !periodic(boundaries, 0) && !periodic(boundaries, 1));
            if !all && !none {
                return Err(Error::input(
                    Argument::new("boundary").key(AXES[axis]),
                    "periodic and others",
                    "make both faces periodic for every species, or none",
                ));
            }
        }
        Ok(boundaries)
    }

    /// Names that exist, faces that exist, and no boundary twice.
    fn check(&self, species: &[String]) -> Result<(), Error> {
        for (n, (face, name, _)) in self.faces.iter().enumerate() {
            if face.axis > 2 {
                return Err(Error::input(
                    "boundary",
                    format!("axis {}", face.axis),
                    "axes are 0, 1, 2",
                ));
            }
            if let Some(name) = name
                && !species.contains(name)
            {
                let remedy = format!("the species are {}", species.join(", "));
                return Err(Error::input(face.argument(), name, remedy));
            }
            let twice = self.faces[..n].iter().any(|(other, who, _)| (other, who) == (face, name));
            if twice {
                let field = face.argument();
                let found = format!("two for {}", name.as_deref().unwrap_or("all species"));
                return Err(Error::input(field, found, "give one"));
            }
        }
        Ok(())
    }

    /// Whether a species has a boundary of its own on a face.
    pub(crate) fn has_own(&self, face: Face, species: &str) -> bool {
        self.faces.iter().any(|(other, name, _)| *other == face && name.as_deref() == Some(species))
    }

    /// The boundary that counts for a species on a face.
    fn of(&self, face: Face, species: &str) -> &Boundary {
        let find = |wanted: Option<&str>| {
            self.faces
                .iter()
                .find(|(other, name, _)| *other == face && name.as_deref() == wanted)
                .map(|(_, _, boundary)| boundary)
        };
        find(Some(species)).or_else(|| find(None)).unwrap_or(&self.everywhere)
    }
}

impl Boundary {
    fn bind(
        &self,
        h: f64,
        params: &[(String, f64)],
        field: &Argument,
    ) -> Result<BoundCondition, Error> {
        Ok(match self {
            Boundary::NoFlux => BoundCondition::NoFlux,
            Boundary::Open => BoundCondition::Open,
            Boundary::Periodic => BoundCondition::Periodic,
            Boundary::Dirichlet(value) => BoundCondition::Affine {
                amount: value.bind(params, field)?,
                gain: 2.0,
                scale: -1.0,
            },
            Boundary::Robin { value, gradient, amount } => {
                let (a, b) = (value / 2.0, gradient / h);
                let ghost = a + b;
                if !(ghost != 0.0 && ghost.is_finite()) {
                    let found = format!("a = {value}, b = {gradient}");
                    return Err(Error::input(field, found, "a/2 + b/h must not be zero"));
                }
                let scale = (b - a) / ghost;
                // The ghost of a cell too large for what it meets at the boundary is of opposite sign and larger: no step is
                // stable that is for all other boundaries.
                if scale < -1.0 {
                    let found = format!("a = {value}, b = {gradient}");
                    let most = 2.0 * (gradient / value).abs();
                    let remedy = format!(
                        "a and b have opposite signs: cells must be smaller than 2 |b/a| = {most}, not {h}"
                    );
                    return Err(Error::input(field, found, remedy));
                }
                BoundCondition::Affine {
                    amount: amount.bind(params, field)?,
                    gain: 1.0 / ghost,
                    scale,
                }
            }
        })
    }
}

/// The boundaries of one species, in the order of [`Face::ALL`].
#[derive(Clone, Debug)]
pub(crate) struct SpeciesBoundaries(Vec<BoundCondition>);

impl SpeciesBoundaries {
    /// Whether a boundary changes with time.
    pub(crate) fn vary(&self) -> bool {
        let varies = |boundary: &BoundCondition| {
            matches!(boundary, BoundCondition::Affine { amount: TimeDependent::Varying(_), .. })
        };
        self.0.iter().any(varies)
    }
}

/// A boundary with numbers for the parameters.
#[derive(Clone, Debug)]
enum BoundCondition {
    NoFlux,
    Open,
    Periodic,
    /// u₋ = gain · amount(t) + scale · u₊.
    Affine {
        amount: TimeDependent,
        gain: f64,
        scale: f64,
    },
}

/// What a velocity finds at an end of an axis.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum End {
    /// A boundary that nothing passes.
    Shut,
    /// What the ghosts say.
    Open,
    /// A boundary with a value, which it carries in: (u₋ + u₊)/2.
    Given,
}

/// What stands in a ghost cell, at one time.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Ghost<T> {
    /// What its mirror image has.
    Mirror,
    /// What the cell at the other end has.
    Wrap,
    /// shift + scale · (what its mirror image has).
    Affine { shift: T, scale: T },
}

/// The ghosts at both ends of each axis.
pub(crate) type Ghosts<T> = [[Ghost<T>; 2]; 3];

/// Where cell `i` of an axis of `n` cells is found: itself, or for a ghost the cell that gives
/// its value, and how.
#[inline(always)]
pub(crate) fn source<T: Copy>(i: isize, n: usize, ends: &[Ghost<T>; 2]) -> (usize, Option<(T, T)>) {
    let len = n as isize;
    if i >= 0 && i < len {
        return (i as usize, None);
    }
    let mirror = if i < 0 { -1 - i } else { 2 * len - 1 - i };
    let mirror = mirror.clamp(0, len - 1) as usize;
    match ends[usize::from(i >= 0)] {
        Ghost::Mirror => (mirror, None),
        Ghost::Wrap => (i.rem_euclid(len) as usize, None),
        Ghost::Affine { shift, scale } => (mirror, Some((shift, scale))),
    }
}

/// The largest eigenvalue of half the sum over both neighbours in a row of n ≥ 2 cells, or one where it is smaller: ghosts
/// beyond its ends have so many times the value of the outermost cells.
fn largest_mean(n: usize, scales: [f64; 2]) -> f64 {
    // No eigenvalue is above the largest sum of a row.
    let (mut low, mut high) = (1.0, (scales[0].max(scales[1]) + 1.0) / 2.0);
    // All are below c where the pivots of c less the matrix are positive.
    let is_above = |c: f64| {
        let mut pivot = 2.0 * c - scales[0];
        for _ in 2..n {
            if pivot <= 0.0 {
                return false;
            }
            pivot = 2.0 * c - 1.0 / pivot;
        }
        pivot > 0.0 && 2.0 * c - scales[1] - 1.0 / pivot > 0.0
    };
    if high <= 1.0 || is_above(1.0) {
        return 1.0;
    }
    while high - low > 1e-6 * high {
        let middle = 0.5 * (low + high);
        *(if is_above(middle) { &mut high } else { &mut low }) = middle;
    }
    high
}

/// Along which axes some species has boundaries that are [given](End::Given).
pub(crate) fn given(boundaries: &[SpeciesBoundaries]) -> [bool; 3] {
    [0, 1, 2].map(|axis| boundaries.iter().any(|b| b.ends()[axis].contains(&End::Given)))
}

/// Along which axes some species has one boundary that is open and one that nothing passes: a velocity empties a single cell
/// there, or fills it.
pub(crate) fn drained(boundaries: &[SpeciesBoundaries]) -> [bool; 3] {
    let one_way = |ends: [End; 2]| ends.contains(&End::Open) && ends.contains(&End::Shut);
    [0, 1, 2].map(|axis| boundaries.iter().any(|b| one_way(b.ends()[axis])))
}

impl SpeciesBoundaries {
    /// The ghosts at time `t`.
    pub(crate) fn at<T: odeum_ode::Scalar>(&self, t: f64) -> Ghosts<T> {
        let mut ghosts = [[Ghost::Mirror; 2]; 3];
        for (n, boundary) in self.0.iter().enumerate() {
            ghosts[n / 2][n % 2] = match boundary {
                BoundCondition::NoFlux | BoundCondition::Open => Ghost::Mirror,
                BoundCondition::Periodic => Ghost::Wrap,
                BoundCondition::Affine { amount, gain, scale } => Ghost::Affine {
                    shift: T::from_f64(gain * amount.at(t)),
                    scale: T::from_f64(*scale),
                },
            };
        }
        ghosts
    }

    /// What a velocity finds at both ends of each axis.
    pub(crate) fn ends(&self) -> [[End; 2]; 3] {
        let end = |n: usize| match self.0[n] {
            BoundCondition::NoFlux => End::Shut,
            BoundCondition::Open | BoundCondition::Periodic => End::Open,
            BoundCondition::Affine { .. } => End::Given,
        };
        [0, 1, 2].map(|axis| [end(2 * axis), end(2 * axis + 1)])
    }

    /// What ghosts beyond both boundaries of an axis take of their mirror images; zero where these are
    /// not [given](End::Given).
    pub(crate) fn scales(&self, axis: usize) -> [f64; 2] {
        [0, 1].map(|high| match self.0[2 * axis + high] {
            BoundCondition::Affine { scale, .. } => scale,
            _ => 0.0,
        })
    }

    /// Between which numbers the mean over both neighbours of a cell lies along an axis of `n` cells, in units of its value, of
    /// eigenvectors of that mean: of waves the cosine of their phase. What is given at boundaries counts as zero.
    pub(crate) fn cosines(&self, axis: usize, n: usize) -> [f64; 2] {
        let scale = |high: usize| match self.0[2 * axis + high] {
            BoundCondition::Affine { scale, .. } => scale,
            _ => 1.0,
        };
        let scales = [scale(0), scale(1)];
        match n {
            1 => {
                let mean = (scales[0] + scales[1]) / 2.0;
                [mean.min(1.0), mean.max(1.0)]
            }
            _ => [-1.0, largest_mean(n, scales)],
        }
    }

    /// The first face whose ghosts are not those of a closed or periodic boundary.
    pub(crate) fn first_given(&self) -> Option<Face> {
        let given = |boundary: &BoundCondition| matches!(boundary, BoundCondition::Affine { .. });
        self.0.iter().position(given).map(|n| Face::ALL[n])
    }

    /// The first face where what is given is not finite at a time, and what it is there.
    pub(crate) fn not_finite(&self, t: f64) -> Option<(Face, f64)> {
        let given = self.0.iter().zip(Face::ALL).filter_map(|(boundary, face)| match boundary {
            BoundCondition::Affine { amount, .. } => Some((face, amount.at(t))),
            _ => None,
        });
        given.into_iter().find(|(_, amount)| !amount.is_finite())
    }

    /// Whether the box continues at its other end along an axis.
    pub(crate) fn wraps(&self, axis: usize) -> bool {
        matches!(self.0[2 * axis], BoundCondition::Periodic)
    }

    /// The same where the box goes on beyond its ends along z: what lies there is not a ghost.
    pub(crate) fn cut(&self, goes_on: [bool; 2]) -> SpeciesBoundaries {
        let mut boundaries = self.clone();
        for (boundary, goes_on) in boundaries.0[4..].iter_mut().zip(goes_on) {
            if goes_on {
                *boundary = BoundCondition::Open;
            }
        }
        boundaries
    }

    /// Whether the ghosts are the same at all times.
    pub(crate) fn is_steady(&self) -> bool {
        let varies = |boundary: &BoundCondition| {
            matches!(boundary, BoundCondition::Affine { amount: TimeDependent::Varying(_), .. })
        };
        !self.0.iter().any(varies)
    }
}
