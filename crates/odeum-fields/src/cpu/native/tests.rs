//! Machine code against the interpreter, to the bit.

use super::{Code, Factors, Form, MaskedOutput, StateTerm};
use crate::field::memory::Lined;
use odeum_core::lanes::LaneWork;
use odeum_core::random::SplitMix64;
use odeum_core::{Graph, Isa, Lanes, Program, Real, Scalar, Symbol};

const STATES: usize = 5;
const OUTPUTS: usize = 3;
const POINTS: usize = 96;
/// Packs before this cell and from the other on are left alone.
const SPAN: [usize; 2] = [16, 80];
const TIME: f64 = 0.7;
const FACTORS: Factors<'_> = Factors { rhs: 0.3, own: -1.25, terms: &[0.9, 1.5, -0.375] };

/// Outputs of so many random operations each.
fn graph(random: &mut SplitMix64, operations: usize) -> Graph {
    Graph::record(STATES, 0, |t, y, _| {
        let mut all: Vec<Symbol> = y.to_vec();
        all.push(t);
        all.push(Symbol::lit(1.5));
        let outputs = (0..OUTPUTS).map(|_| {
            for _ in 0..operations {
                let (a, b) = (all[random.below(all.len())], all[random.below(all.len())]);
                let c = all[all.len() - 1];
                all.push(match random.below(14) {
                    0 => a + b,
                    1 => a - b,
                    2 => a * b,
                    3 => a / (b * b + Symbol::lit(2.0)),
                    4 => c - a * b,
                    5 => a * b + c,
                    6 => (c.abs() + Symbol::lit(0.25)).sqrt(),
                    7 => -a * b - c,
                    8 => Symbol::select(a.lt(b), c, a),
                    9 => Symbol::select(!(a.le(c) & b.ge(c)) | c.eq(a), b - c, c),
                    10 => a.min(c),
                    11 => b.max(c * a),
                    12 => (c * Symbol::lit(3.0)).floor() * Symbol::lit(0.25),
                    _ => c * Symbol::lit(0.1 * all.len() as f64),
                });
            }
            all[all.len() - 1]
        });
        outputs.collect()
    })
}

/// Where an output lies among the rows.
fn output(form: &Form, s: usize) -> usize {
    STATES + s * (2 + form.terms())
}

/// Rows of random numbers between −1 and 1.
fn rows<T: Scalar>(random: &mut SplitMix64, count: usize) -> Vec<Lined<T>> {
    let row = |random: &mut SplitMix64| {
        let mut row = Lined::new(T::from_f64(0.0), POINTS);
        let number = |random: &mut SplitMix64| random.below(2001) as f64 * 1e-3 - 1.0;
        row.iter_mut().for_each(|value| *value = T::from_f64(number(random)));
        row
    };
    (0..count).map(|_| row(random)).collect()
}

/// The row of masks: a pattern.
fn masks<T>() -> Lined<u8> {
    let mut masks = Lined::new(0, POINTS * size_of::<T>());
    let cells = masks.chunks_exact_mut(size_of::<T>()).enumerate();
    cells.for_each(|(x, cell)| cell.fill(if x % 24 < 17 { 0xff } else { 0 }));
    masks
}

/// What the interpreter makes of rows, and then row by row of its outputs.
struct Interpreted<'a, T> {
    program: &'a Program,
    form: &'a Form,
    rows: &'a [Lined<T>],
}

