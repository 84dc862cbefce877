//! `[initial]`: the values at the start.

use super::arrays::{self, Files};
use super::expression::{self, Expression, Of, STRIP};
use super::known;
use super::shape::Shape;
use super::surroundings::Context;
use crate::case::reader::{Field, Section};
use odeum_core::Argument;
use odeum_fields::problems::Builtin;
use odeum_fields::{Field as Cells, Grid, Model, noise};
use odeum_io::cells::{MASK, Member, Numbers};
use odeum_io::finding::Findings;
use odeum_ode::{Error, Scalar};
use std::sync::Arc;

/// What every species starts from.
#[derive(Clone, Debug)]
pub struct Initial {
    /// The seed of random values.
    pub seed: u64,
    /// The built-in problem whose own start is taken where the case gives none.
    pub builtin: Option<Builtin>,
    /// Of each species.
    pub starts: Vec<Start>,
}

/// What one species starts from: a base, shapes drawn over it in order, then noise.
#[derive(Clone, Debug)]
pub struct Start {
    pub base: Base,
    pub shapes: Vec<(Shape, f64)>,
    /// Half-width of uniform noise [units of u].
    pub noise: f64,
}

/// What shapes are drawn over.
#[derive(Clone, Debug)]
pub enum Base {
    /// As the built-in problem has it.
    Builtin,
    Constant(f64),
    Expression(Box<Expression>),
    Array(Arc<Numbers>),
}

impl Start {
    /// True where the built-in problem says all of it.
    fn is_builtin_alone(&self) -> bool {
        matches!(self.base, Base::Builtin) && self.shapes.is_empty() && self.noise == 0.0
    }
}

impl Initial {
    /// The values of a built-in problem.
    pub fn of_builtin(builtin: Builtin, species: usize) -> Initial {
        let start = Start { base: Base::Builtin, shapes: Vec::new(), noise: 0.0 };
        Initial { seed: 0, builtin: Some(builtin), starts: vec![start; species] }
    }

    /// The field at the start.
    pub fn field<T: Scalar>(&self, grid: &Grid) -> Result<Cells<T>, Error> {
        let mut field: Cells<T> = match self.builtin {
            Some(builtin) if self.starts.iter().any(|s| matches!(s.base, Base::Builtin)) => {
                builtin.initial(grid, self.seed)?
            }
            _ => Cells::zeros(grid, self.starts.len())?,
        };
        let [nx, ny, _] = grid.shape();
        field.try_fill_rows(|(s, y, z), row| {
            let start = &self.starts[s];
            if start.is_builtin_alone() {
                return Ok(());
            }
            let mut at = [0.0, grid.centre(1, y), grid.centre(2, z)];
            let mut expression = match &start.base {
                Base::Expression(expression) => Some(expression.row(grid, [y, z], nx)),
                _ => None,
            };
            let mut strip = [0.0; STRIP];
            for (n, cells) in row.chunks_mut(STRIP).enumerate() {
                let first = n * STRIP;
                let number = (z * ny + y) * nx + first;
                let values = &mut strip[..cells.len()];
                match &start.base {
                    Base::Builtin => {
                        values.iter_mut().zip(&*cells).for_each(|(to, from)| *to = from.to_f64());
                    }
                    Base::Constant(value) => values.fill(*value),
                    Base::Array(all) => all.copy(number, values),
                    Base::Expression(_) => {
                        expression.iter_mut().for_each(|row| row.values(grid, first, values));
                    }
                }
                for (k, (place, value)) in cells.iter_mut().zip(values).enumerate() {
                    at[0] = grid.centre(0, first + k);
                    for (shape, inside) in &start.shapes {
                        if shape.holds(at, grid) {
                            *value = *inside;
                        }
                    }
                    if start.noise > 0.0 {
                        *value += start.noise * noise(self.seed, s, number + k);
                    }
                    *place = T::from_f64(*value);
                    if !place.is_finite() {
                        return Err(Error::input(
                            Argument::new("initial").at(s),
                            format!("{value} in cell [{}, {y}, {z}]", first + k),
                            "must be finite",
                        ));
                    }
                }
            }
            Ok(())
        })?;
        Ok(field)
    }
}

/// The numbers of all cells, x fastest, that the field `mask` says in the way of the initial values of a
/// species; `None` after reporting what is wrong with it.
pub(super) fn mask(
    field: &Field<'_>,
    model: Option<&Model>,
    context: Context<'_>,
) -> Option<Vec<f64>> {
    let start = read_start(field, Member::Mask, model, None, context.grid, context.files);
    let all = Initial { seed: 0, builtin: None, starts: vec![start?] };
    match all.field::<f64>(context.grid?) {
        Ok(values) => Some(values.to_values(0)),
        Err(Error::Input { found, remedy, .. }) => {
            field.refuse(format!("`{MASK}` is {found}"), &format!("it {remedy}"))
        }
        Err(error) => {
            context.findings.push(error.into());
            None
        }
    }
}

