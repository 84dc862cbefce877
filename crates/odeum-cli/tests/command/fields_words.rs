//! What `odeum check` says of fields that are not what was meant: warnings, and places of slips.

use crate::common::{Folder, Said};

/// A field whose parameters are all used, but none by the equations.
const CASE: &str = r#"
[system]
species = ["u"]
parameters = { hill = 1.0, boundary = 1.0, gust = 0.1, feed = 1.0, edge = 2.0 }
equations = { u = "lap(u)" }

[grid]
shape = [8, 8, 1]
spacing = 0.5
mask = "edge - y / 2"

[boundary]
x_low = { value = "boundary * t" }

[velocity]
uniform = ["gust", 0.0, 0.0]

[[sources]]
species = "u"
ball = { centre = [1.0, 1.0, 0.0], radius = 0.6 }
rate = "feed * x"

[initial]
u = "exp(-hill * x^2)"

[time]
until = 0.01
step = 1e-3
"#;

#[track_caller]
fn check(from: &str, to: &str) -> Said {
    assert!(CASE.contains(from), "`{from}` is not in the case");
    let folder = Folder::new();
    folder.write("a.toml", CASE.replacen(from, to, 1)).odeum(&["check", "a.toml"])
}

#[test]
fn parameters_count_as_used_wherever_expressions_name_them() {
    let said = check("until", "until").well();
    assert!(!said.err.contains("warning"), "{}", said.err);
    for (from, to, name) in [
        ("hill * x^2", "x^2", "hill"),
        ("boundary * t", "t", "boundary"),
        ("\"gust\"", "0.1", "gust"),
        ("feed * x", "x", "feed"),
        ("edge - y", "2 - y", "edge"),
    ] {
        let said = check(from, to).well();
        let column = CASE.lines().nth(3).and_then(|line| line.find(name)).map_or(0, |at| at + 1);
        let place = format!("a.toml:4:{column}");
        assert!(said.err.contains("never used") && said.err.contains(&place), "{}", said.err);
        assert_eq!(said.err.matches("never used").count(), 1, "{}", said.err);
    }
}

#[test]
fn shapes_that_are_none() {
    let initial = "u = \"exp(-hill * x^2)\"";
    let drawn = |shape: &str| format!("u = {{ value = \"exp(-hill * x^2)\", {shape} }}");
    let ball = |ball: &str| drawn(&format!("balls = [{{ {ball}, value = 1.0 }}]"));
    let boxed = |from_to: &str| drawn(&format!("boxes = [{{ {from_to}, value = 1.0 }}]"));
    let negative = ball("centre = [1, 1, 0], radius = -0.5");
    check(initial, &negative).refused(&[
        "a radius cannot be negative",
        "a.toml:24:",
        "found: -0.5",
    ]);
    let backward = boxed("from = [0, 3, 0], to = [2, 1, 0]");
    check(initial, &backward).refused(&["ends before it begins along y", "boxes[0].to"]);
    check("radius = 0.6", "radius = -1")
        .refused(&["a radius cannot be negative", "sources[0].ball"]);

    // Between the centres of cells, and beside the box.
    for (shape, near) in [
        (ball("centre = [1.0, 1.0, 0.0], radius = 0.1"), "[1.25, 1.25, 0.25]"),
        (ball("centre = [9.0, 1.25, 0.0], radius = 5.2"), "[3.75, 1.25, 0.25]"),
        (boxed("from = [0.3, 0.3, 0.0], to = [0.7, 0.7, 0.0]"), "[0.75, 0.75, 0.25]"),
        (boxed("from = [4, 4, 0], to = [5, 5, 0]"), "[3.75, 3.75, 0.25]"),
    ] {
        let said = check(initial, &shape).well();
        for part in ["holds no cell", "a.toml:24:", "the nearest is", near] {
            assert!(said.err.contains(part), "`{part}` is not in:\n{}", said.err);
        }
    }
    let said = check("radius = 0.6", "radius = 0.2").well();
    assert!(said.err.contains("the ball holds no cell"), "{}", said.err);
    for good in [
        ball("centre = [1.0, 1.0, 0.0], radius = 0.36"),
        ball("centre = [9.0, 1.25, 0.0], radius = 5.25"),
        boxed("from = [0.3, 0.3, 0.0], to = [0.75, 0.8, 0.0]"),
    ] {
        let said = check(initial, &good).well();
        assert!(!said.err.contains("no cell"), "{good}\n{}", said.err);
    }
}

