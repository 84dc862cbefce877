//! Runs of reactors: cases with a mechanism, `odeum mechanism`, `odeum pasr`, studies of chemistry.

use crate::common::{Folder, cases, hydrogen, npz};

/// Air and hydrogen at a few temperatures; `{system}` takes more keys.
fn ignition(mechanism: &str, system: &str) -> String {
    format!(
        r#"
[system]
mechanism = "{mechanism}"
fuel = {{ H2 = 1 }}
oxidizer = {{ O2 = 1, N2 = 3.76 }}
{system}

[ensemble.sweep]
T = [700.0, 1100.0, 1400.0]
phi = [0.5, 1.0]

[time]
span = [0.0, 1e-3]
until = {{ T = {{ rises_by = 400.0 }} }}

[method]
name = "rodas4"

[tolerance]
rtol = 1e-6
atol = 1e-15
"#
    )
}

#[test]
fn tolerances_that_hide_the_first_radicals_are_warned_of() {
    let folder = Folder::new();
    let case = ignition("h2.yaml", "pressure = 1e6");
    folder.write("h2.yaml", hydrogen()).write("fine.toml", &case);
    folder.write("coarse.toml", case.replace("1e-15", "1e-10"));
    assert!(!folder.odeum(&["check", "fine.toml"]).well().err.contains("warning"));
    let said = folder.odeum(&["check", "coarse.toml"]).well();
    for part in ["delays may be inexact", "coarse.toml:21:", "found: 1e-10", "atol = 1e-15"] {
        assert!(said.err.contains(part), "`{part}` is not in:\n{}", said.err);
    }
}

/// Levels that no reactor comes to.
#[test]
fn levels_that_are_out_of_reach_are_warned_of() {
    let folder = Folder::new();
    let case = |gas: &str, until: &str| {
        ignition("h2.yaml", &format!("pressure = 1e6\n{gas}"))
            .replace("T = { rises_by = 400.0 }", until)
    };
    folder.write("h2.yaml", hydrogen());
    let check = |gas: &str, until: &str| {
        folder.write("a.toml", case(gas, until)).odeum(&["check", "a.toml"])
    };
    let isothermal = "energy = \"isothermal\"";
    for (gas, until, part) in [
        (isothermal, "T = { rises_by = 400.0 }", "an isothermal reactor does not change"),
        ("", "OH = { rises_to = 1.5 }", "mass fractions lie between 0 and 1"),
        ("", "H2 = { falls_to = -0.1 }", "mass fractions lie between 0 and 1"),
        ("", "H2O = { rises_by = 2.0 }", "mass fractions lie between 0 and 1"),
    ] {
        let err = check(gas, until).well().err;
        assert!(err.contains(part) && err.contains("no system comes to this level"), "{err}");
    }
    for (gas, until) in [(isothermal, "OH = { rises_to = 1e-3 }"), ("", "m = { rises_to = 2.0 }")] {
        assert!(!check(gas, until).err.contains("no system comes"), "{until}");
    }
    let said = check("", "p = { rises_by = 1e5 }");
    let said = said.refused(&["no state `p`", "the pressure is no state of a reactor"]);
    assert!(!said.err.contains("did you mean"), "{}", said.err);
}

/// What such a reaction uses up is gone within a time in which a coarse tolerance sees nothing.
#[test]
fn tolerances_that_hide_the_end_of_a_species_are_warned_of() {
    let folder = Folder::new();
    let case = ignition("h2.yaml", "pressure = 1e6").replace("1e-15", "1e-10");
    let case = case.replace("until = { T = { rises_by = 400.0 } }\n", "");
    let reaction = |orders: &str| {
        let rate = "rate-constant: {A: 1e3, b: 0, Ea: 0}";
        format!(
            "\n- {{equation: H2 + O2 => 2 OH, {rate}, orders: {orders}, negative-orders: true}}\n"
        )
    };
    folder.write("a.toml", &case).write("fine.toml", case.replace("1e-10", "1e-15"));
    for (orders, warned, unlimited) in [
        ("{H2: 0.2, O2: 1.3}", true, None),
        (
            "{H2: 1.3, O2: -0.3}",
            false,
            Some("O2 is used up, which becomes negative: its order is -0.3"),
        ),
        ("{H2: 0, O2: 0.5}", true, Some("H2 is used up, which becomes negative: its order is 0")),
        ("{H2: 1.3, O2: 1}", false, None),
        ("{H2: 1, H2O: -0.5}, nonreactant-orders: true", false, None),
    ] {
        folder.write("h2.yaml", hydrogen() + &reaction(orders));
        let said = folder.odeum(&["check", "a.toml"]).well();
        let told = "`H2 + O2 => 2 OH` uses up a species: its order is below one";
        assert_eq!(said.err.contains(told), warned, "{orders}: {}", said.err);
        assert_eq!(said.err.contains("atol = 1e-15"), warned, "{orders}: {}", said.err);
        // Whatever the tolerance.
        let fine = folder.odeum(&["check", "fine.toml"]).well().err;
        assert!(!fine.contains("below one"), "{fine}");
        assert_eq!(
            fine.contains("which becomes negative"),
            unlimited.is_some(),
            "{orders}: {fine}"
        );
        if let Some(told) = unlimited {
            let told = format!("`H2 + O2 => 2 OH` goes on where {told}");
            assert!(fine.contains(&told) && said.err.contains(&told), "{orders}: {fine}");
        }
    }
}

