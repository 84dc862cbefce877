//! What Chemkin texts mean where it is easily mistaken.

use odeum_kinetics::Mechanism;
use odeum_kinetics::mechanism::{Blending, Rate, Thermo};
use odeum_kinetics::read::{self, Named, ReadErrors};

/// Three lines of coefficients.
const COEFFICIENTS: &str =
    " 3.03399249E+00 2.17691804E-03-1.64072518E-07-9.70419870E-11 1.68200992E-14    2
-3.00042971E+04 4.96677010E+00 4.19864056E+00-2.03643410E-03 6.52040211E-06    3
-5.48797062E-09 1.77197817E-12-3.02937267E+04-8.49032208E-01                   4
";

/// A mechanism with the data of its species (name, atoms, what follows column 80).
fn text(species: &[(&str, &str, &str)], reactions: &str) -> String {
    let names: Vec<&str> = species.iter().map(|s| s.0).collect();
    let mut text = format!(
        "ELEMENTS H O AR E END\nSPECIES {} END\nTHERMO ALL\n 300. 1000. 5000.\n",
        names.join(" ")
    );
    for (name, atoms, beyond) in species {
        let temperatures = "G   200.000  3500.000  1000.000    1";
        text += &format!("{name:24}{atoms:20}{temperatures}{beyond}\n{COEFFICIENTS}");
    }
    text + "END\n" + reactions
}

const SPECIES: [(&str, &str, &str); 6] = [
    ("H", "H   1", ""),
    ("H2", "H   2", ""),
    ("O", "O   1", ""),
    ("OH", "H   1O   1", ""),
    ("H2O", "H   2O   1", ""),
    ("AR", "AR  1", ""),
];

fn mechanism(text: &str) -> Result<Mechanism, ReadErrors> {
    read::chemkin(Named { file: "f.inp", text }, None).map(|read| read.mechanism)
}

/// A [SI] and Ea/R \[K\] of all reactions.
fn constants(text: &str) -> Vec<(f64, f64)> {
    let mechanism = mechanism(text).unwrap_or_else(|e| panic!("{e}"));
    let constants = mechanism.reactions.iter().map(|reaction| match &reaction.rate {
        Rate::Arrhenius(k) => (k.a, k.ta),
        other => panic!("{other:?}"),
    });
    constants.collect()
}

#[test]
fn units_are_those_of_their_section() {
    let first = "REACTIONS\nH2+O=H+OH 1e13 0 10000.\nEND\n";
    for second in [
        "REACTIONS KCAL/MOLE\nH2O+O=OH+OH 1e13 0 10.\nEND\n",
        "REACTIONS MOLECULES\nH2O+O=OH+OH 1.6605390671738466e-11 0 10000.\nEND\n",
        "REACTIONS\nH2O+O=OH+OH 1e13 0 10.\nUNITS/KCAL/MOLE\nEND\n",
        // Other words may follow.
        "REACTIONS\nH2O+O=OH+OH 1e13 0 0\nUNITS/KCAL/MOLE/ REV/1e13 0 10./\nEND\n",
        "REACTIONS\nH2O+O=OH+OH 1e13 0 0\nREV/1e13 0 10./ UNITS / KCAL/MOLE / FORD/O 1/\nEND\n",
    ] {
        for sections in [format!("{first}{second}"), format!("{second}{first}")] {
            for (a, ta) in constants(&text(&SPECIES, &sections)).into_iter().filter(|k| k.1 > 0.0) {
                assert!((a / 1e10 - 1.0).abs() < 1e-14, "{sections}: {a}");
                assert!((ta / (1e4 * 4184.0 / 8314.46261815324) - 1.0).abs() < 1e-14, "{ta}");
            }
        }
    }
    let stray = format!("{first}REACTIONS\nDUP\nH2O+O=OH+OH 1e13 0 10.\nEND\n");
    let errors = mechanism(&text(&SPECIES, &stray)).unwrap_err();
    assert!(errors.problems[0].found.contains("before any reaction"), "{errors}");
}

