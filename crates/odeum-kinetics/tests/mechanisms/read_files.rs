//! Mechanisms of several files, and files that are none.

use std::fs;
use std::path::{Path, PathBuf};

use odeum_kinetics::mechanism::Rate;
use odeum_kinetics::read::{self, Named, ReadErrors, Selection};

/// A folder of its own for each test, removed at its end.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Folder {
        let path = std::env::temp_dir().join(format!("odeum-{}-{name}", std::process::id()));
        fs::create_dir_all(&path).unwrap();
        Folder(path)
    }

    fn write(&self, name: &str, text: &str) -> &Folder {
        let path = self.0.join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
        self
    }

    fn read(&self, name: &str, include: &[&str]) -> Result<read::Read, ReadErrors> {
        let include: Vec<PathBuf> = include.iter().map(|folder| self.0.join(folder)).collect();
        let selection = Selection { include: &include, ..Selection::default() };
        read::from_selection(&self.0.join(name), &selection)
    }

    /// The message of a file that is refused, without this folder in it.
    fn refused(&self, name: &str, include: &[&str]) -> String {
        let errors = self.read(name, include).expect_err(name);
        errors.to_string().replace(&format!("{}/", self.0.display()), "")
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

const OWN: &str = "
units: {length: cm, quantity: mol}
phases:
- name: gas
  thermo: ideal-gas
  elements: [{weights.yaml/heavy: [X]}, {default: [H]}]
  species:
  - data.yaml/species: [H2, H]
  - species: [HX]
  kinetics: gas
  reactions:
  - reactions: all
  - data.yaml/reactions: declared-species
species:
- {name: HX, composition: {H: 1, X: 1}, thermo: {model: constant-cp}}
reactions:
- {equation: 2 H => H2, rate-constant: [1e12, 0, 0]}
";

const DATA: &str = "
units: {length: m, quantity: kmol}
species:
- {name: H, composition: {H: 1}, thermo: {model: constant-cp}}
- {name: O, composition: {O: 1}, thermo: {model: constant-cp}}
- {name: H2, composition: {H: 2}, thermo: {model: constant-cp}}
reactions:
- {equation: H2 => 2 H, rate-constant: [1e12, 0, 0]}
- {equation: H + O + M => H + O + M, rate-constant: [1e12, 0, 0]}
- {equation: HX + H => HX + H, rate-constant: [1e12, 0, 0]}
";

const WEIGHTS: &str = "heavy: [{symbol: X, atomic-weight: 100}, {symbol: Y, atomic-weight: 1}]\n";

#[test]
fn sections_of_other_files() {
    let folder = Folder::new("sections");
    folder.write("a/own.yaml", OWN).write("a/data.yaml", DATA).write("b/weights.yaml", WEIGHTS);
    let read = folder.read("a/own.yaml", &["b"]).unwrap_or_else(|e| panic!("{e}"));
    let mechanism = read.mechanism;
    let names: Vec<&str> = mechanism.species.iter().map(|s| s.name.as_str()).collect();
    assert_eq!(names, ["H2", "H", "HX"]);
    assert_eq!(mechanism.elements[0].weight, 100.0);
    // Reactions of species that are not in the phase are left out; each file has its own units.
    let a = |r: usize| match &mechanism.reactions[r].rate {
        Rate::Arrhenius(k) => k.a.round(),
        _ => f64::NAN,
    };
    assert_eq!((mechanism.n_reactions(), a(0), a(1)), (3, 1e9, 1e12));
    // The file's own folder goes before the others, whose order counts.
    folder.write("b/data.yaml", "species: []\nreactions: []\n");
    folder.write("c/weights.yaml", &WEIGHTS.replace("100", "200"));
    let read = folder.read("a/own.yaml", &["none", "c", "b"]).unwrap();
    assert_eq!(read.mechanism.elements[0].weight, 200.0);
    assert_eq!(read.mechanism.n_reactions(), 3);
    // From the current folder, and by the whole path.
    let own = OWN.replace("weights.yaml", &folder.0.join("b/weights.yaml").display().to_string());
    folder.write("a/own.yaml", &own);
    assert!(folder.read("a/own.yaml", &[]).is_ok());
}

#[test]
fn problems_are_those_of_their_files() {
    let folder = Folder::new("problems");
    folder.write("own.yaml", OWN).write("weights.yaml", WEIGHTS);
    let data = DATA
        .replace("H2, composition: {H: 2}, thermo: {model: constant-cp}", "H2, composition: {H: 2}")
        .replace("=> 2 H, rate-constant: [1e12,", "=> 2 H, rate-constant: [1e12, 0,")
        .replace("equation: HX + H => HX + H", "equation: HX + H => HX + 2 H");
    folder.write("data.yaml", &data);
    let message = folder.refused("own.yaml", &[]);
    for expected in [
        "data.yaml:6: H2: no 'thermo'",
        "data.yaml:8: H2 => 2 H: a list of 4 numbers",
        "data.yaml:10: HX + H => HX + 2 H: not balanced: H 2 against 3",
        "3 problems",
    ] {
        assert!(message.contains(expected), "{expected}: {message}");
    }
    // Twice in two files.
    folder.write("data.yaml", &DATA.replace("H2 => 2 H,", "2 H => H2,"));
    let message = folder.refused("own.yaml", &[]);
    let expected = "data.yaml:8: 2 H => H2: the same reaction as that of line 17 of ";
    assert!(message.contains(expected) && message.contains("1 problem "), "{message}");
    // Names that are not there are told where they are asked for.
    folder.write("data.yaml", &DATA.replace("name: H2", "name: H3"));
    let message = folder.refused("own.yaml", &[]);
    assert!(message.contains("own.yaml:8: H2: no entry in the section 'species'"), "{message}");
    folder.write("data.yaml", &DATA.replace("species:\n", "others:\n"));
    let message = folder.refused("own.yaml", &[]);
    assert!(message.contains("own.yaml:8: phases: no section 'species' in data.yaml"), "{message}");
    assert!(!message.contains("no entry") && !message.contains("is not a species"), "{message}");
}

#[test]
fn files_that_cannot_be_had() {
    let folder = Folder::new("missing");
    folder.write("own.yaml", OWN).write("data.yaml", DATA);
    let message = folder.refused("own.yaml", &["b", "c"]);
    assert!(message.contains("own.yaml:6: phases: 'weights.yaml': no such file in "), "{message}");
    assert!(message.contains("b, ") && message.contains("to include"), "{message}");
    assert!(message.contains("1 problem "), "{message}");
    fs::create_dir_all(folder.0.join("weights.yaml")).unwrap();
    assert!(folder.refused("own.yaml", &[]).contains("no such file"));
    fs::remove_dir(folder.0.join("weights.yaml")).unwrap();
    for (text, expected) in [
        ("heavy: [", "weights.yaml:1: not YAML"),
        ("- 1\n", "weights.yaml:1: a list in place of a mechanism"),
        ("heavy: 7\n", "weights.yaml:1: heavy: the section is '7'"),
        ("", "weights.yaml:1: an empty file"),
        ("units: {length: s}\nheavy: []\n", "weights.yaml:1: units: 's' is no unit of length"),
    ] {
        let message = folder.write("weights.yaml", text).refused("own.yaml", &[]);
        assert!(message.contains(expected), "{text}: {message}");
    }
    // A text alone has no folder.
    let message = read::yaml("own.yaml", OWN, None).unwrap_err().to_string();
    assert!(message.contains("own.yaml:6: phases: 'weights.yaml': another file"), "{message}");
}

#[test]
fn files_that_are_no_mechanisms() {
    let folder = Folder::new("none");
    for (name, text, expected) in [
        ("empty.yaml", "", "an empty file"),
        ("blank.inp", "\n \n", "an empty file"),
        ("comments.yaml", "# phases:\n# - name: gas\n", "nothing but comments"),
        ("comments.inp", "! ELEMENTS\n", "nothing but comments"),
        ("list.yaml", "- H2\n- O2\n", "a list in place of a mechanism"),
        ("list", "- H2\n- O2\n", "a list in place of a mechanism"),
        ("word.yaml", "mechanism\n", "'mechanism' in place of a mechanism"),
        ("old.cti", "units(length='cm')\nideal_gas(name='gas')\n", "cti2yaml"),
        ("old", "#\nideal_gas(name='gas',\n          species='H2')\n", "cti2yaml"),
        ("old.xml", "<?xml version=\"1.0\"?>\n<ctml>\n</ctml>\n", "ctml2yaml"),
        ("letter", "Dear reader,\nREAD this\n", "neither Cantera YAML nor Chemkin"),
    ] {
        let message = folder.write(name, text).refused(name, &[]);
        assert!(message.contains(expected) && message.contains(name), "{name}: {message}");
        assert!(!message.contains("SPECIES\n"), "{name}: {message}");
    }
    assert!(read::from_path(Path::new("/nowhere/h2.yaml"), None, None).is_err());
}

/// As on the Macintosh of old.
#[test]
fn lines_may_end_in_carriage_returns_alone() {
    let folder = Folder::new("returns");
    let chemkin = include_str!("../../fuzz/corpus/chemkin/small.inp");
    for (name, text) in [("a.inp", chemkin), ("a.yaml", include_str!("../data/rate-laws.yaml"))] {
        let mechanism = |text: &str| {
            let read = read::from_text(Named { file: name, text }, None, None);
            let mut mechanism = read.unwrap_or_else(|e| panic!("{name}: {e}")).mechanism;
            mechanism.name.clear();
            mechanism
        };
        let expected = mechanism(text);
        let returns = text.replace('\n', "\r");
        assert_eq!(mechanism(&returns), expected);
        // Some lines alone.
        assert_eq!(mechanism(&text.replacen('\n', "\r", text.lines().count() / 2)), expected);
        folder.write(name, &returns);
        let read = read::from_path(&folder.0.join(name), None, None).unwrap();
        assert_eq!(read.mechanism.reactions, expected.reactions);
    }
}

#[test]
fn texts_are_read_as_files_are() {
    let small = include_str!("../../fuzz/corpus/chemkin/small.inp");
    let (start, end) = (small.find("THERMO").unwrap(), small.find("REACTIONS").unwrap());
    let data = &small[start..end];
    // Reactions know their lines.
    let alone = "\n".repeat(data.lines().count());
    let alone = format!("\u{feff}{}{alone}{}", &small[..start], &small[end..]);
    let thermo = Some(Named { file: "therm.dat", text: data });
    let whole = read::from_text(Named { file: "a.inp", text: small }, None, None).unwrap();
    let parts = read::from_text(Named { file: "a.inp", text: &alone }, thermo, None).unwrap();
    assert_eq!(whole.mechanism, parts.mechanism);
    let refused = |text: &str, thermo, phase| {
        read::from_text(Named { file: "f", text }, thermo, phase).unwrap_err().to_string()
    };
    assert!(refused(OWN, None, None).contains("which a text alone does not have"));
    assert!(refused(OWN, thermo, None).contains("beside a YAML mechanism"));
    assert!(refused(small, None, Some("gas")).contains("only one"));
    assert!(refused("! nothing", None, None).contains("comments"));
}