/// The parameter of a reactor follows from what the case says, and differs from system to system.
#[test]
fn tables_have_the_parameters_of_reactors() {
    let folder = Folder::new();
    folder.write("h2.yaml", hydrogen());
    for (reactor, parameter) in [("volume", "density"), ("pressure", "pressure")] {
        let system = format!("pressure = 1e6\nreactor = \"constant {reactor}\"");
        let case = ignition("h2.yaml", &system).replace("1e-3]", "1e-7]");
        folder.write("a.toml", case + "[output]\nformats = [\"csv\"]\n");
        folder.odeum(&["run", "a.toml", "--overwrite"]).well();
        let result = npz::read(&folder.path("a.npz"));
        assert_eq!(result["param_names"].texts(), [parameter]);
        let text = String::from_utf8(folder.read("a.csv")).unwrap();
        let mut lines = text.lines();
        let header: Vec<&str> = lines.next().unwrap().split(',').collect();
        let at = |name: &str| header.iter().position(|column| *column == name).unwrap();
        let (place, pressure) = (at(parameter), at("p_start"));
        let rows = lines.map(|line| line.split(',').collect::<Vec<_>>());
        let rows: Vec<Vec<&str>> = rows.collect();
        let found: Vec<f64> = rows.iter().map(|row| row[place].parse().unwrap()).collect();
        assert_eq!(found, result["params"].f64(), "{parameter}");
        assert!(rows.iter().all(|row| row[pressure].parse() == Ok(1e6)));
    }
}

#[test]
fn delays_of_ignition() {
    let folder = Folder::new();
    folder.write("h2.yaml", hydrogen()).write("a.toml", ignition("h2.yaml", "pressure = 1e6"));
    let said = folder.odeum(&["run", "a.toml"]).well();
    for part in ["terminal event", "4  66.67 %", "success", "2  33.33 %", "11 species"] {
        assert!(said.out.contains(part), "`{part}` is not in:\n{}", said.out);
    }
    let result = npz::read(&folder.path("a.npz"));
    assert_eq!(result["axes"].texts(), ["T", "phi"]);
    assert_eq!(result["shape"].whole(), [3, 2]);
    assert_eq!(result["y"].shape, [6, 13]);
    let names = result["state_names"].texts();
    assert_eq!((names[0].as_str(), names[12].as_str()), ("T", "m"));
    assert_eq!(result["param_names"].texts(), ["density"]);
    let event = result["status_names"].texts().iter().position(|s| s == "terminal event");
    let event = event.unwrap() as i64;
    // At 700 K nothing happens within a millisecond.
    assert_eq!(result["status"].whole(), [0, 0, event, event, event, event]);

    let (t, y, y0) = (result["t"].f64(), result["y"].f64(), result["y0"].f64());
    assert_eq!(t[..2], [1e-3, 1e-3]);
    // Hotter gas ignites sooner.
    assert!(t[4] < t[2] && t[5] < t[3] && t[2..].iter().all(|t| *t > 1e-7 && *t < 1e-3), "{t:?}");
    // Cantera 3.2.0, IdealGasReactor, rtol 1e-11, atol 1e-18.
    let cantera =
        [6.734675695115615e-4, 5.317505145749203e-4, 2.360822441781757e-6, 2.1716876486721697e-6];
    for (ours, theirs) in t[2..].iter().zip(cantera) {
        assert!((ours / theirs - 1.0).abs() < 2e-5, "{ours} s instead of {theirs} s");
    }
    for s in 0..6 {
        let (state, start) = (&y[13 * s..][..13], &y0[13 * s..][..13]);
        let sum: f64 = state[1..12].iter().sum();
        assert!((sum - 1.0).abs() < 1e-9, "mass fractions of {s} sum to {sum}");
        if s >= 2 {
            assert!((state[0] - start[0] - 400.0).abs() < 1e-3, "{} K at {s}", state[0]);
        } else {
            assert!((state[0] - start[0]).abs() < 5.0, "{} K at {s}", state[0]);
        }
    }
}