/// Chemkin looks at four letters of a unit.
#[test]
fn units_may_be_cut_to_four_letters() {
    for (short, long) in [
        ("CAL/", "CAL/MOLE"),
        ("KCAL", "KCAL/MOLE"),
        ("JOUL", "JOULES/MOLE"),
        ("KJOU", "KJOULES/MOLE"),
        ("KELV", "KELVINS"),
        ("EVOL", "EVOLTS"),
    ] {
        let with = |unit| {
            constants(&text(&SPECIES, &format!("REACTIONS {unit}\nH2+O=H+OH 1 0 10.\nEND\n")))
        };
        assert_eq!(with(short), with(long), "{short}");
    }
}

#[test]
fn brackets_with_a_plus_in_names_are_no_colliders() {
    let ions = [
        ("H", "H   1", ""),
        ("H2O", "H   2O   1", ""),
        ("H2O(+)", "H   2O   1E  -1", ""),
        ("OH(+)", "H   1O   1E  -1", ""),
    ];
    for reaction in ["H2O(+)+H2O=H+OH(+)+H2O", "H2O(+)+M=H+OH(+)+M"] {
        let text = text(&ions, &format!("REACTIONS\n{reaction} 1e13 0 0\nEND\n"));
        let read = mechanism(&text).unwrap_or_else(|e| panic!("{e}"));
        assert!(read.reactions[0].third_body.is_some(), "{reaction}");
        assert!((constants(&text)[0].0 / 1e10 - 1.0).abs() < 1e-14, "{reaction}");
    }
    // A falloff reaction of such a species is one by its (+M), and by (+X) where it is the collider.
    for collider in ["M", "H2O", "OH(+)"] {
        let equation = format!("H2O(+)(+{collider})=H+OH(+)(+{collider})");
        let falloff = format!("REACTIONS\n{equation} 1e13 0 0\nLOW/1e15 0 0/\nEND\n");
        let read = mechanism(&text(&ions, &falloff)).unwrap_or_else(|e| panic!("{e}"));
        assert!(matches!(read.reactions[0].rate, Rate::Falloff { .. }), "{equation}");
        let only = read.species_index(collider).map(|k| vec![(k, 1.0)]).unwrap_or_default();
        assert_eq!(read.reactions[0].third_body.as_ref().unwrap().efficiencies, only, "{equation}");
    }
}

#[test]
fn comments_after_column_80_are_no_atoms() {
    for beyond in
        ["! T 9/95 Burcat and Ruscic 2005", " ! C 12  H 34  O 56  78", "!C   1  C   1  C   1"]
    {
        let mut species = SPECIES;
        species[4].2 = beyond;
        let read = mechanism(&text(&species, "")).unwrap_or_else(|e| panic!("{beyond}: {e}"));
        assert_eq!(read.species[4].composition, [(0, 2.0), (1, 1.0)], "{beyond}");
    }
    // Atoms there count, with a comment or not; so do lines that go on.
    for beyond in [
        "AR   1    ",
        "AR   1    ! more",
        "&\nH 2 O 1 AR 1",
        "& ! more\nH 2 & ! hydrogen\nO 1 & ! oxygen\nAR 1",
    ] {
        let mut species = SPECIES;
        species[4].2 = beyond;
        let read = mechanism(&text(&species, "")).unwrap_or_else(|e| panic!("{beyond}: {e}"));
        assert_eq!(read.species[4].composition, [(0, 2.0), (1, 1.0), (2, 1.0)], "{beyond}");
    }
}

