//! Results of `odeum run` and states of `odeum pasr` as tables: what systems end at, others start from.

use super::numpy::{broken, checked};
use super::{ColumnTarget, RawTable, TableData};
use crate::case::EnsembleSpec;
use crate::case::reader::SourceSpan;
use crate::model::Model;
use odeum_io::Finding;
use odeum_io::npz::Npz;
use odeum_io::number::{count, rounded};
use odeum_kinetics::constants::GAS_CONSTANT;
use odeum_ode::Status;
use std::path::Path;

/// A named column of numbers.
type Column = (String, Vec<f64>);

/// When a system of a result ended.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Ended {
    /// Its row.
    row: usize,
    /// The time it came to.
    t: f64,
    /// The end of its span.
    end: f64,
}

/// Names that a message lists.
const NAMED: usize = 6;

/// Times that differ by less than this, of the larger, are one: those of many steps have roundings.
const SAME: f64 = 1e-9;

impl TableData {
    /// Warns of systems that start at another time than their states are of. All may have come to one time and start at
    /// another, as where each part of a cycle begins at zero, but not where the span goes on from theirs.
    pub(crate) fn at_other_times(&self, span: Option<(f64, f64)>) -> Option<Finding> {
        let (start, _) = span?;
        if self.column(ColumnTarget::Start).is_some() {
            return None;
        }
        let same = |a: f64, b: f64| (a - b).abs() <= SAME * a.abs().max(b.abs());
        let together = self.ended.iter().all(|one| same(one.t, self.ended[0].t));
        let is_other = |one: &&Ended| !same(one.t, start) && (!together || same(one.end, start));
        let mut others = self.ended.iter().filter(is_other);
        let Ended { row, t, .. } = others.next()?;
        let message = format!(
            "{} of {} systems start at another time than their states are of, row {row} (from 0) the \
             first",
            count(others.count() as u64 + 1),
            count(self.rows as u64)
        );
        let finding = self.source_span.error(message).into_warning();
        let [t, start] = [*t, start].map(|t| rounded(t, 9));
        let found = format!("ended at t = {t}, starts at t = {start}");
        Some(finding.found(found).help(format!(
            "start each where it ended, with {}; nothing to do where the equations do not depend on \
             time and all are to run for as long",
            self.columns_with([("t_start", "t")])
        )))
    }

    /// Warns where times of a result are read and not all that its systems would start with: they would start with
    /// values of the case, which are of other times.
    pub(crate) fn times_alone(&self, ensemble: &EnsembleSpec, model: &Model) -> Option<Finding> {
        self.column(ColumnTarget::Start).or(self.column(ColumnTarget::End))?;
        let unread = self.of_result.iter().filter(|variable| !ensemble.varies(**variable));
        let unread: Vec<&str> = unread.map(|v| model.variables[*v].name.as_str()).collect();
        let shown = match &unread[..] {
            [] => return None,
            [all @ .., last] if (1..NAMED).contains(&all.len()) => {
                format!("{} and {last}", all.join(", "))
            }
            [last] => (*last).to_owned(),
            all => format!("{} and {} more", all[..NAMED].join(", "), all.len() - NAMED),
        };
        let message = format!("times of the result are read, but not its {shown}");
        let finding = self.source_span.error(message).into_warning();
        let columns = self.columns_with(unread.into_iter().map(|name| (name, name)));
        let help = "systems start with those of the case; to go on with those of the result give";
        Some(finding.help(format!("{help} {columns}")))
    }

    /// The `columns` that read what is read, and more.
    fn columns_with<'a>(&'a self, more: impl IntoIterator<Item = (&'a str, &'a str)>) -> String {
        let read = self.read.iter().map(|(name, column)| (name.as_str(), column.as_str()));
        let is_bare = |c: char| c.is_ascii_alphanumeric() || "_-".contains(c);
        let pair = |(name, column): (&str, &str)| match name.chars().all(is_bare) {
            true => format!("{name} = {column:?}"),
            false => format!("{name:?} = {column:?}"),
        };
        let pairs: Vec<String> = more.into_iter().map(pair).collect();
        let pairs: Vec<String> = read.map(pair).chain(pairs).collect();
        format!("columns = {{ {} }}", pairs.join(", "))
    }
}

/// The columns of a result.
#[derive(Default)]
struct Columns {
    /// What systems start from.
    starts: Vec<Column>,
    /// What can be asked for by name besides.
    others: Vec<Column>,
    /// Parameters that all systems share, among the others.
    shared: Vec<(String, f64)>,
    masses: bool,
    failed: usize,
    /// When those ended that ran.
    ended: Vec<Ended>,
}

