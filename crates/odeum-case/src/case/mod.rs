//! Case files: a TOML document that says what to integrate.
//!
//! One file here reads one section. Everything that is wrong is gathered in [`Findings`] with
//! its place, so that a user sees all of it at once.

mod ensemble;
mod field;
mod gas;
mod given;
mod inputs;
mod method;
mod names;
mod range;
mod reader;
mod run;
mod source_spans;
mod system;
mod table;
mod text;
mod time;

pub use ensemble::{Axis, EnsembleSpec, Perturbation};
pub use field::{
    COPIES, Colours, Every, FieldCase, FieldOutput, FieldTime, Initial, Isosurface, Line, Series,
    Slice, Structure, too_large,
};
pub use given::{CellArray, Given};
pub use method::MethodSpec;
pub use range::{Range, Values};
pub use run::{MOST_THREADS, OutputSpec, Precision, RunSpec};
pub use source_spans::SourceSpans;
pub use table::{ColumnTarget, Columns, TableData};
pub use time::{Level, TimeSpec, Until};

use crate::model::Model;
use odeum_io::Source;
use odeum_io::file;
use odeum_io::{Finding, Findings};
use odeum_ode::{Device, Method, Tolerance};
pub use reader::SourceSpan;

use inputs::{Beside, Inputs};
use reader::Section;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use toml::de::DeTable;

/// A case file that could be read.
pub struct Case {
    /// The file.
    pub path: PathBuf,
    /// Its text.
    pub source: Arc<Source>,
    /// `title`.
    pub title: Option<String>,
    /// `[system]`.
    pub model: Model,
    /// `[ensemble]`.
    pub ensemble: EnsembleSpec,
    /// `[time]`.
    pub time: TimeSpec,
    /// `[method]`.
    pub method: MethodSpec,
    /// `[tolerance]`.
    pub tolerance: Tolerance,
    /// `[run]`.
    pub run: RunSpec,
    /// `[output]`.
    pub output: OutputSpec,
    /// The files that it was read from, its own first.
    pub inputs: Vec<PathBuf>,
    /// Where in the file the values stand.
    pub source_spans: SourceSpans,
}

impl Case {
    /// What in `[ensemble]` gives a variable its values, the last word first.
    pub fn source_span_of(&self, variable: usize) -> Option<&SourceSpan> {
        let EnsembleSpec { perturb, sweep, table, .. } = &self.ensemble;
        let perturbed = perturb.iter().find(|p| p.of.contains(&variable)).map(|p| &p.source_span);
        let swept =
            || sweep.iter().find(|axis| axis.variable == variable).map(|axis| &axis.source_span);
        let of_table = || {
            let table = table.as_ref()?;
            table.variables().any(|v| v == variable).then_some(&table.source_span)
        };
        perturbed.or_else(swept).or_else(of_table)
    }

    /// An error where the case gives a span and the table gives each system its own.
    pub fn idle_span(&self) -> Option<Finding> {
        self.ensemble.table.as_ref().filter(|table| table.has_spans())?;
        let source_span = self.source_spans.find("span")?;
        // Without a span of the case it is the place of the section.
        (source_span.field == "time.span").then(|| {
            let help =
                "leave out `span`; or leave out the columns t_start and t_end, and all systems have it";
            source_span.error("the table gives each system its own span").help(help)
        })
    }

    /// A warning where a picture is asked for and there is nothing to draw.
    pub fn undrawn(&self) -> Option<Finding> {
        let source_span = self.source_spans.find("svg")?;
        let lack = if self.time.until.is_none() {
            "[time] names no level: add until = { x = { rises_by = 0.5 } }, say"
        } else if self.ensemble.sweep.is_empty() {
            "there is no sweep: add [ensemble.sweep] with x = { from = 1.0, to = 2.0, count = 9 }, say"
        } else {
            return None;
        };
        let message =
            "there will be no picture: it shows over a sweep when systems come to a level";
        Some(source_span.error(message).into_warning().help(format!("{lack}; or leave `svg` out")))
    }
}

/// Most bytes of a case file: it is written by hand, and large data goes into tables. The tree of a
/// hostile one takes a hundred times its size.
pub const LARGEST_CASE: u64 = 2 << 20;
/// Above this size only the first slip of syntax is reported: a file of junk has millions.
const LARGE: usize = 1 << 20;

/// What a case file describes.
// There is one in a run, so its size does not matter.
#[allow(clippy::large_enum_variant)]
pub enum Described {
    /// Many small systems.
    Ensemble(Case),
    /// Fields on a grid.
    Field(FieldCase),
}

