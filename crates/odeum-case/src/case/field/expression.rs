//! Expressions of the place.

use crate::case::reader::Field;
use odeum_core::text::TextSource;
use odeum_core::{Graph, Program, Symbol};
use odeum_fields::{AXES, Grid, Model};
use odeum_ode::Real;

/// Cells along x that are computed at once: all that they need stays in the nearest cache.
pub(super) const STRIP: usize = 256;

/// An expression of x, y and z at the time zero, ready for many cells.
#[derive(Clone, Debug)]
pub struct Expression(Program);

/// What the cells of one row share.
pub(super) struct Row<'a> {
    expression: &'a Expression,
    /// Cells that are computed at once, at most.
    width: usize,
    /// Of each axis the places of so many cells; then what the program works with.
    numbers: Vec<f64>,
}

impl Expression {
    /// An expression whose parameters are the model's, which have these values, then x, y and z.
    pub(super) fn new(graph: &Graph, params: &[f64]) -> Expression {
        let of_place = Graph::record(AXES.len(), 0, |t, place, _| {
            let params = params.iter().map(|value| Symbol::lit(*value));
            let inputs: Vec<Symbol> = params.chain(place.iter().copied()).collect();
            graph.eval(t, &[], &inputs)
        });
        Expression(Program::new(&of_place))
    }

    /// Ready for cells along x, of which there are so many.
    pub(super) fn row(&self, grid: &Grid, [y, z]: [usize; 2], cells: usize) -> Row<'_> {
        let width = cells.min(STRIP);
        let mut numbers = vec![0.0; AXES.len() * width + self.0.row_workspace(width)];
        numbers[width..2 * width].fill(grid.centre(1, y));
        numbers[2 * width..3 * width].fill(grid.centre(2, z));
        self.0.load_along(0.0, width, &mut numbers[3 * width..]);
        Row { expression: self, width, numbers }
    }
}

impl Row<'_> {
    /// The values in cells from x = `first` on, no more than a strip.
    ///
    /// Cells are packs of one: the elementary functions of wider ones differ in the last bits from one
    /// processor to the next, and so would what runs start from.
    pub(super) fn values(&mut self, grid: &Grid, first: usize, values: &mut [f64]) {
        let Row { expression: Expression(program), width, numbers } = self;
        let (places, work) = numbers.split_at_mut(AXES.len() * *width);
        for (k, place) in places[..values.len()].iter_mut().enumerate() {
            *place = grid.centre(0, first + k);
        }
        let places: Vec<&[f64]> = places.chunks(*width).collect();
        let cells = values.len();
        program.run_along::<f64>(cells, &places, (values, cells), (work, *width));
    }
}

/// What an expression may depend on besides the parameters and the place.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum Of {
    /// The time.
    Time,
    /// Nothing: its values are those of one time.
    Place,
}

/// The graph of an expression, of no states; its parameters are the model's, then x, y and z. `None`
/// after reporting what is wrong with it.
pub(super) fn read(field: &Field<'_>, model: &Model, of: Of) -> Option<Graph> {
    let known = match of {
        Of::Time => "it knows t, the parameters, x, y and z",
        Of::Place => "it knows the parameters, x, y and z",
    };
    let text = field.text()?;
    let mut names: Vec<&str> = model.params().iter().map(|(name, _)| name.as_str()).collect();
    names.extend(AXES);
    let source =
        TextSource { params: names, definitions: vec![("value", text)], ..TextSource::default() };
    match source.read_definitions() {
        Ok(graph) if of == Of::Place && graph.uses_time() => field.refuse(
            "it depends on t, but its values are those of one time",
            &format!("write the number for t, that of `time.start`, say; {known}"),
        ),
        Ok(graph) => Some(graph),
        Err(errors) => {
            for error in &errors.0 {
                let help = error.help.as_deref().unwrap_or(known);
                field.report(&error.message, error, help);
            }
            None
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_have_the_bits_of_single_cells() {
        // The time, parameters that are 0 and 1, elementary functions, conditions, a power.
        let graph = Graph::record(0, 6, |t, _, p| {
            let (x, y, z) = (p[3], p[4], p[5]);
            let wave = (p[0] * x).sin() * (y * z).exp() + p[1] * z.powi(5) - p[2] / x + t.cos();
            vec![Symbol::select(x.lt(y), wave, (x * x + y).abs().sqrt().powf(p[0]))]
        });
        let params = [1.7, 0.0, 1.0];
        let alone = Program::new(&graph);
        let expression = Expression::new(&graph, &params);
        for shape in [[2 * STRIP + 3, 2, 3], [1, 3, 2], [STRIP, 1, 1]] {
            let grid = Grid::with_spacing(shape, [0.01, 0.7, 1.3]).unwrap();
            for (y, z) in (0..shape[1]).flat_map(|y| (0..shape[2]).map(move |z| (y, z))) {
                let mut row = expression.row(&grid, [y, z], shape[0]);
                for first in (0..shape[0]).step_by(STRIP) {
                    let mut values = vec![f64::NAN; STRIP.min(shape[0] - first)];
                    row.values(&grid, first, &mut values);
                    for (k, value) in values.iter().enumerate() {
                        let at = [grid.centre(0, first + k), grid.centre(1, y), grid.centre(2, z)];
                        let mut out = [0.0];
                        alone.run_alone(0.0, &[], &[params, at].concat(), &mut out);
                        assert_eq!(value.to_bits(), out[0].to_bits(), "{at:?}");
                    }
                }
            }
        }
    }

    #[test]
    fn numbers_and_places_alone_are_expressions() {
        let grid = Grid::with_spacing([3, 2, 1], [1.0; 3]).unwrap();
        for (output, wanted) in [(0, [4.0; 3]), (1, [0.5, 1.5, 2.5]), (2, [1.5; 3])] {
            let graph = Graph::record(0, 4, |_, _, p| vec![p[output]]);
            let mut values = [0.0; 3];
            let expression = Expression::new(&graph, &[4.0]);
            expression.row(&grid, [1, 0], 3).values(&grid, 0, &mut values);
            assert_eq!(values, wanted);
        }
    }
}