/// The table of an archive with arrays of these names; `None` where it is none of Odeum's results.
pub(super) fn read(
    npz: &mut Npz,
    names: &[String],
    path: &Path,
    source_span: &SourceSpan,
    lenient: bool,
) -> Option<Result<RawTable, Vec<Finding>>> {
    let has = |all: &[&str]| all.iter().all(|name| names.iter().any(|n| n == name));
    let columns = if has(&["y", "state_names", "params", "param_names", "status", "t"]) {
        of_run(npz, has(&["variable_names"]))
    } else if has(&["T", "p", "Y", "species_names", "t"]) {
        of_pasr(npz)
    } else {
        return None;
    };
    let columns = match columns.and_then(of_one_length) {
        Ok(columns) => columns,
        Err(reason) => return Some(Err(vec![broken(path, source_span, &reason)])),
    };
    let rows = columns.starts.first().map_or(0, |(_, values)| values.len());
    let mut warnings = Vec::new();
    if columns.failed > 0 {
        let message = format!(
            "{} of {} systems of the table failed in the run it is of",
            count(columns.failed as u64),
            count(rows as u64)
        );
        let finding = source_span.error(message).into_warning();
        warnings.push(finding.help("they start from their last good state, before its end"));
    }
    let used = (0..columns.starts.len()).collect();
    let all: Vec<Column> = columns.starts.into_iter().chain(columns.others).collect();
    let (names, values): (Vec<String>, Vec<Vec<f64>>) = all.into_iter().unzip();
    let checked = names.iter().zip(values).map(|(name, v)| checked(v, path, name, lenient));
    Some(Ok(RawTable {
        columns: checked.collect(),
        names_are: "columns",
        name_source_spans: vec![source_span.clone(); names.len()],
        names: Some(names),
        used: Some(used),
        shared: columns.shared,
        masses: columns.masses,
        ended: columns.ended,
        hint: None,
        comments: 0,
        warnings,
    }))
}

/// End states, and the parameters in which systems differ.
fn of_run(npz: &mut Npz, gas: bool) -> Result<Columns, String> {
    let (states, params) = (npz.texts("state_names")?, npz.texts("param_names")?);
    let y = named("y", states, npz.array("y")?.columns)?;
    let p = named("params", params, npz.array("params")?.columns)?;
    let status: Vec<Option<Status>> =
        npz.column("status")?.into_iter().map(|number| Status::from_number(number as u8)).collect();
    // Those without a start have no good state and no time: as rows of this table they have no start either.
    let had_start = |status: &Option<Status>| *status != Some(Status::InvalidStart);
    let success = |status: &Option<Status>| status.is_some_and(|status| status.is_success());
    let failed = status.iter().filter(|status| had_start(status) && !success(status)).count();
    let mut columns = Columns { failed, ..Columns::default() };
    if gas {
        columns.masses = true;
        columns.starts = gases(y, &p)?;
    } else {
        let same = |values: &[f64]| values.iter().all(|x| x.to_bits() == values[0].to_bits());
        let (fixed, varied): (Vec<Column>, Vec<Column>) = p.into_iter().partition(|c| same(&c.1));
        columns.starts = y.into_iter().chain(varied).collect();
        let first = |(name, values): &Column| Some((name.clone(), *values.first()?));
        columns.shared = fixed.iter().filter_map(first).collect();
        columns.others = fixed;
    }
    let t = npz.column("t")?;
    let spans = npz.array("span").ok().and_then(|span| span.columns.into_iter().nth(1));
    let times = t.iter().zip(spans.into_iter().flatten()).enumerate().zip(&status);
    let ran = times.filter(|(_, status)| had_start(status));
    columns.ended = ran.map(|((row, (t, end)), _)| Ended { row, t: *t, end }).collect();
    columns.others.push(("t".to_owned(), t));
    Ok(columns)
}

/// Temperature, pressure and mass fractions from states of reactors: T, mass fractions and m.
fn gases(mut y: Vec<Column>, params: &[Column]) -> Result<Vec<Column>, String> {
    let (Some((last, m)), [(name, parameter)]) = (y.pop(), params) else {
        return Err("it has no states of reactors".to_owned());
    };
    let Some((first, temperature)) = y.first().filter(|_| last == "m") else {
        return Err("its states are none of reactors".to_owned());
    };
    let pressure = match name.as_str() {
        "pressure" => parameter.clone(),
        "density" if first == "T" => {
            let of = |((d, t), m): ((&f64, &f64), &f64)| d * GAS_CONSTANT * t * m;
            parameter.iter().zip(temperature).zip(&m).map(of).collect()
        }
        other => return Err(format!("its parameter `{other}` is none of a reactor")),
    };
    y.insert(1, ("p".to_owned(), pressure));
    Ok(y)
}

fn of_pasr(npz: &mut Npz) -> Result<Columns, String> {
    let species = npz.texts("species_names")?;
    let mut starts = vec![("T".to_owned(), npz.column("T")?), ("p".to_owned(), npz.column("p")?)];
    starts.extend(named("Y", species, npz.array("Y")?.columns)?);
    let others = vec![("t".to_owned(), npz.column("t")?)];
    Ok(Columns { starts, others, masses: true, ..Columns::default() })
}

/// The columns of an array by their names.
fn named(array: &str, names: Vec<String>, columns: Vec<Vec<f64>>) -> Result<Vec<Column>, String> {
    if names.len() != columns.len() {
        let found = columns.len();
        return Err(format!("array `{array}` has {found} columns for {} names", names.len()));
    }
    Ok(names.into_iter().zip(columns).collect())
}

/// The same columns, where all have as many rows.
fn of_one_length(columns: Columns) -> Result<Columns, String> {
    let mut all = columns.starts.iter().chain(&columns.others);
    let rows = columns.starts.first().map_or(0, |(_, values)| values.len());
    match all.find(|(_, values)| values.len() != rows) {
        Some((name, values)) => {
            Err(format!("`{name}` has {} rows, but others have {rows}", values.len()))
        }
        None => Ok(columns),
    }
}
