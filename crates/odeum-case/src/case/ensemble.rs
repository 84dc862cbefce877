//! `[ensemble]`: which systems there are.
//!
//! The systems are the product of table rows, sweep points and copies, numbered like the entries
//! of an array whose first axis is the table, whose next axes are the sweeps in the order
//! written, and whose last and fastest axis is the copies.

use super::inputs::Inputs;
use super::range::{self, Values};
use super::reader::{Field, Section, SourceSpan};
use super::source_spans::SourceSpans;
use super::table::{self, Columns, TableData};
use super::{names, reader};
use crate::model::{Model, Variable};
use odeum_io::finding::{Finding, Findings};
use std::path::Path;

/// Random change of some states and parameters.
#[derive(Clone, Debug)]
pub struct Perturbation {
    /// Numbers of variables.
    pub of: Vec<usize>,
    /// Half-width of the uniform, standard deviation of the normal distribution.
    pub size: f64,
    /// The size is a fraction of the value.
    pub relative: bool,
    /// Normally distributed, with `size` as standard deviation; else evenly up to it.
    pub normal: bool,
    /// Where it stands.
    pub source_span: SourceSpan,
}

/// One axis of a sweep.
#[derive(Clone, Debug)]
pub struct Axis {
    /// The name of the variable, and of the axis.
    pub name: String,
    /// Number of the variable.
    pub variable: usize,
    /// The values along the axis.
    pub values: Values,
    /// Where it stands.
    pub source_span: SourceSpan,
}

/// The whole section.
#[derive(Clone, Debug)]
pub struct EnsembleSpec {
    /// Copies of each system.
    pub count: usize,
    /// The seed of perturbations.
    pub seed: u64,
    /// What is perturbed.
    pub perturb: Vec<Perturbation>,
    /// What is swept, the last axis fastest.
    pub sweep: Vec<Axis>,
    /// A table, each row of which is swept and copied.
    pub table: Option<TableData>,
    /// Systems whose rows are no starts end by their status; else they are errors.
    pub takes_bad_rows: bool,
}

impl EnsembleSpec {
    /// Number of systems M, which may be more than a run can have.
    pub fn systems(&self) -> u128 {
        let rows = self.table.as_ref().map_or(1, |table| table.rows);
        let lens =
            [rows, self.count].into_iter().chain(self.sweep.iter().map(|axis| axis.values.len()));
        lens.fold(1, |all, len| all.saturating_mul(len as u128))
    }

    /// Whether a table or a sweep gives a variable.
    pub(crate) fn varies(&self, variable: usize) -> bool {
        self.table.iter().flat_map(TableData::variables).any(|other| other == variable)
            || self.sweep.iter().any(|axis| axis.variable == variable)
    }
}

impl Default for EnsembleSpec {
    fn default() -> Self {
        EnsembleSpec {
            count: 1,
            seed: 0,
            perturb: Vec::new(),
            sweep: Vec::new(),
            table: None,
            takes_bad_rows: false,
        }
    }
}

/// Where the table of an ensemble comes from.
pub(super) struct Table<'a> {
    /// The folder where its file is looked for.
    pub(super) folder: &'a Path,
    /// One that is handed over.
    pub(super) given: Option<Columns>,
    /// Where the file that is read is told of.
    pub(super) inputs: &'a Inputs,
}

/// The ensemble of a table that is handed over, or the one system, where there is no section.
pub(super) fn of_columns(
    model: Option<&Model>,
    given: Option<Columns>,
    findings: &Findings,
) -> Option<EnsembleSpec> {
    let (Some(columns), Some(model)) = (given, model) else {
        return Some(EnsembleSpec::default());
    };
    let table = Some(table::of_columns(columns, false, model, findings)?);
    Some(EnsembleSpec { table, ..EnsembleSpec::default() })
}

