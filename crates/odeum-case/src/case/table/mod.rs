//! Tables of initial states, parameters and time spans: CSV, NPY, NPZ.

mod csv;
mod numpy;
mod result;

use super::inputs::Inputs;
use super::names;
use super::reader::{Field, SourceSpan};
use crate::gas::{Basis, Mixture, PRESSURE, TEMPERATURE};
use crate::model::{Model, Start};
use crate::suggest;
use odeum_io::number::count;
use odeum_io::{Finding, Findings, Source};
use result::Ended;
use std::path::Path;
use std::sync::Arc;

/// What a column of a table gives to the systems.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ColumnTarget {
    /// A state or parameter, numbered together.
    Variable(usize),
    /// The start of the time span: a column called `t_start`.
    Start,
    /// The end of the time span: a column called `t_end`.
    End,
}

/// The column of starts of the time span.
const START: &str = "t_start";
/// The column of its ends.
const END: &str = "t_end";

/// The columns of a table that are used, one row a system.
#[derive(Clone, Debug)]
pub struct TableData {
    /// The name of the file.
    pub name: String,
    /// Number of rows.
    pub rows: usize,
    /// What columns give, and their values.
    pub columns: Vec<(ColumnTarget, Vec<f64>)>,
    /// Of a result of `odeum run`, unless columns of it are chosen: parameters that its systems share, and their values.
    pub(crate) shared: Vec<(usize, f64)>,
    /// Of a result of `odeum run`, the times its systems came to.
    pub(crate) ended: Vec<Ended>,
    /// Of a result, the variables that it gives where the case file chooses none.
    pub(crate) of_result: Vec<usize>,
    /// Names of what the columns of a file give, with those of the columns.
    pub(crate) read: Vec<(String, String)>,
    /// It is a result, which says what its numbers are.
    pub(crate) is_result: bool,
    /// Where the case file names it.
    pub source_span: SourceSpan,
}

impl TableData {
    /// The states and parameters the table gives.
    pub fn variables(&self) -> impl Iterator<Item = usize> + '_ {
        self.columns.iter().filter_map(|(target, _)| match target {
            ColumnTarget::Variable(variable) => Some(*variable),
            _ => None,
        })
    }

    /// True where it gives each system its own span.
    pub fn has_spans(&self) -> bool {
        let given = |target| self.column(target).is_some();
        given(ColumnTarget::Start) && given(ColumnTarget::End)
    }

    /// The values that it gives something.
    pub fn column(&self, wanted: ColumnTarget) -> Option<&[f64]> {
        self.columns.iter().find(|(target, _)| *target == wanted).map(|(_, values)| &values[..])
    }
}

/// Columns that a program hands over, one row a system.
#[derive(Clone, Debug, Default)]
pub struct Columns {
    /// What each gives: the name of a variable, `t_start` or `t_end`.
    pub names: Vec<String>,
    /// The values of each.
    pub values: Vec<Vec<f64>>,
}

/// A file of columns, not yet bound to a system.
pub(super) struct RawTable {
    /// Names of the columns; `None` where the format has none (a plain NPY array).
    pub(super) names: Option<Vec<String>>,
    /// Values by column; a column that is not wholly numbers says what is wrong with it.
    pub(super) columns: Vec<Result<Vec<f64>, Vec<Finding>>>,
    /// How messages call the names: `header`, `arrays`.
    pub(super) names_are: &'static str,
    /// The place of a name, where there is one.
    pub(super) name_source_spans: Vec<SourceSpan>,
    /// The columns that are read where the case file chooses none; all unless said.
    pub(super) used: Option<Vec<usize>>,
    /// Parameters that all systems of a result share, with their values.
    pub(super) shared: Vec<(String, f64)>,
    /// The species of it are mass fractions, whatever the case file has.
    pub(super) masses: bool,
    pub(super) ended: Vec<Ended>,
    /// What to do where the names are none.
    pub(super) hint: Option<String>,
    /// Lines after the header that are comments.
    pub(super) comments: usize,
    pub(super) warnings: Vec<Finding>,
}

/// What to do about numbers that are none.
const BAD_ROWS_HELP: &str = "give finite numbers only; or, that such systems end as `invalid start` \
                             and the others run, bad_rows = \"status\" in [ensemble]";

/// The same of times, which rows cannot be without.
const TIMES_HELP: &str = "give every row its times, as finite numbers";

