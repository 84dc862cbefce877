//! Who may import whom. Imports only point down; a folder's name says what lives there.

use crate::source::{code_only, paths_from, without_tests};
use std::fs;
use std::path::{Path, PathBuf};

/// What each crate may import of ours, in Rust's spelling.
const CRATES: [(&str, &[&str]); 10] = [
    ("odeum-core", &[]),
    ("odeum-cuda", &["odeum_core"]),
    ("odeum-kinetics", &["odeum_core"]),
    ("odeum-ode", &["odeum_core", "odeum_cuda", "odeum_kinetics"]),
    ("odeum-fields", &["odeum_core", "odeum_cuda", "odeum_ode"]),
    ("odeum-io", &["odeum_core", "odeum_fields", "odeum_ode"]),
    ("odeum-case", &["odeum_core", "odeum_fields", "odeum_io", "odeum_kinetics", "odeum_ode"]),
    ("odeum", &["odeum_core", "odeum_fields", "odeum_kinetics", "odeum_ode"]),
    (
        "odeum-cli",
        &[
            "odeum_case",
            "odeum_core",
            "odeum_cuda",
            "odeum_fields",
            "odeum_io",
            "odeum_kinetics",
            "odeum_ode",
        ],
    ),
    (
        "odeum-python",
        &[
            "odeum_case",
            "odeum_cli",
            "odeum_core",
            "odeum_fields",
            "odeum_io",
            "odeum_kinetics",
            "odeum_ode",
        ],
    ),
];

/// Modules of every crate from the ground up; a module imports from its own level and below. In
/// `odeum-ode`, say, `method` stands under `cpu`, so it can never import it. The root of a crate
/// stands above all of them: it only passes names on, or is the program.
const LEVELS: [(&str, &[&[&str]]); 10] = [
    (
        "odeum-core",
        &[
            &[
                "argument",
                "line_ends",
                "lock",
                "memory",
                "number",
                "pattern",
                "random",
                "range",
                "real",
                "spelling",
                "threads",
            ],
            &["error", "recycled"],
            &["graph", "lanes", "system"],
            &["emit", "symbol", "tape"],
            &["derive", "record", "text"],
        ],
    ),
    (
        "odeum-cuda",
        &[
            &["cubin", "library", "management", "memory", "tensor_map", "text"],
            &["cache"],
            // A device has streams, and a stream says whose it is.
            &["compile", "device", "stream"],
            // The two implementations of a device.
            &["driver", "host"],
        ],
    ),
    (
        "odeum-kinetics",
        &[
            &["constants", "error", "gather", "mechanism", "scratch"],
            &["check", "thermo"],
            &["rate", "read"],
            &["kinetics"],
            &["properties", "reactor"],
            &["device", "equilibrium", "recorded"],
            &["pasr"],
        ],
    ),
    (
        "odeum-ode",
        &[
            &[
                "monitor",
                "status",
                "stats",
                "tolerance",
                "arrays",
                "ensemble",
                "lent",
                "options",
                "solution",
                "slopes",
            ],
            &["controller", "linalg", "problems", "series"],
            &["method"],
            &["cpu", "gpu"],
            &["device"],
            &["dynamic"],
            &["solve"],
            &["session"],
        ],
    ),
    (
        "odeum-fields",
        &[
            &["problem"],
            &["field"],
            &["tiling"],
            // A problem ready for sweeps, and the built-in ones.
            &["plan", "problems"],
            // Sweeps in memory, and what sums fields up; both know what a backend is.
            &["analysis", "backend", "cpu"],
            &["time"],
            &["gpu"],
            &["simulation"],
        ],
    ),
    (
        "odeum-io",
        &[
            &["chart", "literal", "npy", "number", "parallel", "source"],
            &["cells", "finding"],
            &["file", "vti"],
            &["checkpoint", "npz", "table", "target", "zarr"],
            &["former"],
            &["ensemble", "field"],
        ],
    ),
    (
        "odeum-case",
        &[
            &["available", "device", "gas", "mechanism", "random", "suggest"],
            &["model"],
            &["case"],
            &["levels", "members", "steps"],
            &["switches"],
            &["starts"],
            &["plan"],
            &["field_ending", "field_npz", "field_plan", "results", "stiffness"],
        ],
    ),
    ("odeum", &[&["error"]]),
    (
        "odeum-cli",
        &[
            &["args", "exit"],
            &["report"],
            &["gpus", "mechanism", "problems", "stop"],
            &["job"],
            &["fields", "pasr"],
            &["bench", "check", "run"],
            &["devices"],
        ],
    ),
    (
        "odeum-python",
        &[
            &["array", "buffer", "dlpack", "failure", "ours", "properties", "watch", "worker"],
            &["loan", "mechanism", "running", "solution"],
            &["given", "gpu_array"],
            &["on_gpu", "session", "solution_on_gpu"],
            &["case", "document", "integrator", "pasr", "simulation"],
        ],
    ),
];