/// One reaction with one set of data, said in both formats.
#[test]
fn chemkin_and_cantera_files_of_the_same_mechanism() {
    let folder = Folder::new();
    folder.write("a.inp", CHEMKIN).write("a.yaml", CANTERA).write("therm.dat", THERMO);
    let case = |mechanism: &str, more: &str| {
        format!(
            "[system]\nmechanism = \"{mechanism}\"\n{more}\nreactor = \"constant pressure\"\n\
             energy = \"isothermal\"\ntemperature = 1500.0\n\
             moles = {{ H2 = 2, H = 1, AR = 7 }}\n\
             [time]\nspan = [0.0, 1e-4]\n[method]\nname = \"radau\"\n\
             [tolerance]\nrtol = 1e-9\natol = 1e-15\n"
        )
    };
    folder.write("c.toml", case("a.inp", "thermo = \"therm.dat\""));
    folder.write("y.toml", case("a.yaml", "phase = \"gas\""));
    for file in ["c", "y"] {
        folder.odeum(&["run", &format!("{file}.toml")]).well();
    }
    let [chemkin, cantera] = ["c.npz", "y.npz"].map(|file| npz::read(&folder.path(file)));
    assert_eq!(chemkin["state_names"].texts(), ["T", "H2", "H", "AR", "m"]);
    assert_eq!(chemkin["param_names"].texts(), ["pressure"]);
    assert_eq!(chemkin["status"].whole(), [0]);
    let [c, y] = [&chemkin, &cantera].map(|result| result["y"].f64());
    assert_eq!(c[0], 1500.0, "the temperature is held");
    for (a, b) in c.iter().zip(&y) {
        assert!((a - b).abs() <= 1e-9 * a.abs(), "{a} {b}");
    }
    // H recombines, and what it loses H2 gains.
    let start = chemkin["y0"].f64();
    assert!(c[2] < 0.9 * start[2], "{} of {}", c[2], start[2]);
    assert!((c[1] + c[2] - start[1] - start[2]).abs() < 1e-12);
}

#[test]
fn the_shipped_case_is_read_as_it_says() {
    let folder = Folder::new();
    let case = cases().join("ignition.toml");
    let said = folder.odeum(&["check", case.to_str().unwrap()]).well();
    for part in ["50 (T) × 10 (p) × 20 (phi)", "T rises by 400", "13, with 1 parameter"] {
        assert!(said.out.contains(part), "`{part}` is not in:\n{}", said.out);
    }
}

#[test]
fn what_a_mechanism_contains() {
    let folder = Folder::new();
    folder.write("h2.yaml", hydrogen());
    let said = folder.odeum(&["mechanism", "h2.yaml"]).well();
    for part in ["11 (11 NASA-7)", "Arrhenius", "Troe", "three-body", "Jacobian", "13 × 13", "300"]
    {
        assert!(said.out.contains(part), "`{part}` is not in:\n{}", said.out);
    }
    folder.write("a.inp", CHEMKIN).write("therm.dat", THERMO);
    let said = folder.odeum(&["mechanism", "a.inp", "--thermo", "therm.dat"]).well();
    assert!(said.out.contains("3 (3 NASA-7)"), "{}", said.out);
}

#[test]
fn a_broken_mechanism_is_refused_with_all_that_is_wrong() {
    let folder = Folder::new();
    let ranges = "temperature-ranges: [300.0, 1000.0, 5000.0]";
    let broken = CANTERA
        .replacen(ranges, "temperature-ranges: [300.0, 5000.0]", 1)
        .replace("A: 1.0e+18", "A: much");
    folder.write("a.yaml", broken);
    let place = |text: &str| {
        let before = &CANTERA[..CANTERA.find(text).unwrap()];
        format!("a.yaml:{}", 1 + before.matches('\n').count())
    };
    let parts = [&place("- [3.5"), "2 temperatures for 2 rows", &place("A: 1.0e+18"), "'much'"];
    let said = folder.odeum(&["mechanism", "a.yaml"]).refused(&parts);
    assert!(said.err.contains("2 errors"), "{}", said.err);
    folder.odeum(&["mechanism", "none.yaml"]).refused(&["none.yaml", "No such file"]);
    folder.write("h2.yaml", hydrogen());
    let cut = &hydrogen()[..hydrogen().len() / 3];
    folder.write("cut.yaml", cut);
    folder.odeum(&["mechanism", "cut.yaml"]).refused(&["cut.yaml"]);
    folder.odeum(&["mechanism", "h2.yaml", "--phase", "liquid"]).refused(&["liquid", "h2.yaml"]);
    folder.write("a.inp", CHEMKIN);
    folder.odeum(&["mechanism", "a.inp"]).refused(&["a.inp", "thermo"]);
}

