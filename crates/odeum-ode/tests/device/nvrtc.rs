//! Device code through the run-time compiler, with no GPU: shared by the crates with kernels.

use odeum_cuda::{Resources, check};
use odeum_ode::Error;

/// True when there is no compiler, which is then said; where there must be one
/// (`ODEUM_NEED_NVRTC`) that is a failure.
pub(crate) fn skipped(error: &Error) -> bool {
    let absent = matches!(error, Error::Device { .. });
    if absent {
        assert!(std::env::var_os("ODEUM_NEED_NVRTC").is_none(), "{error}");
        eprintln!("SKIPPED: {error}");
    }
    absent
}

/// A case, a kernel and its text to what machine code for an H200 takes; `None` without a compiler.
pub(crate) type Check = fn(&str, &str, &str) -> Option<Resources>;

/// What a kernel of machine code for an H200 takes; `None` without a compiler.
pub(crate) fn resources(case: &str, kernel: &str, source: &str) -> Option<Resources> {
    resources_on(H200, case, kernel, source)
}

/// The same for another architecture.
pub(crate) fn resources_on(
    arch: &str,
    case: &str,
    kernel: &str,
    source: &str,
) -> Option<Resources> {
    checked(arch, case, kernel, source).map(|(resources, _)| resources)
}

/// The same for an H200, of a text of single precision, which must contain no double arithmetic.
pub(crate) fn single(case: &str, kernel: &str, source: &str) -> Option<Resources> {
    let (resources, assembly) = checked(H200, case, kernel, source)?;
    let doubles: Vec<_> = assembly.lines().filter(|l| l.contains(".f64")).take(5).collect();
    assert!(doubles.is_empty(), "{case}, {kernel}: {doubles:#?}");
    Some(resources)
}

const H200: &str = "sm_90a";

fn checked(arch: &str, case: &str, kernel: &str, source: &str) -> Option<(Resources, String)> {
    match check(kernel, source, arch) {
        Ok(found) => Some(found),
        Err(error) if skipped(&error) => None,
        Err(error) => panic!("{case}, {arch}: {error}"),
    }
}

/// Registers by which two compilations of the same text may differ: the compiler allocates a kernel two more
/// or less in one run of a dozen, whatever the text.
const SPREAD: u32 = 2;

/// The report must be that of the snapshot, which `ODEUM_BLESS=1` writes anew; `None` without a
/// compiler. Of a report's last three columns (registers, stack, spilled bytes) the first may differ by
/// [`SPREAD`]; all else, occupancy with it, must be the same.
pub(crate) fn assert_is_snapshot(report: impl Fn() -> Option<String>, path: &str) {
    let Some(found) = report() else { return };
    let bless = std::env::var_os("ODEUM_BLESS").is_some();
    let kept = std::fs::read_to_string(path).unwrap_or_default();
    if are_alike(&found, &kept) {
        return;
    }
    if bless {
        return std::fs::write(path, &found).unwrap();
    }
    assert_eq!(found, kept, "the compiler's report has changed; ODEUM_BLESS=1 keeps the new one");
}

fn are_alike(found: &str, kept: &str) -> bool {
    let (found, kept) = (found.lines(), kept.lines());
    found.clone().count() == kept.clone().count()
        && found.zip(kept).all(|(a, b)| a == b || near(a, b))
}

/// True of two lines that differ in a few registers alone.
fn near(a: &str, b: &str) -> bool {
    let parts = |line: &str| {
        let mut words: Vec<String> = line.split_whitespace().map(str::to_owned).collect();
        let registers: u32 = words.remove(words.len().checked_sub(3)?).parse().ok()?;
        Some((words, registers))
    };
    match (parts(a), parts(b)) {
        (Some((a, found)), Some((b, kept))) => a == b && found.abs_diff(kept) <= SPREAD,
        _ => false,
    }
}

#[test]
fn only_a_few_registers_may_differ() {
    let line = |numbers: &str| format!("head regs stack spilled\na kernel, f64 {numbers}\n");
    let kept = line("64 4 238 0 16");
    assert!(are_alike(&line("64 4 236 0 16"), &kept) && are_alike(&line("64  4  240 0 16"), &kept));
    for other in ["64 4 241 0 16", "64 3 238 0 16", "64 4 238 8 16", "64 4 238 0 24", "64 4"] {
        assert!(!are_alike(&line(other), &kept), "{other}");
    }
    assert!(!are_alike("", &kept) && !are_alike(&format!("{kept}one more 1 2 3\n"), &kept));
}