impl RawTable {
    /// A table of somebody's columns.
    fn new(
        names: Option<Vec<String>>,
        columns: Vec<Result<Vec<f64>, Vec<Finding>>>,
        names_are: &'static str,
        name_source_spans: Vec<SourceSpan>,
    ) -> RawTable {
        RawTable {
            names,
            columns,
            names_are,
            name_source_spans,
            used: None,
            shared: Vec::new(),
            masses: false,
            ended: Vec::new(),
            hint: None,
            comments: 0,
            warnings: Vec::new(),
        }
    }
}

/// Which column is wanted for what, and where that is said.
struct Wanted {
    column: usize,
    target: ColumnTarget,
    source_span: SourceSpan,
}

/// Reads the table a case file names; `lenient` where rows may hold numbers that are none.
pub(super) fn read(
    field: &Field<'_>,
    columns: Option<Field<'_>>,
    lenient: bool,
    model: &Model,
    (folder, inputs): (&Path, &Inputs),
    findings: &Findings,
) -> Option<TableData> {
    let path = field.path(folder)?;
    inputs.add(&path);
    let extension = path.extension().and_then(|e| e.to_str()).unwrap_or("").to_lowercase();
    let read: fn(&Path, &SourceSpan, bool) -> Result<RawTable, Vec<Finding>> =
        match extension.as_str() {
            "csv" => |path, _, lenient| csv::read(path, lenient),
            "npy" => numpy::read_npy,
            "npz" => numpy::read_npz,
            _ => {
                let help = "tables are .csv (with a header), .npy or .npz files";
                return field.refuse("the kind of the table is not known", help);
            }
        };
    let read = |lenient: bool| read(&path, &field.source_span(), lenient);
    let raw = match read(lenient) {
        Ok(raw) => raw,
        Err(list) => {
            list.into_iter().for_each(|finding| findings.push(finding));
            return None;
        }
    };
    raw.warnings.iter().for_each(|warning| findings.push(warning.clone()));
    let shared = raw.shared.iter().filter(|_| columns.is_none());
    let shared = shared.filter_map(|(name, value)| Some((model.variable(name)?, *value))).collect();
    let is_other = raw.masses && !takes_masses(model);
    let wanted = match columns {
        Some(columns) => chosen(&raw, &columns, model, findings)?,
        None if is_other => Vec::new(),
        None => by_name(&raw, field, model, findings)?,
    };
    if is_other && (wanted.is_empty() || wanted.iter().any(|wanted| is_share(model, wanted.target)))
    {
        let message = "the table holds mass fractions, and the case has other compositions";
        let help = "give the composition by mass_fractions, or by the table alone; or leave those of the table, \
                    by columns = [\"T\", \"p\"]";
        return field.refuse(message, help);
    }
    let names = raw.names.as_deref().unwrap_or_default();
    let usual = raw.used.iter().flatten();
    let of_result = usual.filter_map(|column| model.variable(&names[*column])).collect();
    let pair = |wanted: &Wanted| {
        let name = match wanted.target {
            ColumnTarget::Variable(variable) => &model.variables[variable].name,
            ColumnTarget::Start => START,
            ColumnTarget::End => END,
        };
        Some((name.to_owned(), names.get(wanted.column)?.clone()))
    };
    let pairs = wanted.iter().filter_map(pair).collect();
    let mut used: Vec<(ColumnTarget, Vec<f64>)> = Vec::new();
    let mut first: Option<(usize, usize)> = None;
    let mut good = true;
    for Wanted { column, target, source_span } in wanted {
        // Columns of CSV and records have one length; arrays of an archive may have others.
        if let Ok(values) = &raw.columns[column] {
            let (of, rows) = *first.get_or_insert((column, values.len()));
            if values.len() != rows {
                good = false;
                let name = |column: usize| names.get(column).map_or("", String::as_str);
                let reason = format!(
                    "array `{}` has {} values, but `{}` has {rows}",
                    name(column),
                    values.len(),
                    name(of)
                );
                findings.push(numpy::broken(&path, &field.source_span(), &reason));
            }
        }
        if used.iter().any(|(t, _)| *t == target) {
            good = false;
            findings.push(source_span.error("this is given twice").help("name it once"));
        }
        let is_time = matches!(target, ColumnTarget::Start | ColumnTarget::End);
        let mut refuse = |list: &[Finding]| {
            good = false;
            for finding in list {
                let is_none = finding.help.as_deref() == Some(BAD_ROWS_HELP);
                let finding = finding.clone();
                findings.push(if is_time && is_none { finding.help(TIMES_HELP) } else { finding });
            }
        };
        match &raw.columns[column] {
            Ok(values) if is_time && values.iter().any(|t| !t.is_finite()) => match read(false) {
                Ok(RawTable { columns, .. }) if columns[column].is_err() => {
                    let _ = columns[column].as_ref().map_err(|list| refuse(list));
                }
                _ => refuse(&[source_span.error("a time is none").help(TIMES_HELP)]),
            },
            Ok(values) => used.push((target, values.clone())),
            Err(list) => refuse(list),
        }
    }
    let rows = first.map_or(0, |(_, rows)| rows);
    if good && rows == 0 {
        let message = format!("the table {} has no rows: zero systems", path.display());
        let help = match raw.comments {
            0 => "give at least one row".to_owned(),
            1 => "give at least one row; the line after the header that begins with # is a comment"
                .to_owned(),
            comments => format!(
                "give at least one row; {} lines after the header begin with # and are comments",
                count(comments as u64)
            ),
        };
        return field.refuse(message, &help);
    }
    let name = path.display().to_string();
    good.then(|| TableData {
        name,
        rows,
        columns: used,
        shared,
        ended: raw.ended,
        of_result,
        read: pairs,
        is_result: raw.masses,
        source_span: field.source_span(),
    })
}