#[test]
fn states_of_a_stirred_reactor() {
    let folder = Folder::new();
    folder.write("h2.yaml", hydrogen());
    let run = |output: &str, seed: &str| {
        let args = ["pasr", "h2.yaml", "--temperature", "600,800", "--pressure", "1"];
        let more = ["--particles", "4", "--residence-times", "1", "--seed", seed, "-o", output];
        folder.odeum(&[&args[..], &more].concat()).well()
    };
    let said = run("a.npz", "3");
    assert!(said.out.contains("states") && said.out.contains("a.npz"), "{}", said.out);
    let states = npz::read(&folder.path("a.npz"));
    let names: Vec<&str> = states.keys().map(String::as_str).collect();
    assert_eq!(names, ["T", "Y", "about", "p", "run", "species_names", "t"]);
    let m = states["T"].shape[0];
    // Two runs: the start, and steps of a tenth of the pairing time, 1e-4 s, over 1e-2 s.
    assert_eq!(m, 2 * 101 * 4);
    assert_eq!(states["Y"].shape, [m, 11]);
    let (run_of, p, y) = (states["run"].whole(), states["p"].f64(), states["Y"].f64());
    assert_eq!((run_of[0], run_of[m - 1]), (0, 1));
    assert!(p.iter().all(|p| *p == 101_325.0));
    assert!(states["T"].f64().iter().all(|t| *t > 500.0 && *t < 3500.0));
    for row in y.chunks(11) {
        assert!((row.iter().sum::<f64>() - 1.0).abs() < 1e-6);
    }

    run("b.npz", "3");
    assert!(folder.read("a.npz") == folder.read("b.npz"), "the seed says it all");
    run("c.npz", "4");
    let other = npz::read(&folder.path("c.npz"));
    assert!(states["T"] != other["T"], "another seed, other states");

    let again = ["pasr", "h2.yaml", "-o", "a.npz"];
    folder.odeum(&again).refused(&["exists already", "a.npz", "--overwrite"]);
}

/// Run 1 of a seed was run 0 of the next one, bit by bit.
#[test]
fn runs_of_neighbouring_seeds_share_no_random_numbers() {
    let folder = Folder::new();
    folder.write("h2.yaml", hydrogen());
    let temperatures = |seed: &str| {
        let args = ["pasr", "h2.yaml", "--temperature", "800,800", "--pressure", "1"];
        let more = ["--particles", "10", "--residence-times", "0.2", "--seed", seed, "--overwrite"];
        folder.odeum(&[&args[..], &more].concat()).well();
        let all = npz::read(&folder.path("pasr.npz"))["T"].f64();
        let (first, second) = all.split_at(all.len() / 2);
        [first.to_vec(), second.to_vec()]
    };
    let runs = [temperatures("0"), temperatures("1")].concat();
    for (k, run) in runs.iter().enumerate() {
        assert!(!runs[..k].contains(run), "run {k}");
    }
}

/// Hydrogen with nothing of another species had the residence time of methane.
#[test]
fn pure_hydrogen_is_known_however_it_is_written() {
    let folder = Folder::new();
    folder.write("h2.yaml", hydrogen());
    let states = |fuel: &str| {
        let args = ["pasr", "h2.yaml", "--temperature", "800", "--pressure", "1"];
        let more = ["--particles", "4", "--residence-times", "0.1", "--overwrite", "--fuel", fuel];
        folder.odeum(&[&args[..], &more].concat()).well();
        npz::read(&folder.path("pasr.npz"))
    };
    let expected = states("H2");
    assert_eq!(*expected["t"].f64().last().unwrap(), 1e-3);
    for fuel in ["H2:1, H:0", "OH:0, H2:2"] {
        let found = states(fuel);
        assert!(["t", "T", "Y"].iter().all(|name| found[*name] == expected[*name]), "{fuel}");
    }
    assert_eq!(*states("H2:0.9, H2O:0.1")["t"].f64().last().unwrap(), 5e-4);
}

#[test]
fn states_of_a_stirred_reactor_outside_the_data_are_told() {
    let folder = Folder::new();
    folder.write("h2.yaml", hydrogen().replace("[200, 1000, 3500]", "[200, 1000, 2550]"));
    let args = ["pasr", "h2.yaml", "--temperature", "800", "--pressure", "1", "--particles", "4"];
    let said = folder.odeum(&[&args[..], &["--residence-times", "0.02"]].concat()).well();
    let told = "states lie outside the thermodynamic data";
    assert!(said.err.contains(told) && said.err.contains("300 to 2550 K"), "{}", said.err);
    folder.write("h2.yaml", hydrogen());
    let again = ["--residence-times", "0.02", "--overwrite"];
    let said = folder.odeum(&[&args[..], &again].concat()).well();
    assert!(!said.err.contains(told), "{}", said.err);
}