/// Reads a case file; `None` after reporting what is wrong with it. One with a `[grid]` describes
/// fields, whose memory is judged by `device` where the case's own does not count.
pub fn read(path: &Path, device: Option<&Device>, findings: &Findings) -> Option<Described> {
    let source = source(path, None, findings)?;
    read_source(&source, path, device, findings)
}

/// The text of a case file, of `content` where its bytes were read; `None` after reporting what is wrong with it.
pub fn source(path: &Path, content: Option<Vec<u8>>, findings: &Findings) -> Option<Arc<Source>> {
    findings.ok(match content {
        Some(bytes) => file::text_of(path, "case file", LARGEST_CASE, bytes),
        None => file::read_text(path, "case file", LARGEST_CASE),
    })
}

/// As [`read`] for the text of a case that was read, or stands in a result, as if it stood at `path`.
pub fn read_source(
    source: &Arc<Source>,
    path: &Path,
    device: Option<&Device>,
    findings: &Findings,
) -> Option<Described> {
    let document = parse(source, findings)?;
    let root = Section::root(document.get_ref(), source, findings);
    if root.has("grid") {
        return field::read(&root, path, source, (device, None), findings).map(Described::Field);
    }
    // What the other sections mean depends on this one.
    if root.misspells(&["grid"]) {
        return None;
    }
    read_ensemble(&root, path, source, Given::default(), findings).map(Described::Ensemble)
}

/// As [`read`] for the text of an ensemble's case that a program has written, as if it stood at `path`, with
/// what the program hands over beside it.
pub fn read_text(
    text: &Arc<Source>,
    path: &Path,
    given: Given,
    findings: &Findings,
) -> Option<Case> {
    let document = parse(text, findings)?;
    let root = Section::root(document.get_ref(), text, findings);
    read_ensemble(&root, path, text, given, findings)
}

/// As [`read`] for the text of a field's case that a program has written, as if it stood at `path`, with what
/// the program hands over beside it. The program says later how far it goes: `time.until` may be missing.
pub fn read_field_text(
    text: &Arc<Source>,
    path: &Path,
    given: &Given,
    findings: &Findings,
) -> Option<FieldCase> {
    let document = parse(text, findings)?;
    let root = Section::root(document.get_ref(), text, findings);
    field::read(&root, path, text, (None, Some(given)), findings)
}