/// True where species of a table are read as masses, or are no part of the variables.
fn takes_masses(model: &Model) -> bool {
    match &model.start {
        Start::Direct => true,
        Start::Gas(gas) => {
            matches!(
                gas.mixture,
                Mixture::Fractions(Basis::Masses) | Mixture::Amounts(Basis::Masses)
            )
        }
    }
}

/// True where a column gives the share of a species.
fn is_share(model: &Model, target: ColumnTarget) -> bool {
    let Start::Gas(gas) = &model.start else { return false };
    // The variables are temperature and pressure, then the equivalence ratio or the species.
    let is_composition = matches!(target, ColumnTarget::Variable(variable) if variable >= 2);
    is_composition && !matches!(gas.mixture, Mixture::Ratio(_))
}

/// A table that is handed over; `lenient` where rows may hold numbers that are none.
pub(super) fn of_columns(
    Columns { names, values }: Columns,
    lenient: bool,
    model: &Model,
    findings: &Findings,
) -> Option<TableData> {
    let source = Source::new("table", names.join("\n"));
    let mut start = 0;
    let source_spans = names.iter().map(|name| {
        let span = start..start + name.len();
        start = span.end + 1;
        SourceSpan { source: Arc::clone(&source), span, field: format!("table.{name}") }
    });
    let source_spans: Vec<SourceSpan> = source_spans.collect();
    let rows = values.first().map_or(0, Vec::len);
    let mut columns = Vec::with_capacity(values.len());
    let mut good = true;
    let mut refuse = |finding: Finding| {
        good = false;
        findings.push(finding);
    };
    for ((name, source_span), values) in names.iter().zip(&source_spans).zip(values) {
        let no_number = values.iter().position(|x| !x.is_finite());
        let target = target(model, name, source_span);
        let is_time = matches!(target, Ok(ColumnTarget::Start | ColumnTarget::End));
        match (target, no_number) {
            _ if values.len() != rows => refuse(
                source_span
                    .error(format!("{} values, and the first column has {rows}", values.len()))
                    .help("give all columns one row for each system"),
            ),
            (Err(finding), _) => refuse(finding),
            (Ok(_), Some(row)) if is_time || !lenient => refuse(
                source_span
                    .error(format!("the value in row {row} (from 0) is no finite number"))
                    .found(values[row])
                    .help(if is_time { TIMES_HELP } else { BAD_ROWS_HELP }),
            ),
            (Ok(target), _) if columns.iter().any(|(other, _)| *other == target) => {
                refuse(source_span.error("this is given twice").help("name it once"));
            }
            (Ok(target), _) => columns.push((target, values)),
        }
    }
    let source_span = SourceSpan { source, span: 0..0, field: "table".to_owned() };
    if rows == 0 {
        let message = "the table has no rows: zero systems";
        findings.push(source_span.error(message).help("give at least one row"));
        return None;
    }
    good.then_some(TableData {
        name: "table".to_owned(),
        rows,
        columns,
        shared: Vec::new(),
        ended: Vec::new(),
        of_result: Vec::new(),
        read: Vec::new(),
        is_result: false,
        source_span,
    })
}

