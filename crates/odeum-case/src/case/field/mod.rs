//! Case files of fields: those with a `[grid]`.

mod arrays;
mod boundaries;
mod expression;
mod grid;
mod initial;
mod memory;
mod output;
mod shape;
mod surroundings;
mod system;
mod time;

pub use initial::Initial;
pub use memory::{COPIES, too_large};
pub use output::{Colours, Every, FieldOutput, Isosurface, Line, Series, Slice, Structure};
pub use time::FieldTime;

use super::given::Given;
use super::inputs::Inputs;
use super::reader::{Field, Section};
use super::source_spans::SourceSpans;
use super::{Precision, run};
use arrays::Files;
use odeum_fields::{Method, Problem, Quantity};
use odeum_io::Source;
use odeum_io::finding::Findings;
use odeum_ode::Device;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// A case file of a field that could be read.
pub struct FieldCase {
    /// The file.
    pub path: PathBuf,
    /// Its text.
    pub source: Arc<Source>,
    /// `title`.
    pub title: Option<String>,
    /// The equations in words.
    pub system: String,
    /// The equations, one for each line.
    pub lines: Vec<String>,
    /// Equations, grid, boundaries and surroundings.
    pub problem: Problem,
    /// `[initial]`.
    pub initial: Initial,
    /// `[time]`.
    pub time: FieldTime,
    /// `run.precision`.
    pub precision: Precision,
    /// `run.device`.
    pub device: Device,
    /// `run.threads`, of the CPU, which may take the place of the device.
    pub threads: Option<usize>,
    /// Memory needed at most, of a GPU its own aside \[bytes\].
    pub memory: u128,
    /// Steps between two checkpoints, beside those that are due by the clock.
    pub checkpoint_steps: Option<u64>,
    /// `[output]`.
    pub output: FieldOutput,
    /// The files and stores that it was read from, its own first.
    pub inputs: Vec<PathBuf>,
    /// Where in the file the values stand.
    pub source_spans: SourceSpans,
}