/// The only folder that may name the crate behind CUDA.
const CUDA: (&str, &str) = ("cudarc", "crates/odeum-cuda");

/// Longest file of code; tables of numbers may be longer.
const LONGEST: usize = 800;
const TABLES: [&str; 2] = ["tables.rs", "references.rs"];

/// What was read and what was found wrong.
#[derive(Default)]
pub(crate) struct Report {
    pub(crate) files: usize,
    pub(crate) imports: usize,
    pub(crate) findings: Vec<String>,
}

/// Reads every Rust file under `crates/`.
pub(crate) fn check(root: &Path) -> Result<Report, String> {
    let mut report = Report::default();
    for (name, allowed) in CRATES {
        let folder = root.join("crates").join(name).join("src");
        // Not every crate of the plan is there yet.
        if !folder.is_dir() {
            continue;
        }
        for file in rust_files(&folder)? {
            let text = fs::read_to_string(&file).map_err(|e| format!("{}: {e}", file.display()))?;
            let shown = file.strip_prefix(root).unwrap_or(&file).display().to_string();
            let inner = file.strip_prefix(&folder).unwrap_or(&file).to_path_buf();
            report.files += 1;
            check_file(name, allowed, &shown, &inner, &text, &mut report);
        }
    }
    if report.files == 0 {
        return Err(format!("no Rust files under {}", root.join("crates").display()));
    }
    Ok(report)
}

fn check_file(
    krate: &str,
    allowed: &[&str],
    shown: &str,
    inner: &Path,
    text: &str,
    report: &mut Report,
) {
    let code = code_only(text);
    let code = without_tests(&code);
    let lines = text.lines().count();
    if lines > LONGEST && !TABLES.iter().any(|table| shown.ends_with(table)) {
        report.findings.push(format!("{shown}: {lines} lines; split what is above {LONGEST}"));
    }
    for (other, _) in CRATES {
        let other = other.replace('-', "_");
        let count = paths_from(code, &other).len();
        report.imports += count;
        if count > 0 && other != krate.replace('-', "_") && !allowed.contains(&other.as_str()) {
            report.findings.push(format!("{shown}: {krate} must not import {other}"));
        }
    }
    if !shown.starts_with(CUDA.1) && !paths_from(code, CUDA.0).is_empty() {
        report.findings.push(format!("{shown}: only {} names {}", CUDA.1, CUDA.0));
    }
    if let Some((_, levels)) = LEVELS.iter().find(|(name, _)| *name == krate) {
        check_levels(levels, shown, &module_of(inner), code, report);
    }
}

/// Compares the level of a module of a crate with those of its imports.
fn check_levels(
    levels: &[&[&str]],
    shown: &str,
    module: &[String],
    code: &str,
    report: &mut Report,
) {
    let level_of = |name: &str| levels.iter().position(|level| level.contains(&name));
    let Some(here) = module.first().map_or(Some(levels.len()), |top| level_of(top)) else {
        let top = module.first().map_or("", String::as_str);
        report.findings.push(format!("{shown}: give the module `{top}` a level in xtask"));
        return;
    };
    let mut imported: Vec<String> =
        paths_from(code, "crate").into_iter().filter_map(|path| path.into_iter().next()).collect();
    // `super` leaves a top-level module only where the file lies right under the root.
    if module.len() == 1 {
        let from_super = paths_from(code, "super").into_iter();
        let from_super = from_super.filter_map(|path| path.into_iter().next());
        // Other names are of the file itself, in a module within it.
        imported.extend(from_super.filter(|name| level_of(name).is_some()));
    }
    report.imports += imported.len();
    imported.sort();
    imported.dedup();
    for name in imported {
        match level_of(&name) {
            Some(there) if there > here => {
                report.findings.push(format!("{shown}: imports `{name}`, which stands above it"));
            }
            // Names passed on by the root hide where they come from.
            None if !module.is_empty() && name != "core" => report
                .findings
                .push(format!("{shown}: imports `crate::{name}`; name the module it lives in")),
            _ => {}
        }
    }
}

