//! Steps of fields that are stable, that cease to be, and values that cease to be numbers.

use crate::common::{Folder, npz};

/// What eats `a` until nothing is left: the limit of the steps falls to a fifth on the way.
const AUTOCATALYSIS: &str = r#"
[system]
species = ["a", "b"]
equations = { a = "lap(a) - 2*a*b", b = "lap(b) + 2*a*b" }
[grid]
shape = [40, 1, 1]
spacing = 1.0
[initial]
a = 10.0
b = 0.5
[time]
until = 4.0
"#;

const WAVES: &str = r#"
[system]
species = ["u", "v"]
equations = { u = "v", v = "lap(u)" }
[grid]
shape = [40, 1, 1]
spacing = 1.0
[initial]
u = "exp(-(x - 20)^2)"
v = 0.0
[time]
until = 5.0
"#;

#[test]
fn stable_steps_follow_the_field() {
    let folder = Folder::new();
    folder.write("a.toml", AUTOCATALYSIS).odeum(&["run", "a.toml"]).well();
    let end = npz::read(&folder.path("a.npz"));
    let values = |name: &str| end[name].f64();
    assert!(values("a").iter().all(|a| a.abs() < 1e-3));
    assert!(values("b").iter().all(|b| (b - 10.5).abs() < 1e-3));
}

#[test]
fn given_steps_that_are_not_stable_any_more_are_an_error() {
    let folder = Folder::new();
    let case = format!("{AUTOCATALYSIS}step = 0.09\n");
    let parts = ["not stable any more at t = ", "stable up to", "step = \"stable\""];
    folder.write("a.toml", &case).odeum(&["run", "a.toml"]).failed(&parts);
    assert!(!folder.has("a.npz"));
}

/// Given steps of w by this equation, in which u is the time.
fn of_windows(equation: &str) -> String {
    format!(
        r#"
[system]
species = ["u", "w"]
equations = {{ u = "1", w = "{equation}" }}
[grid]
shape = [32, 1, 1]
spacing = 1.0
[initial]
u = 0.0
w = "0.5 + 0.3*cos(0.3*x)"
[time]
until = 1.5
method = "euler"
step = 0.001
"#
    )
}

/// A window between two judgements, and checkpoints in it: the run that went on from one ended with w = -3e7, with success.
#[test]
fn a_run_that_was_not_stable_is_not_either_when_it_goes_on() {
    let folder = Folder::new();
    let equation = "0.1*lap(w) + 1e4*select(u > 0.5, select(u < 0.508, 1, 0), 0)*(1 - w)";
    let case = &(of_windows(equation) + "[run]\ncheckpoint_steps = 1\n");
    let parts = [
        "not stable on the way",
        "found: values that the equations do not explain\n",
        "steps are stable up to",
        "tolerance = { rtol",
        "a.checkpoint is kept",
    ];
    folder.write("a.toml", case).odeum(&["run", "a.toml"]).failed(&parts);
    for _ in 0..2 {
        folder.odeum(&["run", "a.toml", "--resume"]).failed(&parts);
        assert!(!folder.has("a.npz"));
    }
}

/// Two windows, each of which makes less of w than what is told, and an end between them: the run that went on from its result ended
/// with w = 4e4, with success.
#[test]
fn a_result_knows_how_much_of_it_is_explained() {
    let folder = Folder::new();
    let windows = "(select(u > 0.5005, select(u < 0.5025, 1, 0), 0) + select(u > 0.5135, select(u < 0.5165, 1, 0), 0))";
    let case = &of_windows(&format!("1e-3*lap(w) + 1e4*{windows}*(1 - w)"));
    let parts = ["not stable on the way"];
    folder.write("a.toml", case).odeum(&["run", "a.toml"]).failed(&parts);
    folder.write("a.toml", case.replace("until = 1.5", "until = 0.506"));
    folder.odeum(&["run", "a.toml"]).well();
    folder.write("a.toml", case).odeum(&["run", "a.toml", "--resume"]).failed(&parts);
}