/// Reads the section; without a model, names are not looked up.
pub(super) fn read(
    section: &Section<'_>,
    model: Option<&Model>,
    Table { folder, given, inputs }: Table<'_>,
    source_spans: &mut SourceSpans,
    findings: &Findings,
) -> Option<EnsembleSpec> {
    let count = section.get("count").map(|f| {
        source_spans.put("ensemble.count", f.source_span());
        f.whole(1, u64::from(u32::MAX))
    });
    let seed = section.get("seed").map(|f| match section.has("perturb") {
        true => f.whole(0, u64::MAX),
        false => f.refuse("`seed` without `perturb`", "say what is random, or leave `seed` out"),
    });
    let perturb = section.get("perturb").map(|f| read_perturb(&f, model, findings));
    let sweep = section.get("sweep").map(|f| read_sweep(&f, model, findings));
    let table_field = section.get("table");
    let columns = section.get("columns");
    let bad_rows_field = section.get("bad_rows");
    let bad_rows = bad_rows_field.as_ref().map_or(Some(false), |field| {
        field.choice("what becomes of bad rows", &[("error", false), ("status", true)])
    });
    let lenient = bad_rows == Some(true);
    let table = match (table_field, given, model) {
        (Some(field), Some(_), _) => {
            let message = "a table is handed over with the case already";
            Some(field.refuse(message, "leave `table` out"))
        }
        (Some(field), None, Some(model)) => {
            Some(table::read(&field, columns, lenient, model, (folder, inputs), findings))
        }
        (Some(field), None, None) => {
            field.text();
            None
        }
        (None, Some(given), model) => {
            model.map(|model| table::of_columns(given, lenient, model, findings))
        }
        (None, None, _) => {
            if let Some(columns) = columns {
                columns.refuse::<()>("`columns` without a `table`", "give the table it is about");
            }
            if let Some(field) = &bad_rows_field {
                field.refuse::<()>("`bad_rows` without a `table`", "give the table it is about");
            }
            None
        }
    };
    section.finish();
    // `None` inside means: was given, and is wrong.
    let spec = EnsembleSpec {
        count: count.map_or(Some(1), |c| c.map(|c| c as usize))?,
        seed: seed.unwrap_or(Some(0))?,
        perturb: perturb.unwrap_or(Some(Vec::new()))?,
        sweep: sweep.unwrap_or(Some(Vec::new()))?,
        table: table.map_or(Some(None), |t| t.map(Some))?,
        takes_bad_rows: bad_rows?,
    };
    model
        .and_then(|model| no_conflicts(&spec, model, findings))
        .or(model.is_none().then_some(()))?;
    Some(spec)
}

fn read_perturb(
    field: &Field<'_>,
    model: Option<&Model>,
    findings: &Findings,
) -> Option<Vec<Perturbation>> {
    let items = if field.is_table() { vec![field.clone()] } else { field.list()? };
    let read: Vec<_> = items.iter().map(|item| perturbation(item, model, findings)).collect();
    read.into_iter().collect()
}

const PERTURB_HELP: &str = "as { of = \"states\", relative = 1e-3 }, or { of = [\"x\", \"k\"], \
                            absolute = 0.1, distribution = \"normal\" }";

fn perturbation(
    field: &Field<'_>,
    model: Option<&Model>,
    findings: &Findings,
) -> Option<Perturbation> {
    let section = field.section()?;
    let of = section.need("of", PERTURB_HELP);
    let of = of.and_then(|of| selection(&of, model, findings));
    let size = match (section.get("relative"), section.get("absolute")) {
        (Some(size), None) => size.number().map(|x| (size, x, true)),
        (None, Some(size)) => size.number().map(|x| (size, x, false)),
        (None, None) => {
            findings.push(section.here("how large is the perturbation?").help(PERTURB_HELP));
            None
        }
        (Some(_), Some(absolute)) => {
            absolute.refuse("`relative` and `absolute` together", "give one of the two")
        }
    };
    let normal = match section.get("distribution") {
        Some(field) => field.choice("distributions", &[("uniform", false), ("normal", true)]),
        None => Some(false),
    };
    section.finish();
    let (size_field, size, relative) = size?;
    if size < 0.0 {
        return size_field.refuse("a perturbation cannot be negative", "give zero or more");
    }
    Some(Perturbation {
        of: of?,
        size,
        relative,
        normal: normal?,
        source_span: field.source_span(),
    })
}