impl<T: Scalar> LaneWork<T> for Interpreted<'_, T> {
    type Output = Vec<Vec<T>>;

    #[inline(always)]
    fn run<L: Lanes<Scalar = T>>(self) -> Vec<Vec<T>> {
        let Interpreted { program, form, rows } = self;
        let zero = T::from_f64(0.0);
        let states: Vec<&[T]> = rows[..STATES].iter().map(|row| &row[..]).collect();
        let mut rates = vec![zero; OUTPUTS * POINTS];
        let mut work = vec![zero; program.row_workspace(POINTS)];
        program.load_along(TIME, POINTS, &mut work);
        program.run_along::<L>(POINTS, &states, (&mut rates, POINTS), (&mut work, POINTS));
        let mut made = Vec::new();
        for s in 0..OUTPUTS {
            let (at, mut row) = (output(form, s), rates[s * POINTS..][..POINTS].to_vec());
            if let Form::Combined { here, terms, own, gains, masked, .. } = form {
                for x in (0..POINTS).step_by(L::WIDTH) {
                    let pack = |row: &[T]| L::load(&row[x..x + L::WIDTH]);
                    let mut rhs = pack(&row);
                    if gains[s] {
                        rhs = rhs + pack(&rows[at + 1]);
                    }
                    let factor = L::lit(FACTORS.rhs);
                    let mut sum = match here {
                        StateTerm::Whole => rhs.mul_add(factor, pack(&rows[s])),
                        StateTerm::No | StateTerm::Scaled => rhs * factor,
                    };
                    let first = (*here != StateTerm::No).then_some(s).into_iter();
                    for (k, term) in first.chain((0..*terms).map(|k| at + 2 + k)).enumerate() {
                        if k > 0 || *here != StateTerm::Whole {
                            let factor = L::lit(FACTORS.terms[k]);
                            sum = pack(&rows[term]).mul_add(factor, sum);
                        }
                    }
                    if *own {
                        sum = pack(&rows[at]).mul_add(L::lit(FACTORS.own), sum);
                    }
                    sum.store(&mut row[x..x + L::WIDTH]);
                }
                let left = (0..POINTS).filter(|x| x % 24 >= 17);
                match masked {
                    None => {}
                    Some(MaskedOutput::Zero) => left.for_each(|x| row[x] = zero),
                    Some(MaskedOutput::State) => left.for_each(|x| row[x] = states[s][x]),
                }
            }
            made.push(row);
        }
        made
    }
}

/// Compares all cells; gives whether there was code.
fn agrees<T: Scalar>(isa: Isa, program: &Program, form: &Form, random: &mut SplitMix64) -> bool {
    let Some(code) = Code::new::<T>(program, form, isa) else { return false };
    let mut rows = rows::<T>(random, code.rows());
    let work = Interpreted { program, form, rows: &rows };
    let expected = isa.dispatch(work);
    let before: Vec<Vec<T>> = rows.iter().map(|row| row.to_vec()).collect();
    let mut pointers: Vec<*mut T> = rows.iter_mut().map(|row| row.as_mut_ptr()).collect();
    let mut masks = masks::<T>();
    if form.is_masked() {
        pointers[rows.len() - 1] = masks.as_mut_ptr().cast();
    }
    let scalars: Vec<T> = code.scalars(TIME, &FACTORS).collect();
    let mut non_finite = [T::from_f64(0.0); 16];
    let bytes = SPAN.map(|x| x * size_of::<T>());
    // SAFETY: rows are as long as `POINTS`, outputs are rows of their own, and the CPU has
    // the instructions.
    unsafe { code.run(&pointers, &scalars, bytes, non_finite.as_mut_ptr()) };
    let mut finite = true;
    for (n, row) in rows.iter().enumerate() {
        let output = (0..OUTPUTS).find(|s| output(form, *s) == n);
        for x in 0..POINTS {
            let within = (SPAN[0]..SPAN[1]).contains(&x);
            let wanted = match output {
                Some(s) if within => expected[s][x],
                _ => before[n][x],
            };
            let same = row[x].to_f64().to_bits() == wanted.to_f64().to_bits();
            assert!(same, "{isa} {} {form:?} row {n} cell {x}: {} {wanted}", T::NAME, row[x]);
            finite &= row[x].is_finite() || !within;
        }
    }
    assert_eq!(
        finite,
        non_finite.iter().all(|lane| lane.to_f64() == 0.0),
        "what is not finite is seen"
    );
    true
}

/// Forms of all kinds.
fn forms() -> Vec<Form> {
    let mut forms = vec![Form::Plain];
    for here in [StateTerm::No, StateTerm::Scaled, StateTerm::Whole] {
        for terms in 0..3 {
            for own in [false, true] {
                let gains = vec![own, terms == 1, here != StateTerm::No];
                forms.push(Form::Combined {
                    here,
                    terms,
                    own,
                    gains,
                    streams: !own,
                    masked: [None, Some(MaskedOutput::Zero), Some(MaskedOutput::State)]
                        [(terms + usize::from((here != StateTerm::No) != own)) % 3],
                });
            }
        }
    }
    forms
}