/// What `max_steps` ends was said to be right; the advice was of diffusion.
#[test]
fn steps_that_do_not_reach_the_end_are_told() {
    let folder = Folder::new();
    let case = format!("{WAVES}method = \"ssprk3\"\nstep = 0.1\nmax_steps = 49\n");
    let parts = ["warning: steps of this size do not reach the end within 49", "to 50 or more"];
    let said = folder.write("a.toml", &case).odeum(&["check", "a.toml"]).well();
    assert!(parts.iter().all(|part| said.err.contains(part)), "{}", said.err);
    folder.odeum(&["run", "a.toml"]).failed(&["too many steps", "or take larger steps"]);
    // States cut steps: 34 pieces of 0.15 of two steps each, the last but of one.
    for (every, enough) in [("", 50), ("[output]\nevery = 0.15\nformats = [\"vti\"]\n", 67)] {
        let case = case.replace("49", &enough.to_string()) + every;
        let said = folder.write("b.toml", &case).odeum(&["run", "b.toml", "--overwrite"]).well();
        assert!(said.err.is_empty(), "{}", said.err);
        let case = case.replace(&enough.to_string(), &(enough - 1).to_string());
        let said = folder.write("b.toml", &case).odeum(&["run", "b.toml", "--overwrite"]);
        said.failed(&[&format!("to {enough} or more"), "too many steps"]);
    }
    // Of a piece that rounding leaves there is no step.
    let case = case.replace("step = 0.1", "step = 0.05")
        + "[output]\nevery = 4.9999999999\nformats = [\"vti\"]\n";
    let said = folder.write("b.toml", &case).odeum(&["check", "b.toml"]).well();
    assert!(said.err.contains("to 100 or more"), "{}", said.err);
    let case = format!("{WAVES}method = \"ssprk3\"\nmax_steps = 3\n");
    let said = folder.write("c.toml", &case).odeum(&["check", "c.toml"]).well();
    assert!(said.out.contains("of them, of which `max_steps`"), "{}", said.out);
}

#[test]
fn waves_that_never_fade_have_a_method() {
    let folder = Folder::new();
    let case = format!("{WAVES}step = 0.1\n");
    let said = folder.write("a.toml", &case).odeum(&["run", "a.toml"]);
    said.refused(&["ssprk3 takes"]);
    let case = format!("{WAVES}method = \"ssprk3\"\n");
    folder.write("b.toml", &case).odeum(&["run", "b.toml"]).well();
    let largest = npz::read(&folder.path("b.npz"))["u"].f64().into_iter().fold(0.0, f64::max);
    assert!((0.4..0.6).contains(&largest), "{largest}");
}

/// A species that nothing is coupled to made steps of waves a hundred times longer, and the wave half as large again, without a word.
#[test]
fn species_that_are_not_coupled_are_judged_apart() {
    let folder = Folder::new();
    let of = |case: &str| folder.write("a.toml", case).odeum(&["check", "a.toml"]).well();
    let limit = |case: &str| {
        let said = of(case).out;
        said.lines().find(|line| line.contains("stable up to")).unwrap().to_owned()
    };
    let beside = WAVES
        .replace("[\"u\", \"v\"]", "[\"u\", \"v\", \"w\"]")
        .replace("lap(u)\" }", "lap(u)\", w = \"w\" }")
        .replace("v = 0.0", "v = 0.0\nw = 1e-9");
    assert!(beside.contains("w = \"w\"") && beside.contains("w = 1e-9"), "{beside}");
    assert_eq!(limit(WAVES), limit(&beside));
    assert!(of(WAVES).err.is_empty());
}