#[test]
fn slips_of_expressions_stand_where_they_are() {
    let column = CASE.lines().nth(23).and_then(|line| line.find("hill")).map_or(0, |at| at + 1);
    let parts = ["nothing is called `hil`", &format!("a.toml:24:{column}"), "`hill`"];
    check("hill * x^2", "hil * x^2").refused(&parts);
}

#[test]
fn values_of_one_time_do_not_depend_on_it() {
    let parts = ["it depends on t", "a.toml:24:", "time.start"];
    check("hill * x^2", "hill * x^2 / (t + 1)").refused(&parts);
    check("edge - y / 2", "edge - y / 2 + t").refused(&["it depends on t", "a.toml:10:"]);
}

#[test]
fn steps_beyond_what_is_stable_are_wanted_by_force() {
    let longer = "step = { stable = 1.5 }";
    check("step = 1e-3", longer).refused(&["longer than the longest stable", "force = true"]);
    check("step = 1e-3", &format!("{longer}\nforce = true")).well();
    check("step = 1e-3", "step = 1e-300").refused(&["does not move the time at 0.01"]);
    // A case with steps that cannot be taken was approved.
    for (step, from) in
        [("1e-14", -1000.0), ("{ stable = 1e-20 }", -1000.0), ("{ stable = 1e-20 }", 0.001)]
    {
        let steps = format!("step = {step}\nstart = {from:?}");
        check("step = 1e-3", &steps).refused(&["does not move the time at", "a.toml:28"]);
    }
    let said = check("step = 1e-3", "step = 3e-18").well();
    assert!(said.out.contains("about 3.3e15"), "{}", said.out);
}

/// Its initial value could not be told from the seed, and no key was left for either.
#[test]
fn no_species_is_called_as_the_seed() {
    let folder = Folder::new();
    let case = "[system]\nspecies = [\"a\", \"seed\"]\nequations = { a = \"1\", seed = \"1\" }\n[grid]\nshape = [4, 1, 1]\n\
                spacing = 1.0\n[initial]\na = 1.0\nseed = 1\n[time]\nuntil = 1.0\nstep = 0.1\n";
    let parts = ["`seed`", "a.toml:2:17", "call it something else"];
    folder.write("a.toml", case).odeum(&["check", "a.toml"]).refused(&parts);
}

#[test]
fn what_has_no_effect_is_warned_of() {
    let warned = |from: &str, to: &str, words: &str| {
        let said = check(from, to).well();
        assert_eq!(said.err.matches(words).count(), 1, "{}", said.err);
    };
    let solid = "all cells of the source are solid";
    // The ball ends at y = 1.6, where cells have their centres at 1.25 and 1.75.
    warned("edge - y / 2", "y - 1.5", solid);
    warned("uniform = [\"gust\", 0.0, 0.0]", "advection = \"koren\"", "there is no velocity");
    let random = "nothing here is random";
    warned("[initial]\n", "[initial]\nseed = 3\n", random);
    let force = "needs no force";
    warned("step = 1e-3", "step = \"stable\"\nforce = true", force);
    let rkc = "method = \"rkc\"\ntolerance = { rtol = 1e-3, atol = 1e-6 }\nforce = true";
    warned("step = 1e-3", rkc, force);
    let given = "every face is given otherwise";
    let faces = "[boundary]\ndefault = \"open\"\ny = \"periodic\"\nx_high = \"no flux\"\n";
    warned("[boundary]\n", faces, given);
    let own = "species = { u = { x_low = { value = 1.0 }, x_high = \"open\" } }";
    let faces = format!("default = {{ value = 1.0 }}\ny = \"periodic\"\n{own}");
    warned("x_low = { value = \"boundary * t\" }", &faces, given);
    for empty in ["species = {}", "species = { u = {} }"] {
        warned("[boundary]\n", &format!("[boundary]\n{empty}\n"), "no boundary is given here");
    }
    for (from, to, words) in [
        (
            "[initial]\nu = \"exp(-hill * x^2)\"",
            "[initial]\nseed = 3\nu = { value = 1.0, noise = 0.1 }",
            random,
        ),
        ("step = 1e-3", "step = 1e-3\nforce = true", force),
        ("step = 1e-3", "step = { stable = 1.5 }\nforce = true", force),
        ("[boundary]\n", "[boundary]\ndefault = \"open\"\ny = \"periodic\"\n", given),
    ] {
        let said = check(from, to).well();
        assert!(!said.err.contains(words), "{}", said.err);
    }
    for touched in ["y - 1", "1.3 - x", "edge - y / 2"] {
        let said = check("edge - y / 2", touched).well();
        assert!(!said.err.contains(solid), "{}", said.err);
    }
}