fn read_ensemble(
    root: &Section<'_>,
    path: &Path,
    source: &Arc<Source>,
    Given { table: given, mechanisms, .. }: Given,
    findings: &Findings,
) -> Option<Case> {
    let title = root.get("title").map(|field| field.text().map(str::to_owned));
    let mut source_spans = SourceSpans::default();

    let help = "add [system] with problem = \"lorenz\" (see `odeum problems`), with states, \
                parameters and equations, or with mechanism = \"file.yaml\"";
    let folder = path.parent().unwrap_or(Path::new(""));
    let inputs = Inputs::default();
    inputs.add(path);
    let system = root.need("system", help).and_then(|field| field.section());
    let tabled = given.is_some() || root.holds("ensemble", "table");
    let beside = Beside { folder, tabled, mechanisms: &mechanisms, inputs: &inputs };
    let mut model =
        system.and_then(|section| system::read(&section, &beside, &mut source_spans, findings));
    let is_handed = given.is_some();
    let ensemble = match root.get("ensemble") {
        Some(field) => field.section().and_then(|section| {
            let table = ensemble::Table { folder, given, inputs: &inputs };
            ensemble::read(&section, model.as_ref(), table, &mut source_spans, findings)
        }),
        None => ensemble::of_columns(model.as_ref(), given, findings),
    };
    if let (Some(model), Some(ensemble)) = (&mut model, &ensemble) {
        gas::take_untabled(model, ensemble);
        gas::tell_unwritten(model, ensemble);
    }
    let table = ensemble.as_ref().and_then(|ensemble| ensemble.table.as_ref());
    let own_spans = table.is_some_and(TableData::has_spans);
    let time = match root.get("time") {
        Some(field) => {
            source_spans.put("span", field.source_span());
            let model = model.as_ref();
            field.section().and_then(|section| {
                time::read(&section, model, own_spans, &mut source_spans, findings)
            })
        }
        None => Some(TimeSpec::new(model.as_ref().and_then(|model| model.span))),
    };
    if let (Some(model), Some(ensemble)) = (&model, &ensemble)
        && let Some(table) = &ensemble.table
    {
        let span = time.as_ref().and_then(|time| time.span);
        let warnings = [table.at_other_times(span), table.times_alone(ensemble, model)];
        warnings.into_iter().flatten().for_each(|warning| findings.push(warning));
    }
    let all: Vec<&str> = Method::all().iter().map(Method::name).collect();
    let (usual, atol) = match root.holds("system", "mechanism") {
        true => ("\"rodas5p\"", "1e-15"),
        false => ("\"dopri5\", or \"rodas5p\" for a stiff system", "1e-9"),
    };
    let help = format!("add [method] with name = {usual} (all: {})", all.join(", "));
    let method = root.need("method", &help).and_then(|field| field.section());
    let method = method.and_then(|section| method::read(&section, &mut source_spans));
    if root.holds("system", "spectral_radius")
        && let Some(source_span) = source_spans.find("radius_bound")
    {
        let finding = source_span.error("`spectral_radius` both in [system] and in [method]");
        findings.push(finding.help("leave one of them out"));
    }
    let help = format!("add [tolerance] with rtol = 1e-6 and atol = {atol}");
    let tolerance = root.need("tolerance", &help).and_then(|field| field.section());
    let tolerance = tolerance.and_then(|section| {
        let method = method.as_ref().map(|spec| &spec.method);
        method::read_tolerance(&section, method, model.as_ref(), &mut source_spans, findings)
    });
    let run = match root.get("run") {
        Some(field) => {
            field.section().and_then(|section| run::read(&section, &mut source_spans, findings))
        }
        None => Some(RunSpec::default()),
    };
    let output = match root.get("output") {
        Some(field) => {
            field.section().and_then(|section| run::read_output(&section, &mut source_spans))
        }
        None => Some(OutputSpec::default()),
    };
    root.finish();
    let precision = run.as_ref().map_or(Precision::F64, |run| run.precision);
    let place = |error: odeum_ode::Error| findings.push(source_spans.place(error));
    let method = method.filter(|spec| spec.method.check().map_err(place).is_ok());
    let tolerance =
        tolerance.filter(|t| method::check_tolerance(t, precision).map_err(place).is_ok());
    if let (Some(model), Some(tolerance)) = (&mut model, &tolerance) {
        gas::allow_rounding(model, tolerance);
    }
    if let (Some(model), Some(time), Some(tolerance)) = (&model, &time, &tolerance)
        && let Some(warning) = gas::missed_ignitions(model, time, tolerance, &source_spans)
    {
        findings.push(warning);
    }
    if let (Some(model), Some(time)) = (&model, &time)
        && let Some(warning) = gas::no_such_level(model, time, &source_spans)
    {
        findings.push(warning);
    }
    if let (Some(model), Some(tolerance)) = (&model, &tolerance)
        && let Some(warning) = gas::low_orders(model, tolerance, &source_spans)
    {
        findings.push(warning);
    }
    if let (Some(model), Some(spec)) = (&model, &method) {
        let warnings =
            [gas::explicit, gas::inexact].map(|judge| judge(model, &spec.method, &source_spans));
        warnings.into_iter().flatten().for_each(|warning| findings.push(warning));
    }
    let case = Case {
        path: path.to_owned(),
        title: title.map_or(Some(None), |t| t.map(Some))?,
        model: model?,
        ensemble: ensemble?,
        time: time?,
        method: method?,
        tolerance: tolerance?,
        run: run?,
        output: output?,
        inputs: inputs.into_paths(),
        source_spans,
        source: Arc::clone(source),
    };
    case.undrawn().into_iter().for_each(|warning| findings.push(warning));
    // Programs that hand a table over may ask for what a case holds before they know its spans.
    if !is_handed {
        case.idle_span().into_iter().for_each(|error| findings.push(error));
    }
    Some(case)
}

fn parse<'a>(source: &'a Arc<Source>, findings: &Findings) -> Option<toml::Spanned<DeTable<'a>>> {
    let text = source.text();
    let (document, errors) = if text.len() > LARGE {
        match DeTable::parse(text) {
            Ok(document) => (Some(document), Vec::new()),
            Err(error) => (None, vec![error]),
        }
    } else {
        let (document, errors) = DeTable::parse_recoverable(text);
        (Some(document), errors)
    };
    for error in &errors {
        let finding = Finding::error(format!("not TOML: {}", error.message()));
        let finding = match error.span() {
            Some(span) => finding.at(source, span),
            None => finding.in_file(source.name()),
        };
        let help = if error.message().contains("recur") {
            "a case file nests tables and lists a few levels deep at most"
        } else {
            "see https://toml.io for the syntax; text stands in quotes, lists in [ ]"
        };
        findings.push(finding.help(help));
    }
    document.filter(|_| errors.is_empty())
}