/// Where oscillations are let grow as fast as others do, `check` and `run` say so.
#[test]
fn steps_that_let_oscillations_grow_are_told() {
    let folder = Folder::new();
    let case = r#"
[system]
species = ["u", "v"]
equations = { u = "lap(u) + u - u^3/3 - v + 0.325", v = "0.08*(u + 0.7 - 0.8*v)" }
[grid]
shape = [60, 1, 1]
spacing = 1.0
[initial]
u = "-0.9723 + 0.2*exp(-(x - 50)^2/20)"
v = -0.3404
[time]
until = 600.0
method = "euler"
"#;
    folder.write("a.toml", case);
    for command in ["check", "run"] {
        let said = folder.odeum(&[command, "a.toml"]).well();
        let parts = ["warning: weakly damped waves may grow", "ssprk3 takes steps to"];
        assert!(parts.iter().all(|part| said.err.contains(part)), "{}", said.err);
    }
    for other in ["method = \"ssprk3\"\n", ""] {
        folder.write("b.toml", case.replace("method = \"euler\"\n", other));
        assert!(folder.odeum(&["check", "b.toml"]).well().err.is_empty(), "{other}");
    }
    // In wind too. What turns by the wind alone is told nothing of: forward Euler makes up for what upwinding damps.
    let wind = "[velocity]\nuniform = [0.5, 0.0, 0.0]\n";
    folder.write("c.toml", format!("{case}{wind}"));
    assert!(folder.odeum(&["check", "c.toml"]).well().err.contains("weakly damped waves may grow"));
    folder.write(
        "d.toml",
        format!(
            "[system]\nspecies = [\"u\"]\nequations = {{ u = \"0.1*lap(u) + u*(1 - u)\" }}\n[grid]\n\
             shape = [64, 1, 1]\nspacing = 0.5\n{wind}[initial]\nu = \"exp(-(x - 5)^2)\"\n[time]\nuntil = 8.0\nmethod = \"euler\"\n"
        ),
    );
    assert!(folder.odeum(&["check", "d.toml"]).well().err.is_empty());
}

/// The table ends with the last sound state, and the error names the cell of the source.
#[test]
fn a_source_that_spoils_the_last_step_is_an_error() {
    let folder = Folder::new();
    let case = r#"
[system]
species = ["c"]
equations = { c = "lap(c)" }
[grid]
shape = [9, 7, 1]
spacing = 1.0
[initial]
c = 1.0
[[sources]]
species = "c"
cell = [4, 3, 0]
rate = "sqrt(0.45 - t)"
[time]
until = 0.6
step = 0.1
[output]
series = { every = 1 }
"#;
    let said = folder.write("a.toml", case).odeum(&["run", "a.toml"]);
    said.failed(&["first in cell [4, 3, 0]"]);
    let table = String::from_utf8(folder.read("a.csv")).unwrap();
    assert!(!table.to_lowercase().contains("nan") && table.lines().count() == 7, "{table}");
    let case = case.replace("until = 0.6", "until = 0.6\nmax_steps = 3");
    let said = folder.write("b.toml", &case).odeum(&["run", "b.toml"]);
    assert!(!said.failed(&["max_steps"]).err.contains("rodas"));
}

/// No step was stable, nothing limited the step, or values were infinite, as powers of the spacing were.
#[test]
fn spacings_have_a_range() {
    let folder = Folder::new();
    for (precision, spacing, range) in [
        ("f64", 1e-160, "1e-70 to 1e70"),
        ("f64", 1e-120, "1e-70 to 1e70"),
        ("f64", 1e120, "1e-70 to 1e70"),
        ("f64", 1e-69, ""),
        ("f64", 1e69, ""),
        ("f32", 1e-20, "1e-18 to 1e18"),
        ("f32", 1e30, "1e-18 to 1e18"),
        ("f32", 2e-18, ""),
        ("f32", 9e17, ""),
    ] {
        let until = f64::min(10.0 * spacing * spacing, 1e300);
        let case = format!(
            "[system]\nspecies = [\"u\"]\nequations = {{ u = \"lap(u)\" }}\n[grid]\nshape = [8, 8, 8]\n\
             spacing = {spacing:e}\n[initial]\nu = {{ value = 1.0, noise = 0.5 }}\n[time]\nuntil = {until:e}\n\
             step = \"stable\"\n[run]\nprecision = \"{precision}\"\n"
        );
        let said = folder.write("a.toml", case).odeum(&["run", "a.toml", "--overwrite"]);
        if range.is_empty() {
            let said = said.well();
            assert!(said.err.is_empty(), "{spacing}: {}", said.err);
        } else {
            said.refused(&["grid.spacing", range, &format!("spacing = {spacing:e}")]);
        }
    }
}