/// Reads the section.
pub(super) fn read(
    section: &Section<'_>,
    model: Option<&Model>,
    builtin: Option<Builtin>,
    grid: Option<&Grid>,
    files: Files<'_>,
    findings: &Findings,
) -> Option<Initial> {
    let names = model.map(Model::species);
    let seed_field = section.get("seed");
    let seed = seed_field.as_ref().map_or(Some(0), |field| field.whole(0, u64::MAX));
    let mut starts: Vec<Option<Start>> = vec![None; names.map_or(0, <[String]>::len)];
    let mut good = true;
    for (name, source_span, field) in section.entries() {
        if name == "seed" {
            continue;
        }
        let found = known(&name, names, |message, help| {
            findings.push(source_span.error(message).help(help));
            None
        });
        let start = read_start(&field, Member::Named(&name), model, builtin, grid, files);
        good &= start.is_some() && (found.is_some() || names.is_none());
        if let Some(s) = found {
            starts[s] = start;
        }
    }
    if !good {
        return None;
    }
    let mut all = Vec::new();
    for (s, start) in starts.into_iter().enumerate() {
        let usual = builtin.map(|_| Start { base: Base::Builtin, shapes: Vec::new(), noise: 0.0 });
        match start.or(usual) {
            Some(start) => all.push(start),
            None => {
                let name = names.map_or("", |names| names[s].as_str());
                let finding = section.here(&format!("what does `{name}` start from?"));
                findings.push(finding.help(format!("add {name} = 0.0, say")));
                good = false;
            }
        }
    }
    let is_random = |start: &Start| start.noise > 0.0 || matches!(start.base, Base::Builtin);
    if let Some(field) = seed_field.filter(|_| good && !all.iter().any(is_random)) {
        field.warn("nothing here is random", "leave `seed` out, or give a species `noise`");
    }
    good.then_some(Initial { seed: seed?, builtin, starts: all })
}

/// Warns of states of another time than zero, at which a run begins that does not say where.
pub(super) fn warn_of_times(section: &Section<'_>, files: Files<'_>) {
    let entries = section.entries().into_iter();
    let tables = entries.filter_map(|(_, _, field)| field.is_table().then(|| field.section())?);
    let named = tables.filter_map(|table| table.get("file"));
    let all: Vec<_> =
        named.filter_map(|field| Some((arrays::time(field.text()?, files)?, field))).collect();
    let agree = all.iter().all(|(t, _)| *t == all[0].0);
    for (t, field) in all.iter().filter(|(t, _)| *t != 0.0) {
        let help = match agree {
            true => format!("add start = {t:?} to [time]; or start = 0.0 if time begins anew"),
            false => "the files are of different times: say with start = … in [time] which counts"
                .to_owned(),
        };
        let message = format!(
            "the state is of t = {t}, but the run begins at t = 0, and what it computes depends on t"
        );
        field.warn(message, help);
    }
}

const HELP: &str = "give a number, an expression of x, y, z as text, or a table: { value = 1.0, \
                    noise = 1e-3 }, { file = \"u.npy\" }";

fn read_start(
    field: &Field<'_>,
    member: Member<'_>,
    model: Option<&Model>,
    builtin: Option<Builtin>,
    grid: Option<&Grid>,
    files: Files<'_>,
) -> Option<Start> {
    if !field.is_table() {
        return Some(Start { base: value(field, model)?, shapes: Vec::new(), noise: 0.0 });
    }
    let section = field.section()?;
    let (given, file) = (section.get("value"), section.get("file"));
    let base = match (&given, &file) {
        (Some(field), None) => value(field, model),
        (None, Some(field)) => arrays::read(field, grid, files, member).map(Base::Array),
        (None, None) if builtin.is_some() => Some(Base::Builtin),
        _ => field.refuse("one of `value` and `file` is wanted", HELP),
    };
    let noise = section.get("noise").map_or(Some(0.0), |field| match field.number()? {
        size if size >= 0.0 => Some(size),
        _ => field.refuse("noise must not be negative", "give its half-width"),
    });
    let mut items: Vec<(Field<'_>, bool)> = Vec::new();
    for (key, ball) in [("balls", true), ("boxes", false)] {
        let Some(list) = section.get(key) else { continue };
        items.extend(list.list()?.into_iter().map(|item| (item, ball)));
    }
    // Each is drawn over what is written before it.
    items.sort_by_key(|(item, _)| item.source_span().span.start);
    let mut shapes = Some(Vec::new());
    for (item, ball) in items {
        match (read_shape(&item, ball, grid), &mut shapes) {
            (Some(shape), Some(shapes)) => shapes.push(shape),
            _ => shapes = None,
        }
    }
    section.finish();
    Some(Start { base: base?, shapes: shapes?, noise: noise? })
}

fn read_shape(item: &Field<'_>, ball: bool, grid: Option<&Grid>) -> Option<(Shape, f64)> {
    let section = item.section()?;
    let help = format!("{}, with value = 1.0", Shape::help(ball));
    let value = section.need("value", &help).and_then(|field| field.number());
    let shape = Shape::read(item, &section, ball, grid);
    section.finish();
    Some((shape?, value?))
}

/// A number, or an expression of the parameters and coordinates.
fn value(field: &Field<'_>, model: Option<&Model>) -> Option<Base> {
    if !field.is_text() {
        if field.is_list() {
            return field.refuse(format!("`{}` is a list", field.name), HELP);
        }
        return field.number().map(Base::Constant);
    }
    let graph = expression::read(field, model?, Of::Place)?;
    let params: Vec<f64> = model?.params().iter().map(|(_, value)| *value).collect();
    Some(Base::Expression(Box::new(Expression::new(&graph, &params))))
}
