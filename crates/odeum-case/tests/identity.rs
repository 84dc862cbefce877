//! What a checkpoint says of its run: another ensemble, method or span is another identity, so that no results are mixed.

#![allow(clippy::unwrap_used)]

use odeum_case::{Described, Overrides, Plan, read};
use odeum_io::Findings;
use std::path::Path;

const CASE: &str = r#"
[system]
states = { x = 1.0, v = 0.5 }
parameters = { k = 2.0, c = 0.1 }
equations = { x = "v", v = "-k*x - c*v" }
[ensemble]
count = 3
seed = 3
table = "table.csv"
perturb = { of = ["x"], relative = 1e-3 }
[ensemble.sweep]
k = [1.0, 2.0]
c = [0.1, 0.2]
[time]
save = [0.25, 0.5]
until = { x = { falls_to = 0.1 } }
[method]
name = "dopri5"
[tolerance]
rtol = 1e-5
atol = 1e-8
"#;

const TABLE: &str = "v,t_start,t_end\n0.5,0.0,1.0\n0.6,0.1,1.0\n";

/// The parts of the identity, as (name, value).
fn identity(folder: &Path, case: &str, table: &str) -> Vec<(&'static str, String)> {
    let path = folder.join("case.toml");
    std::fs::write(&path, case).unwrap();
    std::fs::write(folder.join("table.csv"), table).unwrap();
    let findings = Findings::default();
    let Some(Described::Ensemble(case)) = read(&path, None, &findings) else {
        panic!("{case}: {:?}", findings.take())
    };
    let Some(plan) = Plan::new(&case, &Overrides::default(), &findings) else {
        panic!("{:?}", findings.take())
    };
    plan.identity()
}

#[test]
fn another_run_has_another_identity() {
    let folder = std::env::temp_dir().join(format!("odeum-identity-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let own = identity(&folder, CASE, TABLE);
    let differ = |case: &str, table: &str| -> Vec<&str> {
        let other = identity(&folder, case, table);
        let pairs = own.iter().zip(&other).filter(|(own, other)| own != other);
        pairs.map(|(own, _)| own.0).collect()
    };
    for (from, to, what) in [
        ("-k*x", "-k*x^3", "system"),
        ("count = 3", "count = 4", "ensemble"),
        ("seed = 3", "seed = 4", "ensemble"),
        ("relative = 1e-3", "relative = 2e-3", "ensemble"),
        ("relative = 1e-3", "absolute = 1e-3", "ensemble"),
        ("relative = 1e-3", "relative = 1e-3, distribution = \"normal\"", "ensemble"),
        ("of = [\"x\"]", "of = [\"v\"]", "ensemble"),
        ("c = [0.1, 0.2]", "c = [0.1, 0.3]", "ensemble"),
        // The same values, but of other systems.
        ("k = [1.0, 2.0]\nc = [0.1, 0.2]", "c = [0.1, 0.2]\nk = [1.0, 2.0]", "ensemble"),
        ("rtol = 1e-5", "rtol = 1e-4", "options"),
        ("save = [0.25, 0.5]", "save = [0.25, 0.6]", "options"),
        ("falls_to = 0.1", "falls_to = 0.2", "until"),
        ("falls_to = 0.1", "falls_by = 0.1", "until"),
        ("dopri5", "tsit5", "method"),
        ("[time]", "[run]\nprecision = \"f32\"\n[time]", "precision"),
    ] {
        assert!(CASE.contains(from), "{from}");
        let found = differ(&CASE.replace(from, to), TABLE);
        assert!(found.contains(&what), "{to}: {found:?} and not {what}");
    }
    assert!(differ(CASE, &TABLE.replace("0.6,", "0.7,")).contains(&"ensemble"));
    for (from, to) in [("0.1,1.0", "0.2,1.0"), ("0.1,1.0", "0.1,0.9")] {
        let found = differ(CASE, &TABLE.replace(from, to));
        assert!(found.contains(&"time span"), "{to}: {found:?}");
    }
    // Comments and batches change no result.
    let batches = CASE.replace("[time]", "[run]\nbatch = 2 # small\n[time]");
    assert!(differ(&batches, TABLE).is_empty());
    std::fs::remove_dir_all(folder).unwrap();
}
