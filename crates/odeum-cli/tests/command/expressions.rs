//! Numbers of a case file may be said by expressions, and are named where these are wrong.

use crate::common::{DECAY, Folder, npz};

/// The small case with pieces replaced.
fn with(pieces: &[(&str, &str)]) -> String {
    pieces.iter().fold(DECAY.to_owned(), |case, (from, to)| {
        assert!(case.contains(from), "`{from}` is not in the case");
        case.replacen(from, to, 1)
    })
}

#[test]
fn expressions_stand_where_numbers_do() {
    let folder = Folder::new();
    let ensemble =
        "[ensemble]\ncount = \"2^2\"\nsweep = { b = { from = 0, to = \"2*pi\", count = 3 } }\n";
    let numbers = with(&[
        ("a = 1.0", "a = 0.25"),
        ("k = 2.0", "k = 1.4142135623730951"),
        ("[0.0, 1.0]", "[0.0, 0.3333333333333333]"),
        ("name = \"dopri5\"", "name = \"dopri5\"\nfirst_step = 0.006944444444444444"),
    ]) + &ensemble.replace("\"2^2\"", "4").replace("\"2*pi\"", "6.283185307179586");
    let expressions = with(&[
        ("a = 1.0", "a = \"1/4\""),
        ("k = 2.0", "k = \"sqrt(2)\""),
        ("[0.0, 1.0]", "[0.0, \"1/3\"]"),
        ("name = \"dopri5\"", "name = \"dopri5\"\nfirst_step = \"1/144\""),
        ("1e-8", "\"10^-8\""),
    ]) + ensemble;
    folder.write("n.toml", numbers).write("e.toml", expressions);
    for case in ["n.toml", "e.toml"] {
        folder.odeum(&["run", case]).well();
    }
    let [numbers, expressions] = ["n.npz", "e.npz"].map(|name| npz::read(&folder.path(name)));
    for array in ["y", "y0", "params", "span", "steps", "shape"] {
        assert_eq!(numbers[array], expressions[array], "{array}");
    }
}

#[test]
fn expressions_of_a_field() {
    let folder = Folder::new();
    folder.write(
        "a.toml",
        "[system]\nspecies = [\"u\"]\nparameters = { D = \"1/8\" }\n\
         equations = { u = \"D * lap(u)\" }\n[grid]\nshape = [8, \"2^3\", 1]\nspacing = \"pi/4\"\n\
         [initial]\nu = { value = 0, boxes = [{ from = [0, 0, 0], to = [\"pi\", \"pi\", 0], value = \"1/3\" }] }\n\
         [time]\nuntil = \"1/2\"\nstep = \"1/16\"\n",
    );
    let said = folder.odeum(&["check", "a.toml"]).well();
    assert!(
        said.out.contains("0.7853981633974483") && said.out.contains("0 to 0.5"),
        "{}",
        said.out
    );
    assert!(said.out.contains("6.25"), "{}", said.out);
}

/// Whole numbers beyond 2^53 keep their digits, or are refused.
#[test]
fn large_whole_numbers_are_exact() {
    let folder = Folder::new();
    let seed = |seed: &str| {
        let perturb = "perturb = { of = \"a\", relative = 0.1 }";
        folder.write("a.toml", format!("{DECAY}[ensemble]\ncount = 2\nseed = {seed}\n{perturb}\n"));
        folder.odeum(&["run", "a.toml", "--overwrite"])
    };
    let starts = |text: &str| {
        seed(text).well();
        npz::read(&folder.path("a.npz"))["y0"].f64()
    };
    assert_eq!(starts("\"9007199254740993\""), starts("9007199254740993"));
    assert_eq!(starts("\"2^10 + 1\""), starts("1025"));
    seed("\"2^53 + 1\"").refused(&["`ensemble.seed` is too large", "write out all digits"]);
    for large in ["18446744073709551616", "999999999999999999999999999999999999999999"] {
        seed(large).refused(&["`ensemble.seed` must be at most 18446744073709551615"]);
    }
    seed("-1").refused(&["`ensemble.seed` must be at least 0"]);
}

#[test]
fn what_is_no_number_is_placed() {
    let folder = Folder::new();
    let case = with(&[
        ("a = 1.0", "a = \"2*kk\""),
        ("k = 2.0", "k = \"1/0\""),
        ("1e-8", "\"tiny\""),
        ("[0.0, 1.0]", "[\"0\", \"t + 1\"]"),
    ]) + "[ensemble]\ncount = \"5/2\"\n";
    folder.write("a.toml", case);
    folder.odeum(&["check", "a.toml"]).refused(&[
        "`system.states.a`: nothing is called `kk`",
        "--> a.toml:3:19",
        "as \"2*pi\"",
        "`system.parameters.k` must be finite",
        "`tolerance.rtol`: nothing is called `tiny`",
        "`time.span[1]`: this changes with the time",
        "`ensemble.count` must be between 1",
        "5 errors",
    ]);
}
