//! Recorded systems as what a group of threads evaluates.

use super::group::{GroupText, Grouped, MatrixPlaces};
use super::rows::{Kind, Operand, Row, Rows};
use super::tables::{Tables, with_ahead};
use crate::graph::{Class, Graph, Op};
use crate::pattern::Pattern;
use std::collections::HashMap;

const DEVICE: &str = include_str!("recorded.cuh");

/// The largest number of a place or constant in the short form of tables, and of a place in the matrix.
const MOST_NARROW: usize = 0x3fff;
const MOST_NARROW_ENTRY: usize = 0xffff;

/// Bytes of a value in memory: of double precision, the larger.
const WORD: usize = 8;

/// Any graph of a system: rows of equal operations from a table, so that text and its compilation do not grow with the
/// graph. Where f depends on the time, there is a function more,
///
/// ```text
/// void od_group_time_derivative(const OdGroup &g, real t, const real *y, const OdParams &p, real *dfdt);
/// ```
impl Grouped for Graph {
    fn sizes(&self) -> (usize, usize) {
        (self.outputs().len(), self.n_params())
    }

    fn matrix_pattern(&self) -> Pattern {
        self.jacobian_of_changing().1
    }

    fn uses_time(&self) -> bool {
        Graph::uses_time(self)
    }

    /// `places` are those of the pattern that [`Graph::jacobian_of_changing`] gives.
    fn group_text(&self, width: usize, places: &MatrixPlaces, _single: bool) -> GroupText {
        tape(self, width, Some(places))
    }

    fn rhs_text(&self, width: usize) -> GroupText {
        tape(self, width, None)
    }
}

/// Rows of the right-hand side, and where the matrix has places those of the linearisation and of the time derivative.
fn tape(graph: &Graph, width: usize, places: Option<&MatrixPlaces>) -> GroupText {
    let slopes: Vec<(Kind, u32)> =
        (0..graph.outputs().len() as u32).map(|i| (Kind::Slope, i)).collect();
    let rhs = Rows::new(&graph.fused(), &slopes, width);
    let linearised = places.map(|places| {
        let entries = places.entries.iter().map(|&place| (Kind::Entry, place));
        let writes: Vec<(Kind, u32)> = slopes.iter().copied().chain(entries).collect();
        Rows::new(&graph.linearised().fused(), &writes, width)
    });
    let time = (places.is_some() && graph.uses_time()).then(|| graph.time_derivative().fused());
    let time = time.map(|time| Rows::new(&time, &slopes, width));
    let n_places = places.map_or(0, |places| places.len as usize);

    let programs = || std::iter::once(&rhs).chain(&linearised).chain(&time);
    let n_values = programs().map(|program| program.places).max().unwrap_or(0);
    let all: Vec<&Row> = programs().flat_map(|program| &program.rows).collect();
    let constants = Constants::new(&all);
    let wide = n_values.max(constants.values.len()) > MOST_NARROW || n_places > MOST_NARROW_ENTRY;
    let mut tables = Tables::default();
    tables.count("OD_TAPE_WIDE", usize::from(wide));
    tables.count("OD_TAPE_STATES", graph.n_states());
    tables.count("OD_TAPE_PARAMS", graph.n_params());
    tables.count("OD_TAPE_MATRIX", n_places);
    tables.count("OD_TAPE_VALUES", n_values);
    tables.count("OD_TAPE_RHS_ROWS", rhs.rows.len());
    let rows = |program: &Rows| program.rows.len();
    tables.count("OD_TAPE_LINEARISED_ROWS", rows(&rhs) + linearised.as_ref().map_or(0, rows));
    tables.count("OD_TAPE_ROWS", all.len());
    tables.count("OD_TAPE_FUSED", Op::ALL.len());
    tables.count("OD_TAPE_SLOPE", Op::ALL.len() + 1);
    let kinds: Vec<u32> = all.iter().map(|row| kind(row)).chain([0]).collect();
    tables.push_u32("OD_TAPE_KINDS", &kinds);
    let (of_constant, negative) = if wide { (1 << 31, 1 << 30) } else { (1 << 15, 1 << 14) };
    let mut steps = Vec::new();
    for row in &all {
        // What threads without an operation have: a place behind all others, to which none writes.
        let nothing = match row.kind {
            Kind::Fused | Kind::Compute(_) => n_values,
            Kind::Slope => graph.n_states(),
            Kind::Entry => n_places,
        };
        for thread in 0..width {
            let step = row.steps.get(thread);
            let operand = |k: usize| match step.and_then(|step| step.operands.get(k)) {
                Some(&Operand::Constant(x)) => of_constant + constants.number(x),
                Some(&Operand::Negative(place)) => negative + place,
                Some(&Operand::Place(place)) => place,
                None => 0,
            };
            steps.push(step.map_or(nothing as u32, |step| step.to));
            steps.extend((0..3).map(operand));
        }
    }
    // Loads run a row ahead.
    let steps = with_ahead(&steps, 4 * width);
    if wide {
        tables.push_u32("OD_TAPE_STEPS", &steps);
    } else {
        tables.push_u16("OD_TAPE_STEPS", &steps.iter().map(|&x| x as u16).collect::<Vec<_>>());
    }
    let bits = constants.values.iter().map(|&x| (x as f32).to_bits());
    tables.push_f64("OD_TAPE_DOUBLES", &constants.values);
    tables.push_u32("OD_TAPE_FLOATS", &bits.collect::<Vec<_>>());
    let text = DEVICE.replace("OD_TAPE_CASES\n", &cases(&all));
    GroupText { text, tables, memory: WORD * n_values, in_place: false }
}

