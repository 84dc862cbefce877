//! `[velocity]`, `[[sources]]` and `[diffusion]`: what surrounds the equations.

use super::arrays::{self, Files};
use super::expression::{self, Of};
use super::shape::Shape;
use super::{known, quantity, species, three};
use crate::case::reader::{Field, Section};
use crate::case::source_spans::SourceSpans;
use crate::case::text;
use odeum_core::{Argument, Graph, Symbol};
use odeum_fields::{AXES, Advection, Grid, Local, Mask, Model, PointSource, Problem, Velocity};
use odeum_io::finding::Findings;
use odeum_ode::{Error, Real};

/// What values are read against.
#[derive(Clone, Copy)]
pub(super) struct Context<'a> {
    /// Cells, where they could be read.
    pub(super) grid: Option<&'a Grid>,
    /// The equations, where they could be read.
    pub(super) model: Option<&'a Model>,
    /// Names of the species, where they could be read.
    pub(super) names: Option<&'a [String]>,
    /// Which cells belong to the domain, where that could be read; `None` for all.
    pub(super) mask: Option<&'a Mask>,
    /// Where arrays are looked for.
    pub(super) files: Files<'a>,
    pub(super) findings: &'a Findings,
}

/// Velocity, the species it carries, and how; what is not said stays as the problem has it.
pub(super) type Flow = (Option<Velocity>, Option<Vec<String>>, Option<Advection>);

/// Reads `[velocity]`.
pub(super) fn velocity(
    section: &Section<'_>,
    context: Context<'_>,
    source_spans: &mut SourceSpans,
) -> Option<Flow> {
    let Context { grid, names, files, findings, .. } = context;
    let velocity = section.get("uniform").map(|field| {
        source_spans.put("velocity", field.source_span());
        three(&field, quantity).map(Velocity::Uniform)
    });
    let cells = section.get("cells").map(|field| {
        source_spans.put("velocity", field.source_span());
        let read = |file: &Field<'_>| arrays::read_doubles(file, grid, files, "velocity");
        three(&field, read).map(Velocity::Cells)
    });
    let advected = section.get("species").map(|field| {
        source_spans.put(Argument::new("velocity").key("species"), field.source_span());
        let items = field.list()?;
        let found: Vec<Option<usize>> = items.iter().map(|item| species(item, names)).collect();
        let found: Option<Vec<usize>> = found.into_iter().collect();
        Some(found?.into_iter().map(|s| names.map_or(String::new(), |n| n[s].clone())).collect())
    });
    let choices = [("upwind", Advection::Upwind), ("koren", Advection::Koren)];
    let advection =
        section.get("advection").map(|field| field.choice("advection schemes", &choices));
    section.finish();
    let velocity = match (velocity, cells) {
        (Some(_), Some(_)) => {
            let finding = section.here("the velocity is given twice");
            findings.push(finding.help("give `uniform`, the same everywhere, or `cells`"));
            return None;
        }
        (Some(velocity), None) | (None, Some(velocity)) => Some(velocity?),
        (None, None) => None,
    };
    let flat = |given: Option<Option<Vec<String>>>| given.map_or(Some(None), |g| g.map(Some));
    Some((velocity, flat(advected)?, advection.map_or(Some(None), |a| a.map(Some))?))
}

/// What gives a species.
pub(super) enum Source {
    Point(PointSource),
    Spread {
        /// The number of the species.
        species: usize,
        /// Of the model's parameters, then x, y and z.
        rate: Graph,
        /// Where it is given; `None` for everywhere.
        shape: Option<Shape>,
    },
}

impl Source {
    /// Adds it to a problem.
    pub(super) fn add_to(self, problem: &mut Problem) -> Result<(), Error> {
        match self {
            Source::Point(source) => problem.sources.push(source),
            Source::Spread { species, rate, shape } => {
                let grid = problem.grid;
                let given = |cell: &Local<'_>| {
                    let inputs = [cell.p, &cell.at].concat();
                    let rate = rate.eval(cell.t, &[], &inputs)[0];
                    match shape {
                        None => rate,
                        Some(shape) => {
                            Symbol::select(shape.condition(cell.at, &grid), rate, Symbol::lit(0.0))
                        }
                    }
                };
                problem.model = problem.model.clone().with_source(species, given)?;
            }
        }
        Ok(())
    }
}

/// Reads `[[sources]]`: each, and what it does in words.
pub(super) fn sources(
    field: &Field<'_>,
    context: Context<'_>,
    source_spans: &mut SourceSpans,
) -> Option<Vec<(Source, String)>> {
    let mut all = Vec::new();
    let mut good = true;
    for item in field.list()? {
        match source(&item, context, source_spans) {
            Some(source) => all.push(source),
            None => good = false,
        }
    }
    good.then_some(all)
}

/// Where a source can be.
const PLACES: [&str; 5] = ["cell", "at", "ball", "box", "everywhere"];