/// The module path of a file below `src`: `method/erk/mod.rs` is `[method, erk]`.
fn module_of(inner: &Path) -> Vec<String> {
    let parts = inner.with_extension("");
    let parts = parts.iter().map(|part| part.to_string_lossy().into_owned());
    parts.filter(|part| !["mod", "lib", "main"].contains(&&**part)).collect()
}

fn rust_files(folder: &Path) -> Result<Vec<PathBuf>, String> {
    let mut files = Vec::new();
    let mut folders = vec![folder.to_path_buf()];
    while let Some(folder) = folders.pop() {
        let entries = fs::read_dir(&folder).map_err(|e| format!("{}: {e}", folder.display()))?;
        for path in entries.filter_map(Result::ok).map(|entry| entry.path()) {
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|extension| extension == "rs") {
                files.push(path);
            }
        }
    }
    files.sort();
    Ok(files)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn findings(krate: &str, file: &str, text: &str) -> Vec<String> {
        let mut report = Report::default();
        let allowed = CRATES.iter().find(|(name, _)| *name == krate).map_or(&[][..], |c| c.1);
        let shown = format!("crates/{krate}/src/{file}");
        check_file(krate, allowed, &shown, Path::new(file), text, &mut report);
        report.findings
    }

    #[test]
    fn downward_imports_pass() {
        let text = "use crate::controller::Controller;\nuse crate::{status::Status, stats};\n";
        assert!(findings("odeum-ode", "method/rkc/mod.rs", text).is_empty());
        assert!(findings("odeum-ode", "solve.rs", "use crate::device::Device;").is_empty());
        assert!(findings("odeum-cli", "main.rs", "use odeum_ode::solve;").is_empty());
    }

    #[test]
    fn upward_edges_are_found() {
        for (krate, file, text) in [
            ("odeum-ode", "method/mod.rs", "use crate::device::Device;"),
            ("odeum-ode", "stats.rs", "use super::controller::Law;"),
            ("odeum-ode", "stats.rs", "use crate::Status;"),
            ("odeum-ode", "nowhere.rs", ""),
            ("odeum-ode", "gpu/mod.rs", "use cudarc::driver;"),
            ("odeum-core", "real.rs", "fn f() { odeum_ode::solve(); }"),
            ("odeum-fields", "lib.rs", "use odeum_kinetics::Reactor;"),
            ("odeum-fields", "grid.rs", "use crate::simulation::Simulation;"),
            ("odeum-io", "lib.rs", "use odeum_case::Case;"),
            ("odeum-case", "model.rs", "use crate::case::Case;"),
            ("odeum-cli", "report/mod.rs", "use crate::run::command;"),
        ] {
            assert_eq!(findings(krate, file, text).len(), 1, "{file}: {text}");
        }
        assert!(findings("odeum-cuda", "driver/gpu.rs", "use cudarc::driver;").is_empty());
    }

    #[test]
    fn comments_and_tests_are_free() {
        let text =
            "//! See [crate::solve].\n#[cfg(test)]\nmod tests {\n use crate::solve::solve;\n}";
        assert!(findings("odeum-ode", "stats.rs", text).is_empty());
    }

    #[test]
    fn this_repository_passes() {
        let report = check(&crate::steps::root()).expect("a readable tree");
        assert_eq!(report.findings, Vec::<String>::new());
        assert!(report.files > 20 && report.imports > 20);
    }
}
