//! Device code through the run-time compiler, with no GPU: shared by the crates with kernels.

use odeum_cuda::{Resources, assembly, check};
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

/// What a kernel of machine code for an H200 takes; `None` without a compiler.
pub(crate) fn resources(case: &str, kernel: &str, source: &str) -> Option<Resources> {
    resources_on("sm_90a", case, kernel, source)
}

/// The same for another architecture.
pub(crate) fn resources_on(
    arch: &str,
    case: &str,
    kernel: &str,
    source: &str,
) -> Option<Resources> {
    match check(kernel, source, arch) {
        Ok((resources, _)) => Some(resources),
        Err(error) if skipped(&error) => None,
        Err(error) => panic!("{case}, {arch}: {error}"),
    }
}

/// The report must be that of the snapshot, which `ODEUM_BLESS=1` writes anew; `None` without a
/// compiler. In one run of a dozen the compiler gives a kernel two registers more or less: what is
/// reported three times has changed.
pub(crate) fn assert_is_snapshot(report: impl Fn() -> Option<String>, path: &str) {
    let Some(mut found) = report() else { return };
    if std::env::var_os("ODEUM_BLESS").is_some() {
        std::fs::write(path, &found).unwrap();
    }
    let kept = std::fs::read_to_string(path).unwrap_or_default();
    for _ in 0..2 {
        if found != kept {
            found = report().unwrap();
        }
    }
    assert_eq!(found, kept, "the compiler's report has changed; ODEUM_BLESS=1 keeps the new one");
}

/// A kernel of single precision must contain no double arithmetic; false without a compiler.
pub(crate) fn assert_no_doubles(case: &str, kernel: &str, source: &str) -> bool {
    match assembly(kernel, source) {
        Ok(text) => {
            let doubles: Vec<_> = text.lines().filter(|l| l.contains(".f64")).take(5).collect();
            assert!(doubles.is_empty(), "{case}, {kernel}: {doubles:#?}");
            true
        }
        Err(error) if skipped(&error) => false,
        Err(error) => panic!("{case}: {error}"),
    }
}