fn target(model: &Model, name: &str, source_span: &SourceSpan) -> Result<ColumnTarget, Finding> {
    match (model.variable(name), name) {
        (Some(variable), _) => Ok(ColumnTarget::Variable(variable)),
        (None, START) => Ok(ColumnTarget::Start),
        (None, END) => Ok(ColumnTarget::End),
        _ => names::variable(model, name, source_span).map(ColumnTarget::Variable),
    }
}

/// What to do about a column without a name.
const UNNAMED: &str = "name it, or leave it out: an index of pandas by to_csv(…, index=False), or \
                       a separator at the end of the lines";

/// Every column by its own name.
fn by_name(
    raw: &RawTable,
    field: &Field<'_>,
    model: &Model,
    findings: &Findings,
) -> Option<Vec<Wanted>> {
    let Some(names) = &raw.names else {
        return field.refuse(
            "a plain array has no column names",
            "name its columns in order: columns = [\"x\", \"y\"]",
        );
    };
    let is_used = |column: &usize| raw.used.as_ref().is_none_or(|used| used.contains(column));
    if let Some(name) = [TEMPERATURE, PRESSURE]
        .into_iter()
        .find(|name| raw.masses && places(names, name).into_iter().filter(is_used).count() > 1)
    {
        let message =
            format!("the table is of gases with a species `{name}`, which is no column of its own");
        let help = "rename the species in the mechanism and compute the table anew, or list other columns to take: \
                    columns = [\"H2\", \"O2\"]";
        return field.refuse(message, help);
    }
    let any_good = raw.columns.iter().any(Result::is_ok);
    let wanted: Vec<Option<Wanted>> = names
        .iter()
        .enumerate()
        .filter(|(column, _)| is_used(column))
        .map(|(column, name)| {
            let source_span = raw.name_source_spans[column].clone();
            let target = match name.as_str() {
                "" => Err(source_span
                    .error(format!("column {} of the table has no name", column + 1))
                    .help(UNNAMED)),
                _ => target(model, name, &source_span),
            };
            // Where no column is good, what is wrong with it says more than that its name is unknown.
            if let (Err(list), Err(_), false, false) =
                (&raw.columns[column], &target, any_good, name.is_empty())
            {
                list.iter().for_each(|finding| findings.push(finding.clone()));
                return None;
            }
            let found = target.map_err(|finding| {
                let help = raw.hint.clone().or(finding.help.clone()).unwrap_or_default();
                finding.help(format!(
                    "{help}; to read some columns only, list them: columns = [\"x\"], or map them: \
                     columns = {{ x = \"column\" }}"
                ))
            });
            let target = findings.ok(found)?;
            Some(Wanted { column, target, source_span })
        })
        .collect();
    wanted.into_iter().collect()
}

/// The columns of a name.
fn places(names: &[String], name: &str) -> Vec<usize> {
    (0..names.len()).filter(|column| names[*column] == name).collect()
}

/// The columns the case file lists, `["x", "y"]`, or maps, `{ x = "column" }`.
fn chosen(
    raw: &RawTable,
    field: &Field<'_>,
    model: &Model,
    findings: &Findings,
) -> Option<Vec<Wanted>> {
    let pairs: Vec<(String, SourceSpan, Field<'_>)> = if field.is_table() {
        field.section()?.entries()
    } else {
        let items = field.list()?;
        items.into_iter().filter_map(|f| Some((f.text()?.to_owned(), f.source_span(), f))).collect()
    };
    if raw.names.is_none() && pairs.len() != raw.columns.len() {
        let message = format!("{} names for {} columns", pairs.len(), raw.columns.len());
        return field.refuse(message, "give one name for each column of the array");
    }
    let wanted: Vec<Option<Wanted>> = pairs
        .into_iter()
        .enumerate()
        .map(|(k, (name, source_span, value))| {
            let target = findings.ok(target(model, &name, &source_span));
            let column_name = value.text()?;
            let column = match &raw.names {
                None => k,
                Some(names) => match *places(names, column_name) {
                    [column] => column,
                    [_, _, ..] => {
                        let message = format!("the table has several columns `{column_name}`");
                        return value.refuse(message, "rename all but one in the table");
                    }
                    [] => {
                        let known = names.iter().map(String::as_str);
                        let remedy = || suggest::remedy(column_name, raw.names_are, known);
                        let help = raw.hint.clone().unwrap_or_else(remedy);
                        return value
                            .refuse(format!("the table has no column `{column_name}`"), &help);
                    }
                },
            };
            Some(Wanted { column, target: target?, source_span })
        })
        .collect();
    wanted.into_iter().collect()
}