/// What no run could compute is refused at the start, by the option that is to blame.
#[test]
fn flames_beyond_the_data_are_refused() {
    let folder = Folder::new();
    folder.write("h2.yaml", hydrogen().replace("[200, 1000, 3500]", "[200, 1000, 1500]"));
    let args =
        ["pasr", "h2.yaml", "--particles", "4", "--residence-times", "0.02", "--temperature"];
    let pasr = |more: &[&str]| folder.odeum(&[&args[..], more].concat());
    let parts =
        ["burns to 2", "hold from 300 to 1500 K", "field: --temperature", "lower --temperature"];
    pasr(&["800", "--pressure", "1"]).refused(&parts);
    folder.write("h2.yaml", hydrogen());
    for pressure in ["1e-300", "1e300"] {
        let said = pasr(&["800", "--pressure", pressure]);
        said.refused(&["field: --pressure", &format!("found: {pressure}")]);
    }
    assert!(!folder.has("pasr.npz"));
}

/// Any fuel in any oxidizer, in mechanisms that write their species as they like.
#[test]
fn a_stirred_reactor_of_other_gases() {
    let folder = Folder::new();
    let lower = ["C2H5OH", "CO2", "H2O", "3O2", "O2 ", "N2 "];
    let text = lower
        .iter()
        .fold(ETHANOL.to_owned(), |text, name| text.replace(name, &name.to_lowercase()));
    folder.write("e.inp", text);
    let args = ["pasr", "e.inp", "--temperature", "600", "--pressure", "1", "--particles", "4"];
    let run = |more: &[&str], output: &str| {
        folder.odeum(
            &[&args, more, &["--residence-times", "0.02", "--phi", "0.2", "-o", output]].concat(),
        )
    };
    run(&[], "a.npz").refused(&["neither CH4 nor H2", "--fuel", "C2H5OH"]);
    run(&["--fuel", "c2h5oh"], "a.npz").well();
    let said = ["--fuel", "c2h5oh:2", "--oxidizer", "o2:0.5, n2:1.88"];
    run(&said, "b.npz").well();
    let [usual, said] = ["a.npz", "b.npz"].map(|name| npz::read(&folder.path(name)));
    assert_eq!(usual["Y"], said["Y"], "air, in any multiple");
    run(&["--fuel", "c2h5oh", "--oxidizer", "o2", "--non-premixed"], "c.npz").well();
    let pure = npz::read(&folder.path("c.npz"));
    let names = pure["species_names"].texts();
    let nitrogen = names.iter().position(|name| name == "n2").unwrap();
    assert!(pure["Y"].f64().iter().skip(nitrogen).step_by(names.len()).all(|y| *y == 0.0));
}

#[test]
fn a_stirred_reactor_that_cannot_be() {
    let folder = Folder::new();
    folder.write("h2.yaml", hydrogen()).write("a.inp", CHEMKIN).write("therm.dat", THERMO);
    let positive = "give a positive number";
    for (option, value, parts) in [
        ("--particles", "3", &["--particles", "even number"][..]),
        ("--particles", "0", &["--particles", "from 2 to 1000000"]),
        ("--particles", "1e18", &["--particles", "from 2 to 1000000"]),
        ("--tau-mix", "0", &["--tau-mix", "found: 0", positive]),
        ("--tau-res", "nan", &["--tau-res", "found: NaN", positive]),
        ("--residence-times", "inf", &["--residence-times", "found: inf", positive]),
        ("--residence-times", "1e300", &["no memory for so many states", "--tau-pair"]),
        ("--temperature", "9000", &["--temperature", "found: 9000", "give 300 to 3500 K"]),
        ("--temperature", "800,nan", &["temperature is no number", "found: NaN", "300 to 3500 K"]),
        ("--pressure", "0", &["--pressure", "found: 0", "above zero, in atm"]),
        ("--phi", "nan", &["--phi", "found: NaN", "zero (oxidizer alone) or more"]),
        ("--phi", "-1", &["--phi", "found: -1", "expected a finite number not below zero"]),
        ("--phi", "inf", &["--phi", "found: inf", "expected a finite number"]),
        ("--tau-res", "-0.001", &["--tau-res", "found: -0.001", positive]),
        ("--tau-mix", "-1", &["--tau-mix", "found: -1", positive]),
        ("--tau-pair", "-1", &["--tau-pair", "found: -1", positive]),
        ("--residence-times", "-1", &["--residence-times", "found: -1", positive]),
        ("--temperature", "-5", &["--temperature", "found: -5", "give 300 to 3500 K"]),
        ("--pressure", "-1", &["--pressure", "found: -1", "above zero, in atm"]),
        ("--particles", "-2", &["--particles", "an even number of particles"]),
        ("--seed", "-1", &["--seed", "a whole number from 0 to"]),
        ("--fuel", "H22", &["--fuel", "found: H22", "did you mean `H2`?"]),
        ("--fuel", "h2=1, N2:1", &["no species `h2=1`", "write `H2:1`"]),
        ("--fuel", "H2:x", &["--fuel", "the amount of `H2` is none", "found: H2:x"]),
        ("--fuel", "H2:0", &["--fuel", "there is nothing in it"]),
        ("--fuel", "H2:1, H2:2", &["--fuel", "`H2` is given twice", "give each species once"]),
        ("--oxidizer", "O2:1, NN:3.76", &["--oxidizer", "no species `NN`", "did you mean `N2`?"]),
        ("--oxidizer", "N2", &["no stoichiometric mixture", "oxidizer O beyond its fuel"]),
        ("--fuel", "N2", &["no stoichiometric mixture", "--fuel", "must hold C, H or S"]),
        ("--output", "none/d.npz", &["none/d.npz", "no such file or directory"]),
    ] {
        let args = ["pasr", "h2.yaml", option, value];
        let files = folder.files();
        folder.odeum(&args).refused(parts);
        assert_eq!(folder.files(), files);
    }
    let airless = ["pasr", "a.inp", "--thermo", "therm.dat"];
    folder.odeum(&airless).refused(&["no air: O2 and N2", "--oxidizer"]);
}