/// The distinct constants of rows.
struct Constants {
    values: Vec<f64>,
    numbers: HashMap<u64, u32>,
}

impl Constants {
    fn new(rows: &[&Row]) -> Constants {
        let (mut values, mut numbers) = (Vec::new(), HashMap::new());
        for operand in rows.iter().flat_map(|row| &row.steps).flat_map(|step| &step.operands) {
            if let Operand::Constant(x) = *operand {
                numbers.entry(x.to_bits()).or_insert_with(|| {
                    values.push(x);
                    values.len() as u32 - 1
                });
            }
        }
        Constants { values, numbers }
    }

    fn number(&self, x: f64) -> u32 {
        self.numbers.get(&x.to_bits()).copied().unwrap_or(0)
    }
}

/// A row as the text reads it: whether it ends a phase, the number of operands, and what it does.
fn kind(row: &Row) -> u32 {
    let (what, operands) = match row.kind {
        Kind::Compute(op) => (op as u32, op.info().arity as u32),
        Kind::Fused => (Op::ALL.len() as u32, 3),
        Kind::Slope => (Op::ALL.len() as u32 + 1, 1),
        Kind::Entry => (Op::ALL.len() as u32 + 2, 1),
    };
    what << 3 | operands << 1 | u32::from(row.ends_phase)
}

/// The operations that occur. Truth values are 1 and 0.
fn cases(rows: &[&Row]) -> String {
    let occurs = |op: Op| rows.iter().any(|row| row.kind == Kind::Compute(op));
    let case = |op: Op| {
        let info = op.info();
        let mut value = info.c.to_owned();
        for (k, name) in ["a", "b", "c"].into_iter().enumerate() {
            value = value.replace(&format!("{{{k}}}"), name);
        }
        if info.class == Class::Function {
            value = value.replacen('(', "_call(", 1);
        }
        if info.class == Class::Condition {
            value = format!("real({value})");
        }
        format!("        case {}u: x = {value}; break;  // {}\n", op as u32, info.name)
    };
    Op::ALL.iter().copied().filter(|&op| occurs(op)).map(case).collect()
}