/// Steps that reactions limit, not diffusion, were as long as they are stable: of A → B −0.29 was left for 0.135, with success.
#[test]
fn steps_follow_reactions() {
    let folder = Folder::new();
    let case = r#"
[system]
species = ["a", "b"]
equations = { a = "0.01*lap(a) - a", b = "0.01*lap(b) + a" }
[grid]
shape = [8, 1, 1]
spacing = 1.0
[initial]
a = 1.0
b = 0.0
[time]
until = 2.0
"#;
    let left = |time: &str| {
        folder.write("a.toml", format!("{case}{time}"));
        let said = folder.odeum(&["run", "a.toml", "--overwrite"]).well();
        let end = npz::read(&folder.path("a.npz"));
        (end["a"].f64()[0] / (-2.0_f64).exp() - 1.0, said)
    };
    for (time, most) in [
        ("", 1e-2),
        ("step = \"stable\"\nmethod = \"euler\"\n", 0.2),
        ("step = \"stable\"\nmethod = \"rkl2\"\nstages = 5\n", 0.05),
        ("tolerance = { rtol = 1e-6, atol = 1e-9 }\n", 1e-4),
    ] {
        let (off, said) = left(time);
        assert!(off.abs() < most, "{time}: {off}");
        assert!(said.err.is_empty(), "{}", said.err);
    }
    let (off, said) = left("step = 1.5\n");
    assert!(off < -1.0, "{off}");
    for part in ["too long to follow the reactions", "a.toml:13:8", "steps up to 2.000000e-1"] {
        assert!(said.err.contains(part), "{part}: {}", said.err);
    }
}

/// What changes slowly about a large value is off by factors in single precision, by any method: `check` and `run` say so.
#[test]
fn changes_that_single_precision_loses_are_told() {
    let folder = Folder::new();
    let warning = "warning: changes of `T` are lost or too large in single precision";
    let case = |rate: f64, time: &str, precision: &str| {
        format!(
            "[system]\nspecies = [\"T\"]\nequations = {{ T = \"0.1*lap(T) + {rate}\" }}\n[grid]\nshape = [64, 1, 1]\n\
             spacing = 0.02\n[initial]\nT = 300.0\n[time]\nuntil = 20.0\n{time}\n[run]\nprecision = \"{precision}\"\n"
        )
    };
    // One stage adds about two units in the last place, or hundreds of them.
    for time in [
        "",
        "method = \"ssprk3\"\nstep = \"stable\"",
        "method = \"rkl2\"\nstep = 1.0",
        "method = \"rkc\"\nstep = 1.0",
        "method = \"rkc\"\ntolerance = { rtol = 1e-3, atol = 1e-3 }",
    ] {
        for (rate, precision, told) in
            [(0.05, "f32", true), (0.05, "f64", false), (10.0, "f32", false)]
        {
            folder.write("a.toml", case(rate, time, precision));
            let said = folder.odeum(&["check", "a.toml"]).well();
            let is_told = said.err.contains(warning) && said.err.contains("precision = \"f64\"");
            assert!(if told { is_told } else { said.err.is_empty() }, "{time}: {}", said.err);
        }
    }
    folder.write("a.toml", case(0.05, "", "f32"));
    assert!(folder.odeum(&["run", "a.toml"]).well().err.contains(warning));
    // Nothing that changes, and values near one.
    let others = [case(0.0, "", "f32"), case(0.05, "", "f32").replace("300.0", "\"cos(x)\"")];
    let problems = ["diffusion", "front"].map(|problem| {
        format!(
            "[system]\nproblem = \"{problem}\"\n[grid]\nshape = [32, 32, 1]\nspacing = 1.0\n[time]\nuntil = 10.0\n\
             [run]\nprecision = \"f32\"\n"
        )
    });
    let gray_scott = "[system]\nspecies = [\"u\", \"v\"]\nequations = { u = \"0.16*lap(u) - u*v^2 + 0.035*(1 - u)\", \
                      v = \"0.08*lap(v) + u*v^2 - 0.1*v\" }\n[grid]\nshape = [64, 64, 1]\nspacing = 1.0\n[initial]\n\
                      u = \"1 - 0.5*exp(-((x - 32)^2 + (y - 32)^2)/20)\"\n\
                      v = \"0.25*exp(-((x - 32)^2 + (y - 32)^2)/20)\"\n[time]\nuntil = 1000.0\n[run]\nprecision = \"f32\"\n";
    for case in others.into_iter().chain(problems).chain([gray_scott.to_owned()]) {
        let said = folder.write("b.toml", &case).odeum(&["check", "b.toml"]).well();
        assert!(said.err.is_empty(), "{case}{}", said.err);
    }
}