/// Readers differ in what they make of an element with two groups of atoms.
#[test]
fn an_element_twice_is_told() {
    let species = |atoms, beyond| {
        let mut species = SPECIES;
        (species[4].1, species[4].2) = (atoms, beyond);
        species
    };
    let wrong = [("H   2O   1H   1", ""), ("H   2O   1", "H    1    "), ("", "&\nH 2 O 1 H 1")];
    for (atoms, beyond) in wrong {
        for reactions in ["", "REACTIONS\nH2+OH=H2O+H 1e13 0 0\nEND\n"] {
            let errors = mechanism(&text(&species(atoms, beyond), reactions)).unwrap_err();
            let told = errors.problems.iter().find(|problem| problem.subject == "H2O");
            let told = told.unwrap_or_else(|| panic!("{errors}"));
            assert!(told.found.starts_with("the element H again, with 1 beside 2"), "{told}");
            assert_eq!(told.line, 21, "{told}");
        }
    }
    // The reactions that the species is in show that the sum is meant.
    for (atoms, beyond) in [("H   1O   1H   1", ""), ("", "&\nH 1 O 1 H 1")] {
        let text = text(&species(atoms, beyond), "REACTIONS\nH2+OH=H2O+H 1e13 0 0\nEND\n");
        let read = read::chemkin(Named { file: "f.inp", text: &text }, None);
        let read = read.unwrap_or_else(|e| panic!("{e}"));
        assert_eq!(read.mechanism.species[4].composition, [(0, 2.0), (1, 1.0)]);
        let found: Vec<&str> = read.warnings.iter().map(|told| told.found.as_str()).collect();
        assert!(found.iter().any(|found| found.contains("element H again")), "{found:?}");
    }
}

/// The two reactions of an entry with REV have one mark.
#[test]
fn an_entry_with_its_reverse_is_told_once() {
    let problems = |reactions: &str| {
        let read = mechanism(&text(&SPECIES, &format!("REACTIONS\n{reactions}\nEND\n")));
        read.map_or_else(|errors| errors.problems, |_| Vec::new())
    };
    let (entry, reverse) = ("H2+O=H+OH 1e13 0 0", "REV/1e12 0 0/");
    for (reactions, expected) in [
        (format!("{entry}\n{reverse} DUP"), "marked as a duplicate"),
        (format!("{entry}\n{reverse}\n{entry}\n{reverse}"), "the same reaction"),
    ] {
        let problems = problems(&reactions);
        assert_eq!(problems.len(), 1, "{problems:?}");
        assert!(problems[0].found.contains(expected), "{problems:?}");
        assert_eq!(problems[0].subject, "H2+O=H+OH");
    }
    // A partner of one of the two.
    let table = "H2+O=H+OH 1e13 0 0\nPLOG/1 1e13 0 0/";
    for partner in [entry, "H2+O=>H+OH 1e13 0 0", "H+OH=>H2+O 1e13 0 0", table] {
        for pair in [
            format!("{entry}\n{reverse} DUP\n{partner}\nDUP"),
            format!("{partner}\nDUP\n{entry}\n{reverse} DUP"),
        ] {
            assert_eq!(problems(&pair), [], "{pair}");
        }
    }
}

/// Efficiencies beside a collider that is named doubled the rate; Cantera leaves them out.
#[test]
fn efficiencies_need_a_third_body() {
    for (reaction, expected) in [
        ("2H+AR=H2+AR 1e16 0 0\nAR/2/", Some("beside the collider AR")),
        ("H+OH+H2O=H2O+H2O 1e16 0 0\nH2O/2/", Some("beside the collider H2O")),
        ("H+AR+H2O=H+AR+H2O 1e16 0 0\nAR/2/", Some("beside the collider AR")),
        ("H2+O=H+OH 1e16 0 0\nAR/2/", Some("without third body")),
        ("2H+AR=H2+AR 1e16 0 0", None),
        ("2H+M=H2+M 1e16 0 0\nAR/2/", None),
        ("2H(+AR)=H2(+AR) 1e16 0 0\nLOW/1e18 0 0/", None),
        ("2H(+M)=H2(+M) 1e16 0 0\nLOW/1e18 0 0/\nAR/2/", None),
    ] {
        let read = mechanism(&text(&SPECIES, &format!("REACTIONS\n{reaction}\nEND\n")));
        match (read, expected) {
            (Err(errors), Some(expected)) => {
                assert!(errors.problems[0].found.contains(expected), "{errors}");
            }
            (Ok(_), None) => {}
            (read, _) => panic!("{reaction}: {read:?}"),
        }
    }
}