#[test]
fn a_study_of_chemistry_writes_its_document() {
    let folder = Folder::new();
    folder.write("h2.yaml", hydrogen());
    let pasr = ["pasr", "h2.yaml", "--temperature", "800", "--pressure", "1", "--particles", "4"];
    folder.odeum(&[&pasr[..], &["--residence-times", "0.02", "-o", "s.npz"]].concat()).well();
    let bench = ["bench", "chemistry", "--mechanism", "h2.yaml", "--states", "s.npz"];
    let more = ["--parts", "methods", "--systems", "4", "--threads", "1", "--json", "a.json"];
    folder.odeum(&[&bench[..], &more].concat()).well();
    let document: serde_json::Value = serde_json::from_slice(&folder.read("a.json")).unwrap();
    assert_eq!(document["bench"], "chemistry");
    assert_eq!(document["mechanism"], "h2.yaml");
    let rows = document["rows"].as_array().unwrap();
    let methods: Vec<&str> = rows.iter().filter_map(|row| row["method"].as_str()).collect();
    for method in ["rodas4", "radau"] {
        assert!(methods.contains(&method), "{methods:?}");
    }
    for row in rows {
        for key in ["seconds", "error_median", "error_p95", "max_error", "divergence"] {
            assert!(row[key].as_f64().is_some_and(|x| x.is_finite()), "{key}: {row}");
        }
        assert_eq!(row["failed"], 0, "{row}");
        assert!(row["steps"].as_u64().is_some_and(|n| n > 0), "{row}");
    }
    let wrong = ["--parts", "speed"];
    folder.odeum(&[&bench[..], &wrong].concat()).refused(&["no part `speed`", "its parts are"]);
    folder.odeum(&["bench", "chemistry"]).refused(&["which mechanism?", "--mechanism"]);
    let ethanol = ["bench", "ethanol", "--mechanism", "h2.yaml"];
    let said = folder.odeum(&ethanol);
    assert_ne!(said.code, 0);
    assert!(said.err.contains("the mechanism has no c2h5oh"), "{}", said.err);
}

/// They were left out without a word, and 12 reactors measured where 40 were asked for.
#[test]
fn a_study_tells_of_states_that_it_leaves_out() {
    let folder = Folder::new();
    folder.write("h2.yaml", hydrogen());
    let pasr = ["pasr", "h2.yaml", "--temperature", "800", "--pressure", "1", "--particles", "4"];
    folder.odeum(&[&pasr[..], &["--residence-times", "2.52", "-o", "s.npz"]].concat()).well();
    let bench = ["bench", "chemistry", "--mechanism", "h2.yaml", "--states", "s.npz"];
    let study = |systems: &str| {
        let more = ["--parts", "orders", "--threads", "1", "--systems", systems];
        folder.odeum(&[&bench[..], &more].concat()).well().err
    };
    let told = study("40");
    assert!(told.contains("states of each run are left out: 12 of "), "{told}");
    let silent = study("12");
    assert!(!silent.contains("left out"), "{silent}");
}