/// `"states"`, `"parameters"`, one name, or a list of names.
fn selection(field: &Field<'_>, model: Option<&Model>, findings: &Findings) -> Option<Vec<usize>> {
    let items = if field.is_text() { vec![field.clone()] } else { field.list()? };
    if items.is_empty() {
        return field.refuse("nothing is perturbed", PERTURB_HELP);
    }
    let mut of = Vec::new();
    let mut good = true;
    for item in items {
        let (Some(name), Some(model)) = (item.text(), model) else {
            good = false;
            continue;
        };
        match name {
            "states" if model.is_direct() => of.extend(0..model.dim()),
            "parameters" if model.is_direct() && model.dim() < model.variables.len() => {
                of.extend(model.dim()..model.variables.len())
            }
            "states" | "parameters" if model.variable(name).is_none() => {
                let names = model.names().take(12).collect::<Vec<&str>>().join(", ");
                let (message, help) = if model.is_direct() {
                    (format!("the system has no {name}"), format!("there are {names}"))
                } else {
                    let message = format!("a gas starts from variables, not from {name}");
                    (message, format!("name some of them: {names}"))
                };
                item.refuse::<()>(message, &help);
                good = false;
            }
            _ => match findings.ok(names::variable(model, name, &item.source_span())) {
                Some(variable) => of.push(variable),
                None => good = false,
            },
        }
    }
    good.then_some(of)
}

fn read_sweep(field: &Field<'_>, model: Option<&Model>, findings: &Findings) -> Option<Vec<Axis>> {
    let section = field.section()?;
    let axes: Vec<Option<Axis>> = section
        .entries()
        .into_iter()
        .map(|(name, source_span, field): (String, reader::SourceSpan, Field<'_>)| {
            let values = range::read(&field, None);
            let variable = findings.ok(names::variable(model?, &name, &source_span));
            Some(Axis { name, variable: variable?, values: values?, source_span })
        })
        .collect();
    axes.into_iter().collect()
}

/// A value must come from one place only.
fn no_conflicts(spec: &EnsembleSpec, model: &Model, findings: &Findings) -> Option<()> {
    let names: Vec<&str> = model.names().collect();
    let mut good = true;
    let mut seen = vec![false; names.len()];
    for variable in spec.table.iter().flat_map(TableData::variables) {
        seen[variable] = true;
    }
    for axis in &spec.sweep {
        if std::mem::replace(&mut seen[axis.variable], true) {
            good = false;
            findings.push(
                axis.source_span
                    .error(format!("`{}` is both in the table and in the sweep", axis.name))
                    .help("leave it out of one of the two"),
            );
        }
    }
    let mut perturbed = vec![false; names.len()];
    for perturbation in &spec.perturb {
        for &variable in &perturbation.of {
            if std::mem::replace(&mut perturbed[variable], true) {
                good = false;
                let message = format!("`{}` is perturbed twice", names[variable]);
                findings.push(perturbation.source_span.error(message).help("name it once"));
            }
        }
    }
    if let Some(finding) = other_parameters(spec, model) {
        good = false;
        findings.push(finding);
    }
    good.then_some(())
}

/// A parameter that all systems of a result share, where the case has another: nobody knows which is meant. One of
/// the case that rounds to that of a result in single precision is the same.
fn other_parameters(spec: &EnsembleSpec, model: &Model) -> Option<Finding> {
    let table = spec.table.as_ref()?;
    let is_other = |&&(variable, value): &&(usize, f64)| {
        let own = model.variables[variable].value;
        let equal = [own, f64::from(own as f32)].iter().any(|x| x.to_bits() == value.to_bits());
        !equal && !spec.varies(variable)
    };
    let others: Vec<_> = table.shared.iter().filter(is_other).collect();
    let (variable, value) = others.first()?;
    let Variable { name, value: own } = &model.variables[*variable];
    let message = match others.len() {
        1 => format!("the table was computed with {name} = {value:?}, and the case has {own:?}"),
        n => format!(
            "the table was computed with {name} = {value:?}, and the case has {own:?}; {n} parameters differ"
        ),
    };
    let help = format!(
        "give {name} = {value:?} in [system]; to go on with another value, sweep = {{ {name} = [{own:?}] }} in \
         [ensemble], or list the columns to take in `columns`"
    );
    Some(table.source_span.error(message).help(help))
}