fn source(
    item: &Field<'_>,
    context: Context<'_>,
    source_spans: &mut SourceSpans,
) -> Option<(Source, String)> {
    let Context { model, names, .. } = context;
    let section = item.section()?;
    let help = "as { species = \"c\", cell = [8, 8, 8], rate = 1.0 }";
    let of = section.need("species", help).and_then(|field| species(&field, names));
    let rate = section.need("rate", help);
    let places: Vec<_> = PLACES.iter().filter_map(|key| Some((*key, section.get(key)?))).collect();
    let source = match (&places[..], &rate) {
        ([(key @ ("cell" | "at"), place)], Some(rate)) => {
            if let (Some(s), Some(names)) = (of, names) {
                source_spans.put(PointSource::argument(&names[s], "rate"), rate.source_span());
                source_spans.put(PointSource::argument(&names[s], "cell"), place.source_span());
            }
            let (cell, rate) = (cell(key, place, context), quantity(rate));
            let species = names.zip(of).map(|(names, s)| names[s].clone());
            cell.zip(rate).zip(species).map(|((cell, rate), species)| {
                (Source::Point(PointSource { species, cell, rate }), format!("in cell {cell:?}"))
            })
        }
        ([(key, place)], Some(rate)) => {
            let rate = model.and_then(|model| rate_of_places(rate, model));
            let shape = region(key, place, context);
            of.zip(rate).zip(shape).map(|((species, rate), shape)| {
                let place = shape.as_ref().map_or("everywhere".to_owned(), Shape::words);
                (Source::Spread { species, rate, shape }, place)
            })
        }
        (_, None) => None,
        _ => item.refuse(
            "where is the source?",
            "give one of cell = [i, j, k], at = [x, y, z], ball = { centre, radius }, box = { from, \
             to } and everywhere = true",
        ),
    };
    section.finish();
    let (source, place) = source?;
    let rate = rate.and_then(|rate| match rate.is_text() {
        true => rate.text().map(text::one_line),
        false => rate.number().map(|rate| rate.to_string()),
    });
    let name = names.zip(of).map_or("", |(names, s)| &names[s]);
    Some((source, format!("∂{name}/∂t gains {}, {place}", rate?)))
}

/// The cell of a point source.
fn cell(key: &str, field: &Field<'_>, Context { grid, .. }: Context<'_>) -> Option<[usize; 3]> {
    if key == "cell" {
        let cell = three(field, |n| n.whole(0, u64::from(u32::MAX)))?;
        return inside(field, cell.map(|n| n as usize), grid);
    }
    cell_at(field, three(field, |x| x.number())?, grid?)
}

/// The part of the box where a source is; `Some(None)` for all of it.
fn region(key: &str, field: &Field<'_>, context: Context<'_>) -> Option<Option<Shape>> {
    if key == "everywhere" {
        return match field.truth()? {
            true => Some(None),
            false => field.refuse("a source that is nowhere", "leave the source out"),
        };
    }
    let section = field.section()?;
    let shape = Shape::read(field, &section, key == "ball", context.grid);
    section.finish();
    if let (Some(shape), Some(grid), Some(mask)) = (&shape, context.grid, context.mask)
        && shape.holds_cells(grid)
        && !shape.meets(grid, mask)
    {
        field
            .warn("all cells of the source are solid", "it gives nothing: move it into the domain");
    }
    shape.map(Some)
}

/// A rate that may depend on the time, the place and the parameters.
fn rate_of_places(field: &Field<'_>, model: &Model) -> Option<Graph> {
    if field.is_text() {
        return expression::read(field, model, Of::Time);
    }
    let rate = field.number()?;
    let inputs = model.params().len() + AXES.len();
    Some(Graph::record(0, inputs, |_, _, _| vec![Symbol::lit(rate)]))
}

fn inside(field: &Field<'_>, cell: [usize; 3], grid: Option<&Grid>) -> Option<[usize; 3]> {
    let shape = grid?.shape();
    if (0..3).any(|axis| cell[axis] >= shape[axis]) {
        return field.refuse(
            format!("there is no cell {cell:?}"),
            &format!("the grid has {shape:?} cells, counted from 0"),
        );
    }
    Some(cell)
}

/// The cell that holds a point.
pub(super) fn cell_at(field: &Field<'_>, at: [f64; 3], grid: &Grid) -> Option<[usize; 3]> {
    let (shape, spacing, origin) = (grid.shape(), grid.spacing(), grid.origin());
    let mut cell = [0; 3];
    for axis in 0..3 {
        let place = (at[axis] - origin[axis]) / spacing[axis];
        // The upper face belongs to the last cell. Sums and products that give the place of a face round.
        let rounding = 4.0 * f64::EPSILON * (at[axis].abs() + origin[axis].abs()) / spacing[axis];
        if !(-rounding..=shape[axis] as f64 + rounding).contains(&place) {
            let (low, high) = (origin[axis], origin[axis] + shape[axis] as f64 * spacing[axis]);
            return field.refuse(
                "the point lies outside of the box",
                &format!("along {} it goes from {low} to {high}", odeum_fields::AXES[axis]),
            );
        }
        cell[axis] = (place as usize).min(shape[axis] - 1);
    }
    Some(cell)
}

/// Reads `[diffusion]`: a file of coefficients for each species named.
pub(super) fn diffusion(
    section: &Section<'_>,
    context: Context<'_>,
    source_spans: &mut SourceSpans,
) -> Option<Vec<(String, Vec<f64>)>> {
    let Context { grid, names, files, findings, .. } = context;
    let mut all = Vec::new();
    let mut good = true;
    for (name, source_span, field) in section.entries() {
        let found = known(&name, names, |message, help| {
            findings.push(source_span.error(message).help(help));
            None
        });
        source_spans.put(Argument::new("diffusion").key(name.clone()), field.source_span());
        let values = arrays::read_doubles(&field, grid, files, &name);
        good &= found.is_some() && values.is_some();
        all.push((name, values.unwrap_or_default()));
    }
    good.then_some(all)
}