/// What was measured before is drawn with what is measured now, and by itself.
#[test]
fn documents_of_chemistry_are_drawn() {
    let folder = Folder::new();
    folder.write("h2.yaml", hydrogen());
    let pasr = ["pasr", "h2.yaml", "--temperature", "800", "--pressure", "1", "--particles", "4"];
    folder.odeum(&[&pasr[..], &["--residence-times", "0.02", "-o", "s.npz"]].concat()).well();
    let bench = ["bench", "chemistry", "--mechanism", "h2.yaml", "--states", "s.npz"];
    let few = ["--systems", "40", "--threads", "1"];
    let orders = ["--parts", "orders", "--json", "a.json"];
    folder.odeum(&[&bench[..], &few, &orders].concat()).well();
    let both = ["--parts", "jacobians", "--add", "a.json", "--plot", "b.svg"];
    folder.odeum(&[&bench[..], &few, &both].concat()).well();
    folder.odeum(&["bench", "chemistry", "--add", "a.json", "--plot", "a.svg"]).well();
    let picture = |file: &str| String::from_utf8(folder.read(file)).unwrap();
    for (file, jacobians) in [("a.svg", false), ("b.svg", true)] {
        assert!(picture(file).contains("Divergence of steps in lockstep"), "{file}");
        assert!(picture(file).contains("D of a warp"), "{file}");
        assert_eq!(picture(file).contains("Jacobians: exact"), jacobians, "{file}");
    }
    let document: serde_json::Value = serde_json::from_slice(&folder.read("a.json")).unwrap();
    for row in document["rows"].as_array().unwrap() {
        let shares = row["divergences"].as_array().unwrap();
        let sum: f64 = shares.iter().filter_map(serde_json::Value::as_f64).sum();
        assert!((sum - 1.0).abs() < 1e-12, "{row}");
        assert_eq!(row["max_error"].is_null(), row["order"] == "sorted", "{row}");
    }
    let unused = ["bench", "chemistry", "--add", "a.json", "--plot", "c.svg", "--parts", "sizes"];
    folder.odeum(&unused).refused(&["does not use --parts", "without --mechanism"]);
}

/// Few states of this run react.
#[test]
fn the_study_of_reactive_states_leaves_others_out() {
    let folder = Folder::new();
    folder.write("h2.yaml", hydrogen());
    let pasr = ["pasr", "h2.yaml", "--temperature", "800", "--pressure", "1", "--particles", "20"];
    folder.odeum(&[&pasr[..], &["--residence-times", "0.2", "-o", "s.npz"]].concat()).well();
    let bench = ["bench", "chemistry", "--mechanism", "h2.yaml", "--states", "s.npz"];
    let more = ["--parts", "reactive", "--threads", "1", "--json", "a.json"];
    folder.odeum(&[&bench[..], &more].concat()).well();
    let document: serde_json::Value = serde_json::from_slice(&folder.read("a.json")).unwrap();
    let all = crate::common::npz::read(&folder.path("s.npz"))["T"].shape[0] as u64;
    for row in document["rows"].as_array().unwrap() {
        let systems = row["systems"].as_u64().unwrap();
        assert!(systems > 0 && systems < all, "{systems} of {all}");
    }
}

#[test]
fn the_study_of_ethanol_writes_its_document() {
    let folder = Folder::new();
    folder.write("e.inp", ETHANOL);
    let bench = ["bench", "ethanol", "--mechanism", "e.inp", "--parts", "methods"];
    let more = ["--systems", "3", "--threads", "1", "--json", "a.json"];
    folder.odeum(&[&bench[..], &more].concat()).well();
    let document: serde_json::Value = serde_json::from_slice(&folder.read("a.json")).unwrap();
    assert_eq!(document["bench"], "ethanol");
    let rows = document["rows"].as_array().unwrap();
    assert!(rows.iter().any(|row| row["method"] == "rkc"), "{rows:?}");
    for row in rows {
        let error = row["max_error"].as_f64().unwrap();
        assert!(error.is_finite() && row["failed"] == 0, "{row}");
        assert_eq!(row["dt"], 1e-5);
    }
}

/// Ethanol that burns in one step, fast enough for the time the study follows it. The numbers are
/// no measured ones.
const ETHANOL: &str = "\
ELEMENTS
C H O N
END
SPECIES
C2H5OH O2 N2 CO2 H2O
END
THERMO ALL
   300.000  1000.000  5000.000
C2H5OH            MADE  C   2H   6O   1     G   300.000  5000.000 1000.000     1
 1.20000000E+01 0.00000000E+00 0.00000000E+00 0.00000000E+00 0.00000000E+00    2
-3.20000000E+04 1.00000000E+00 1.20000000E+01 0.00000000E+00 0.00000000E+00    3
 0.00000000E+00 0.00000000E+00-3.20000000E+04 1.00000000E+00                   4
O2                MADE  O   2               G   300.000  5000.000 1000.000     1
 4.00000000E+00 0.00000000E+00 0.00000000E+00 0.00000000E+00 0.00000000E+00    2