/// An order of a species on both sides is its order in the rate; as a collider it multiplied the rate once more.
#[test]
fn a_species_with_an_order_is_no_collider() {
    let (forward, reverse) = ("OH+H+AR=>H2O+AR", "OH+H+AR=H2O+AR");
    for (equation, rates, first) in [
        (forward, "FORD/AR 0.5/", 2.5),
        (forward, "FORD/OH 0.5/", 2.5),
        (reverse, "FORD/AR 0.5/\nREV/1e13 0 0/", 2.5),
        (reverse, "RORD/AR 0.5/\nREV/1e13 0 0/", 3.0),
    ] {
        let text = text(&SPECIES, &format!("REACTIONS\n{equation} 1e13 0 0\n{rates}\nEND\n"));
        let read = mechanism(&text).unwrap_or_else(|e| panic!("{e}"));
        let collides = read.reactions[0].third_body.is_some();
        assert_eq!(collides, rates.contains("OH"), "{rates}");
        for (number, reaction) in read.reactions.iter().enumerate() {
            let order: f64 = reaction.orders.iter().map(|(_, order)| order).sum();
            let order = order + f64::from(u8::from(reaction.third_body.is_some()));
            let reversed = if rates.contains("RORD") { 1.5 } else { 2.0 };
            assert_eq!(order, if number == 0 { first } else { reversed }, "{rates}");
            // cm and mol in the file, m and kmol here.
            let Rate::Arrhenius(k) = &reaction.rate else { panic!("{rates}") };
            let expected = 1e13 * 1e-3_f64.powf(order - 1.0);
            assert!((k.a / expected - 1.0).abs() < 1e-14, "{rates}: {}", k.a);
        }
    }
}

#[test]
fn tables_of_rates_have_no_third_body() {
    for table in ["PLOG/1. 1e15 0 0/", "CHEB/1 1 1./"] {
        for equation in ["H+OH+M=H2O+M", "H+OH+m=H2O+m"] {
            let reactions = format!("REACTIONS\n{equation} 1e15 0 0\n{table}\nEND\n");
            let errors = mechanism(&text(&SPECIES, &reactions)).unwrap_err();
            let [problem] = &errors.problems[..] else { panic!("{errors}") };
            assert!(problem.found.contains("M in a tabulated rate"), "{errors}");
        }
    }
}

/// Without columns 66 to 73 the ranges join where the section says; a section without ALL that says nothing takes that from
/// the file of thermodynamic data.
#[test]
fn middle_temperatures_may_be_those_of_the_section() {
    let entry = |middle: &str| {
        let temperatures = format!("G   200.000  3500.000{middle:8}      1");
        format!("{:24}{:20}{temperatures}\n{COEFFICIENTS}", "H2O", "H   2O   1")
    };
    let middle = |own: &str, file: Option<&str>| {
        let text = format!("ELEMENTS H O END\nSPECIES H2O END\n{own}");
        let file = file.map(|text| Named { file: "therm.dat", text });
        let read = read::chemkin(Named { file: "f.inp", text: &text }, file)?;
        match &read.mechanism.species[0].thermo {
            Thermo::Nasa7(ranges) => Ok::<_, ReadErrors>(ranges[0].high),
            other => panic!("{other:?}"),
        }
    };
    let (blank, given) = (entry(""), entry(" 1000.00"));
    let section = |defaults: &str, entry: &str| format!("THERMO{defaults}\n{entry}END\n");
    for (defaults, expected) in [
        (" ALL\n 300. 900. 5000.", 900.0),
        (" ALL\n 300. 900. 5000. 1", 900.0),
        (" ALL\n   300.000   900.000  5000.000 of all species", 900.0),
        ("\n! of all\n 300. 900. 5000. ! K", 900.0),
    ] {
        assert_eq!(middle(&section(defaults, &blank), None), Ok(expected), "{defaults}");
        assert_eq!(middle(&section(defaults, &given), None), Ok(1000.0), "{defaults}");
        let file = section(defaults, &given);
        assert_eq!(middle(&section("", &blank), Some(&file)), Ok(expected), "{defaults}");
        let own = section("\n 300. 800. 5000.", &blank);
        assert_eq!(middle(&own, Some(&file)), Ok(800.0), "{defaults}");
        assert_eq!(middle("", Some(&section(defaults, &blank))), Ok(expected), "{defaults}");
    }
    for (defaults, after) in
        [("", "none after THERMO"), ("\n 300. 4000. 5000.", "that after THERMO is 4000")]
    {
        let message = middle(&section(defaults, &blank), None).unwrap_err().to_string();
        let expected = format!("H2O: no middle temperature in columns 66 to 73, and {after}");
        assert!(message.contains(&expected), "{message}");
    }
}