#[test]
fn code_gives_the_bits_of_the_interpreter() {
    let mut random = SplitMix64::new(7);
    for isa in Isa::available() {
        let mut made = 0;
        for round in 0..60 {
            let program = Program::new(&graph(&mut random, 1 + round % 12));
            for form in forms() {
                made += usize::from(agrees::<f32>(isa, &program, &form, &mut random));
                made += usize::from(agrees::<f64>(isa, &program, &form, &mut random));
            }
        }
        // Few of these programs want more results at a time than there are registers.
        let all = 60 * 2 * forms().len();
        assert!(if isa == Isa::Scalar { made == 0 } else { made > all * 3 / 4 }, "{isa}: {made}");
    }
}

#[test]
fn what_is_not_finite_is_seen() {
    let graph = Graph::record(STATES, 0, |_, y, _| vec![y[0], y[1] / y[2], y[1]]);
    let program = Program::new(&graph);
    for isa in Isa::available() {
        let Some(code) = Code::new::<f64>(&program, &Form::Plain, isa) else { continue };
        for spoil in [None, Some(3), Some(17)] {
            let mut rows: Vec<Lined<f64>> = (0..code.rows()).map(|_| Lined::new(2.0, 32)).collect();
            spoil.into_iter().for_each(|x: usize| rows[2][x] = 0.0);
            let pointers: Vec<*mut f64> = rows.iter_mut().map(|row| row.as_mut_ptr()).collect();
            let mut non_finite = [0.0; 16];
            let scalars: Vec<f64> = code.scalars(0.0, &FACTORS).collect();
            // SAFETY: rows of 32 cells, outputs of their own, and instructions that there are.
            unsafe { code.run(&pointers, &scalars, [0, 256], non_finite.as_mut_ptr()) };
            assert_eq!(non_finite.iter().any(|lane| lane.is_nan()), spoil.is_some(), "{isa}");
        }
    }
}

#[test]
fn nan_is_passed_on_and_compares_as_false() {
    let graph = Graph::record(STATES, 0, |_, y, _| {
        let one = |holds| Symbol::select(holds, Symbol::lit(1.0), Symbol::lit(0.0));
        vec![
            y[0].min(y[1]),
            y[0].max(y[1]),
            one(y[0].lt(y[1])),
            one(!y[0].le(y[1])),
            one(y[0].eq(y[0]) & y[1].ne(y[1])),
        ]
    });
    let program = Program::new(&graph);
    let numbers = [f64::NAN, -1.5, 0.0, 2.25, f64::INFINITY];
    let pair = |x: usize| [numbers[x % 5], numbers[x / 5 % 5]];
    for isa in Isa::available() {
        let Some(code) = Code::new::<f64>(&program, &Form::Plain, isa) else { continue };
        let mut rows: Vec<Lined<f64>> = (0..code.rows()).map(|_| Lined::new(7.0, 32)).collect();
        for x in 0..32 {
            [rows[0][x], rows[1][x]] = pair(x);
        }
        let pointers: Vec<*mut f64> = rows.iter_mut().map(|row| row.as_mut_ptr()).collect();
        let mut non_finite = [0.0; 16];
        let scalars: Vec<f64> = code.scalars(0.0, &FACTORS).collect();
        // SAFETY: rows of 32 cells, outputs of their own, and instructions that there are.
        unsafe { code.run(&pointers, &scalars, [0, 256], non_finite.as_mut_ptr()) };
        for x in 0..32 {
            let expected = graph.eval(0.0, &[rows[0][x], rows[1][x], 0.0, 0.0, 0.0], &[]);
            for (s, expected) in expected.into_iter().enumerate() {
                let found = rows[STATES + 2 * s][x];
                let same = found == expected || found.is_nan() && expected.is_nan();
                assert!(same, "{isa} output {s} of {:?}: {found} {expected}", pair(x));
            }
        }
    }
}

#[test]
fn programs_that_have_no_code_are_left_to_the_interpreter() {
    let sine = Graph::record(1, 0, |_, y, _| vec![y[0].sin()]);
    assert!(Code::new::<f64>(&Program::new(&sine), &Form::Plain, Isa::best()).is_none());
    // Forty products that all are wanted at the end.
    let wide = Graph::record(40, 0, |_, y, _| {
        let products: Vec<Symbol> = (0..40).map(|k| y[k] * y[(k + 1) % 40]).collect();
        (0..40).map(|k| products[k] / products[39 - k] + products[(k + 7) % 40]).collect()
    });
    assert!(Code::new::<f64>(&Program::new(&wide), &Form::Plain, Isa::best()).is_none());
}