-1.20000000E+03 1.00000000E+00 4.00000000E+00 0.00000000E+00 0.00000000E+00    3
 0.00000000E+00 0.00000000E+00-1.20000000E+03 1.00000000E+00                   4
N2                MADE  N   2               G   300.000  5000.000 1000.000     1
 3.80000000E+00 0.00000000E+00 0.00000000E+00 0.00000000E+00 0.00000000E+00    2
-1.10000000E+03 1.00000000E+00 3.80000000E+00 0.00000000E+00 0.00000000E+00    3
 0.00000000E+00 0.00000000E+00-1.10000000E+03 1.00000000E+00                   4
CO2               MADE  C   1O   2          G   300.000  5000.000 1000.000     1
 6.00000000E+00 0.00000000E+00 0.00000000E+00 0.00000000E+00 0.00000000E+00    2
-4.90000000E+04 1.00000000E+00 6.00000000E+00 0.00000000E+00 0.00000000E+00    3
 0.00000000E+00 0.00000000E+00-4.90000000E+04 1.00000000E+00                   4
H2O               MADE  H   2O   1          G   300.000  5000.000 1000.000     1
 5.00000000E+00 0.00000000E+00 0.00000000E+00 0.00000000E+00 0.00000000E+00    2
-3.05000000E+04 1.00000000E+00 5.00000000E+00 0.00000000E+00 0.00000000E+00    3
 0.00000000E+00 0.00000000E+00-3.05000000E+04 1.00000000E+00                   4
END
REACTIONS
C2H5OH+3O2=>2CO2+3H2O   1.0E+22  0.0  0.0
END
";

/// Recombination of hydrogen atoms, in argon.
const CHEMKIN: &str = "\
ELEMENTS
H AR
END
SPECIES
H2 H AR
END
REACTIONS
2H+M<=>H2+M   1.0E+18  -1.0  0.0
END
";

/// Coefficients of this shape alone: the numbers are no measured gas.
const THERMO: &str = "\
THERMO
   300.000  1000.000  5000.000
H2                TPIS78H   2               G   300.000  5000.000 1000.000     1
 3.50000000E+00 0.00000000E+00 0.00000000E+00 0.00000000E+00 0.00000000E+00    2
-1.04000000E+03-3.90000000E+00 3.50000000E+00 0.00000000E+00 0.00000000E+00    3
 0.00000000E+00 0.00000000E+00-1.04000000E+03-3.90000000E+00                   4
H                 TPIS78H   1               G   300.000  5000.000 1000.000     1
 2.50000000E+00 0.00000000E+00 0.00000000E+00 0.00000000E+00 0.00000000E+00    2
 2.54700000E+04-4.60000000E-01 2.50000000E+00 0.00000000E+00 0.00000000E+00    3
 0.00000000E+00 0.00000000E+00 2.54700000E+04-4.60000000E-01                   4
AR                TPIS78AR  1               G   300.000  5000.000 1000.000     1
 2.50000000E+00 0.00000000E+00 0.00000000E+00 0.00000000E+00 0.00000000E+00    2
-7.45000000E+02 4.37000000E+00 2.50000000E+00 0.00000000E+00 0.00000000E+00    3
 0.00000000E+00 0.00000000E+00-7.45000000E+02 4.37000000E+00                   4
END
";

const CANTERA: &str = "\
units: {length: cm, quantity: mol, activation-energy: cal/mol}
phases:
- name: gas
  thermo: ideal-gas
  elements: [H, Ar]
  species: [H2, H, AR]
  kinetics: gas
species:
- name: H2
  composition: {H: 2}
  thermo:
    model: NASA7
    temperature-ranges: [300.0, 1000.0, 5000.0]
    data:
    - [3.5, 0.0, 0.0, 0.0, 0.0, -1.04e+03, -3.9]
    - [3.5, 0.0, 0.0, 0.0, 0.0, -1.04e+03, -3.9]
- name: H
  composition: {H: 1}
  thermo:
    model: NASA7
    temperature-ranges: [300.0, 1000.0, 5000.0]
    data:
    - [2.5, 0.0, 0.0, 0.0, 0.0, 2.547e+04, -0.46]
    - [2.5, 0.0, 0.0, 0.0, 0.0, 2.547e+04, -0.46]
- name: AR
  composition: {Ar: 1}
  thermo:
    model: NASA7
    temperature-ranges: [300.0, 1000.0, 5000.0]
    data:
    - [2.5, 0.0, 0.0, 0.0, 0.0, -745.0, 4.37]
    - [2.5, 0.0, 0.0, 0.0, 0.0, -745.0, 4.37]
reactions:
- equation: 2 H + M <=> H2 + M
  type: three-body
  rate-constant: {A: 1.0e+18, b: -1.0, Ea: 0.0}
";