/// Their names are right: advice to correct them, or to put the lines elsewhere, went in circles.
#[test]
fn surfaces_are_told_as_such() {
    let gas = text(&SPECIES, "");
    let problems = |more: &str| {
        let errors = mechanism(&format!("{gas}{more}")).unwrap_err();
        errors.problems.iter().map(|problem| problem.to_string()).collect::<Vec<String>>()
    };
    for section in
        ["SITE/PT_SURF/ SDEN/2.72E-9/", "SITE SDEN/2.72E-9/", "BULK @PT_B/", "material W"]
    {
        let again = "SITE/OTHER/\nPT(O)\nEND\n";
        let found = problems(&format!("{section}\nPT(S) H(S)\nEND\n{again}REACTIONS\nEND\n"));
        let [problem] = &found[..] else { panic!("{found:?}") };
        assert!(problem.contains("is not supported; give the mechanism of the gas"), "{problem}");
    }
    for line in ["STICK", "COV/H 0 0 0/", "ENRGDEP/H 0 0 0/", "BOHM"] {
        let found = problems(&format!("REACTIONS\nH+OH=>H2O 1e10 0 0\n{line}\nEND\n"));
        let [problem] = &found[..] else { panic!("{found:?}") };
        assert!(problem.contains("leave the reaction out (Chemkin: surface"), "{problem}");
    }
    let found = problems("REACTIONS MWOFF\nH+OH=>H2O 1e10 0 0\nEND\n");
    assert!(found.len() == 1 && found[0].contains("sticking coefficients"), "{found:?}");
}

/// Without TCHEB and PCHEB a table is that of 300 to 2500 K and of 0.001 to 100 atm.
#[test]
fn chebyshev_tables_without_bounds_have_the_usual_ones() {
    let table = |bounds: &str| {
        let reactions = format!("REACTIONS\nH2+O=H+OH 1 0 0\n{bounds}CHEB/1 2 8. 0.5/\nEND\n");
        mechanism(&text(&SPECIES, &reactions)).unwrap_or_else(|e| panic!("{e}")).reactions[0]
            .rate
            .clone()
    };
    assert_eq!(table(""), table("TCHEB/300. 2500./ PCHEB/0.001 100./\n"));
    assert_eq!(table("TCHEB/400. 2000./\n"), table("TCHEB/400. 2000./ PCHEB/0.001 100./\n"));
    assert_ne!(table(""), table("PCHEB/0.01 100./\n"));
}

/// As in Cantera: exp(−T**/T) of T** = 0 is no one.
#[test]
fn a_fourth_parameter_of_troe_that_is_zero_is_none() {
    for troe in ["0.5 100. 1000.", "0.5 100. 1000. 0.", "0.5 100. 1000. 0"] {
        let reactions =
            format!("REACTIONS\nH+OH(+M)=H2O(+M) 1e13 0 0\nLOW/1e18 0 0/ TROE/{troe}/\nEND\n");
        let read = mechanism(&text(&SPECIES, &reactions)).unwrap_or_else(|e| panic!("{e}"));
        let Rate::Falloff { blending, .. } = &read.reactions[0].rate else { panic!("{troe}") };
        assert_eq!(*blending, Blending::Troe { a: 0.5, t3: 100.0, t1: 1000.0, t2: None }, "{troe}");
    }
}