/// Reads a case; `None` after reporting what is wrong with it. Memory is judged by `device` where
/// there is one, else by that of the case. What a program has written may be open-ended, and names arrays
/// that the program gives.
pub(super) fn read(
    root: &Section<'_>,
    path: &Path,
    source: &Arc<Source>,
    (device, given): (Option<&Device>, Option<&Given>),
    findings: &Findings,
) -> Option<FieldCase> {
    let title = root.get("title").map(|field| field.text().map(str::to_owned));
    let mut source_spans = SourceSpans::default();
    let folder = path.parent().unwrap_or(Path::new(""));
    let inputs = Inputs::default();
    inputs.add(path);
    let given_arrays: &[_] = given.map_or(&[], |given| &given.arrays);
    let files = Files { folder, given: given_arrays, inputs: &inputs };
    let help = "add [system] with problem = \"turing\" (see `odeum problems`), or species, \
                parameters and equations";
    let system = root.need("system", help).and_then(|field| {
        source_spans.put("model", field.source_span());
        field.section()
    });
    let system = system.and_then(|section| system::read(&section, root, findings));
    let builtin = system.as_ref().and_then(|system| system.builtin);
    let names: Option<Vec<String>> = system.as_ref().map(|system| system.model.species().to_vec());
    let names = names.as_deref();
    let model = system.as_ref().map(|system| &system.model);
    let section = root.need("grid", "add [grid] with shape = [64, 64, 64]");
    let section = section.and_then(|field| field.section());
    let grid = section.as_ref().and_then(|s| grid::read(s, builtin, findings, &mut source_spans));
    let help = "add [time] with until = 100.0";
    let time = root.need("time", help).and_then(|field| field.section());
    let time = time.and_then(|section| {
        time::read(&section, (builtin, given.is_some()), names, &mut source_spans)
    });
    let run = match root.get("run") {
        Some(field) => field
            .section()
            .and_then(|section| run::read_field(&section, &mut source_spans, findings)),
        None => Some(run::FieldRun::default()),
    };
    let usual = Device::cpu();
    let device = device.or(run.as_ref().map(|run| &run.device)).unwrap_or(&usual);
    let memory = grid.as_ref().map_or(0, |cells| {
        // Where something is wrong the least is taken: the run is refused for that.
        let needs = memory::Needs {
            grid: &cells.grid,
            species: names.map_or(1, <[String]>::len),
            precision: run.as_ref().map_or(Precision::F32, |run| run.precision),
            method: time.as_ref().map_or(Method::Euler, |time| time.method),
            device,
            arrays: memory::Arrays::of(root),
        };
        needs.bytes()
    });
    // Of a grid that is too large nothing is read that has its size.
    let grid = grid.filter(|_| findings.ok(memory::check(memory, device, &source_spans)).is_some());
    let place = |error: odeum_ode::Error, source_spans: &SourceSpans| {
        findings.push(source_spans.place(error))
    };

    let cells = grid.as_ref().map(|cells| &cells.grid);
    let boundaries = optional(root, "boundary", |section| {
        boundaries::read(section, names, cells, &mut source_spans)
    });
    let context = surroundings::Context { grid: cells, model, names, mask: None, files, findings };
    let mask = section.and_then(|section| grid::mask(&section, model, context, &mut source_spans));
    let mask_of_cells = mask.as_ref().and_then(Option::as_ref);
    let context = surroundings::Context { mask: mask_of_cells, ..context };
    let velocity = optional(root, "velocity", |section| {
        surroundings::velocity(section, context, &mut source_spans)
    });
    let sources = match root.get("sources") {
        None => Some(None),
        Some(field) => surroundings::sources(&field, context, &mut source_spans).map(Some),
    };
    let diffusion = optional(root, "diffusion", |section| {
        surroundings::diffusion(section, context, &mut source_spans)
    });
    let initial = match (root.get("initial"), builtin) {
        (Some(field), _) => field
            .section()
            .and_then(|section| initial::read(&section, model, builtin, cells, files, findings)),
        (None, Some(builtin)) => {
            Some(Initial::of_builtin(builtin, names.map_or(0, <[String]>::len)))
        }
        (None, None) => {
            root.need("initial", "add [initial] with a value for each species: u = 1.0");
            None
        }
    };
    let output = match root.get("output") {
        Some(field) => {
            field.section().and_then(|section| output::read(&section, names, cells, time.as_ref()))
        }
        None => Some(FieldOutput::default()),
    };
    root.finish();
    let (system, grid::Cells { grid, stencil }) = (system?, grid?);
    let problem = match system.builtin {
        Some(builtin) => builtin.problem(grid.shape()),
        None => Ok(Problem::new(system.model.clone(), grid)),
    };
    let mut problem = problem.map_err(|error| place(error, &source_spans)).ok()?;
    (problem.model, problem.grid, problem.stencil) = (system.model, grid, stencil);
    problem.mask = mask?;
    if let Some(boundaries) = boundaries? {
        problem.boundaries = boundaries;
    }
    if let Some((velocity, advected, advection)) = velocity? {
        if let Some(velocity) = velocity {
            problem.velocity = Some(velocity);
        }
        if let (None, Some(field)) = (&problem.velocity, root.get("velocity")) {
            field.warn("there is no velocity", "give `uniform`, the same everywhere, or `cells`");
        }
        if let Some(advected) = advected {
            problem.advected = Some(advected);
        }
        if let Some(advection) = advection {
            problem.advection = advection;
        }
    }
    let mut lines = system.lines;
    for (source, line) in sources?.into_iter().flatten() {
        lines.push(line);
        source.add_to(&mut problem).map_err(|error| place(error, &source_spans)).ok()?;
    }
    if let Some(diffusion) = diffusion? {
        problem.diffusion = diffusion;
    }
    problem.check().map_err(|error| place(error, &source_spans)).ok()?;
    let (run, initial) = (run?, initial?);
    let section = root.get("initial").and_then(|field| field.section());
    if let Some(section) = section.filter(|_| !root.holds("time", "start"))
        && problem.depends_on_time()
    {
        initial::warn_of_times(&section, files);
    }
    Some(FieldCase {
        path: path.to_owned(),
        source: Arc::clone(source),
        title: title.map_or(Some(None), |t| t.map(Some))?,
        system: system.title,
        lines,
        problem,
        initial,
        time: time?,
        precision: run.precision,
        device: run.device,
        threads: run.threads,
        memory,
        checkpoint_steps: run.checkpoint_steps,
        output: output?,
        inputs: inputs.into_paths(),
        source_spans,
    })
}

/// A section that may be missing: `Some(None)` where it is, `None` where it is wrong.
fn optional<'a, T>(
    root: &Section<'a>,
    key: &'static str,
    read: impl FnOnce(&Section<'a>) -> Option<T>,
) -> Option<Option<T>> {
    match root.get(key) {
        None => Some(None),
        Some(field) => field.section().and_then(|section| read(&section)).map(Some),
    }
}

/// A number, or an expression of the time and the parameters.
fn quantity(field: &Field<'_>) -> Option<Quantity> {
    if field.is_text() {
        return field.text().map(Quantity::from);
    }
    field.number().map(Quantity::from)
}

/// Three values along x, y and z.
fn three<T>(field: &Field<'_>, read: impl Fn(&Field<'_>) -> Option<T>) -> Option<[T; 3]> {
    let items = field.list()?;
    // Every element is read before giving up, so that every slip is reported.
    let values: Vec<Option<T>> = items.iter().map(read).collect();
    let count = values.len();
    let values: Option<Vec<T>> = values.into_iter().collect();
    match <[T; 3]>::try_from(values?) {
        Ok(values) => Some(values),
        Err(_) => field.refuse(
            format!("`{}` has {count} entries", field.name),
            "give three: along x, y and z",
        ),
    }
}

/// The name of a species that exists.
fn species(field: &Field<'_>, names: Option<&[String]>) -> Option<usize> {
    let name = field.text()?;
    known(name, names, |message, help| field.refuse(message, help))
}

/// The number of a species; `refuse` is told when there is none of the name.
fn known(
    name: &str,
    names: Option<&[String]>,
    refuse: impl FnOnce(String, &str) -> Option<usize>,
) -> Option<usize> {
    let names = names?;
    match names.iter().position(|other| other == name) {
        Some(at) => Some(at),
        None => {
            let help = crate::suggest::remedy(name, "species", names.iter().map(String::as_str));
            refuse(format!("there is no species `{name}`"), &help)
        }
    }
}
