//! What YAML mechanisms say that is easily mistaken, or that Cantera does not read.

use odeum_kinetics::Kinetics;
use odeum_kinetics::mechanism::{Blending, Rate, Thermo};
use odeum_kinetics::read::{self, Read, ReadErrors};

const ELEMENTARY: &str = "equation: H + O2 <=> O + OH";
const FALLOFF: &str = "equation: H + O2 (+M) <=> HO2 (+M), type: falloff, \
                       low-P-rate-constant: {A: 1e18, b: 0, Ea: 0}, high-P-rate-constant: {A: 1e13, b: 0, Ea: 0}";
const PLOG: &str = "type: pressure-dependent-Arrhenius, \
                    rate-constants: [{P: 1 atm, A: 1e13, b: 0, Ea: 0}]";
const CHEBYSHEV: &str = "type: Chebyshev, temperature-range: [300, 2000], \
                         pressure-range: [1 atm, 2 atm], data: [[8]]";
const K: &str = "rate-constant: {A: 1e13, b: 0, Ea: 0}";

/// With further entries of the phase, and reactions between the brackets of a mapping.
fn mechanism(phase: &str, reactions: &[&str]) -> Result<Read, ReadErrors> {
    read::yaml("f.yaml", &mechanism_text(phase, reactions), None)
}

fn mechanism_text(phase: &str, reactions: &[&str]) -> String {
    let atoms = ["H: 1", "H: 2", "O: 1", "O: 2", "H: 1, O: 1", "H: 1, O: 2", "Ar: 1"];
    let mut text = format!(
        "units: {{length: cm, quantity: mol}}\nphases:\n- {{name: gas, thermo: ideal-gas, kinetics: gas{phase}}}\n\
         species:\n"
    );
    for (name, atoms) in ["H", "H2", "O", "O2", "OH", "HO2", "AR"].iter().zip(atoms) {
        text += &format!(
            "- {{name: {name}, composition: {{{atoms}}}, \
             thermo: {{model: constant-cp, cp0: 29.1 J/mol/K}}}}\n"
        );
    }
    text += "reactions:\n";
    for reaction in reactions {
        text += &format!("- {{{reaction}}}\n");
    }
    text
}

/// The one problem of a mechanism.
fn problem(phase: &str, reactions: &[&str]) -> String {
    let errors = mechanism(phase, reactions).expect_err(&reactions.join("\n"));
    assert_eq!(errors.problems.len(), 1, "{errors}");
    errors.problems[0].to_string()
}

#[test]
fn units_within_rate_constants_are_refused() {
    for reaction in [
        format!("{ELEMENTARY}, rate-constant: {{A: 1e13, b: 0, Ea: 0, units: {{length: m}}}}"),
        format!("{ELEMENTARY}, rate-constant: {{A: 1e13, b: 0, Ea: 0, units: nonsense}}"),
        FALLOFF.replacen("Ea: 0}", "Ea: 0, units: {quantity: kmol}}", 1),
        format!(
            "{ELEMENTARY}, type: pressure-dependent-Arrhenius, \
             rate-constants: [{{P: 1 atm, A: 1e13, b: 0, Ea: 0, units: {{length: m}}}}]"
        ),
    ] {
        let problem = problem("", &[&reaction]);
        assert!(problem.contains("'units' within a rate constant"), "{problem}");
    }
    // Of the reaction they count.
    let reaction = format!("{ELEMENTARY}, units: {{quantity: kmol}}, {K}");
    assert!(mechanism("", &[&reaction]).unwrap().warnings.is_empty());
}

/// Cantera takes no such species; CHEMKIN's colliders are called so, too.
#[test]
fn a_species_called_as_any_collider_is_told() {
    let of = |reaction: &str| {
        let text = mechanism_text("", &[reaction]).replace("name: O,", "name: M,");
        read::yaml("f.yaml", &text, None).unwrap().warnings
    };
    let warnings = of(&format!("equation: H + H + M <=> H2 + M, {K}"));
    assert_eq!(warnings.len(), 1, "{warnings:?}");
    let told = warnings[0].to_string();
    assert!(told.contains("M is any collider here, and a species") && told.contains("f.yaml:"));
    // Without such a collider it is a species as others are.
    for alone in ["equation: H + H <=> H2", "equation: H + H + AR <=> H2 + AR"] {
        assert!(of(&format!("{alone}, {K}")).is_empty(), "{alone}");
    }
}

#[test]
fn fields_of_another_law_are_told() {
    let troe = "Troe: {A: 0.5, T3: 100, T1: 1000}";
    for (reaction, unused) in [
        (format!("{ELEMENTARY}, {K}, {troe}"), "Troe"),
        (format!("{ELEMENTARY}, {K}, rate-constants: []"), "rate-constants"),
        (format!("equation: H + M + H <=> H2 + M, {K}, low-P-{K}"), "low-P-rate-constant"),
        (format!("{FALLOFF}, {K}"), "rate-constant"),
        (format!("{FALLOFF}, temperature-range: [300, 2000]"), "temperature-range"),
        (
            format!(
                "{ELEMENTARY}, type: pressure-dependent-Arrhenius, {K}, \
                 rate-constants: [{{P: 1 atm, A: 1e13, b: 0, Ea: 0}}]"
            ),
            "rate-constant",
        ),
        (
            format!(
                "{ELEMENTARY}, type: Chebyshev, temperature-range: [300, 2000], {K}, \
                 pressure-range: [1 atm, 2 atm], data: [[8]]"
            ),
            "rate-constant",
        ),
    ] {
        let read = mechanism("", &[&reaction]).unwrap_or_else(|e| panic!("{reaction}: {e}"));
        let warnings: Vec<&str> = read.warnings.iter().map(|w| w.found.as_str()).collect();
        assert_eq!(warnings, [format!("the field '{unused}' is not used")], "{reaction}");
    }
    let read = mechanism("", &[&format!("{FALLOFF}, {troe}")]).unwrap();
    assert!(read.warnings.is_empty(), "{:?}", read.warnings);
}

/// A mark is of the equation, as in Cantera: laws, colliders, orders and directions may differ.
#[test]
fn marked_reactions_of_one_equation() {
    let falloff = format!("type: falloff, low-P-{K}, high-P-{K}");
    let same = [
        format!("equation: 2 OH <=> H2 + O2, {K}"),
        format!("equation: 2 OH => H2 + O2, {K}, orders: {{OH: 0.5}}"),
        format!("equation: H2 + O2 => 2 OH, {K}"),
        format!("equation: OH <=> 0.5 H2 + 0.5 O2, {K}"),
        format!("equation: 2 OH + M <=> H2 + O2 + M, {K}"),
        format!("equation: 2 OH + AR <=> H2 + O2 + AR, {K}"),
        format!("equation: 2 OH (+M) <=> H2 + O2 (+M), {falloff}"),
        format!("equation: H2 + O2 (+AR) => 2 OH (+AR), {falloff}, Troe: {{A: 1, T3: 9, T1: 99}}"),
        "equation: H2 + O2 <=> 2 OH, type: pressure-dependent-Arrhenius, \
         rate-constants: [{P: 1 atm, A: 1e13, b: 0, Ea: 0}]"
            .to_owned(),
        "equation: 2 OH => H2 + O2, type: Chebyshev, temperature-range: [300, 2000], \
         pressure-range: [1 atm, 2 atm], data: [[8]]"
            .to_owned(),
    ]
    .map(|reaction| reaction + ", duplicate: true");
    let other = format!("equation: H + O2 <=> O + OH, {K}");
    for (i, one) in same.iter().enumerate() {
        for again in &same[i..] {
            mechanism("", &[one, again]).unwrap_or_else(|e| panic!("{one}\n{again}\n{e}"));
        }
        let found = problem("", &[one, &other]);
        assert!(found.contains("marked as a duplicate, but no other"), "{found}");
        for unmarked in &same {
            let unmarked = unmarked.replace(", duplicate: true", "");
            let found = problem("", &[one, &unmarked]);
            assert!(found.contains("mark both") || found.contains("mark the other"), "{found}");
        }
    }
}

#[test]
fn merge_keys_are_refused() {
    let merged = format!("{ELEMENTARY}, <<: {{{K}}}");
    assert!(problem("", &[&merged]).contains("a merge key '<<'"), "{}", problem("", &[&merged]));
}

/// Cantera 3.2 reads 05000 as 2560.
#[test]
fn whole_numbers_that_begin_with_zero_are_refused() {
    for reaction in [
        format!("{ELEMENTARY}, rate-constant: {{A: 1e13, b: 0, Ea: 05000}}"),
        format!("{ELEMENTARY}, rate-constant: [0100, 0, 0]"),
        format!("equation: 2 H + M <=> H2 + M, {K}, efficiencies: {{AR: 010}}"),
    ] {
        assert!(problem("", &[&reaction]).contains("octal"), "{reaction}");
    }
    let state = problem(", state: {T: 300, P: 1 atm, X: {H2: 010}}", &[]);
    assert!(state.contains("octal"), "{state}");
    // Text, which Cantera reads as decimal.
    for reaction in [
        format!("{ELEMENTARY}, rate-constant: {{A: 1e13, b: 0, Ea: 05000 J/mol}}"),
        format!("equation: 010 H2 <=> 020 H, {K}"),
    ] {
        mechanism("", &[&reaction]).unwrap_or_else(|e| panic!("{reaction}: {e}"));
    }
}

#[test]
fn reactions_with_m_beside_a_named_collider() {
    let both = [
        &*format!("equation: 2 H + M <=> H2 + M, {K}"),
        &*format!("equation: 2 H + AR <=> H2 + AR, {K}"),
    ];
    let read =
        |choice: &str| mechanism(&format!(", explicit-third-body-duplicates: {choice}"), &both);
    for choice in ["", ", explicit-third-body-duplicates: warn"] {
        assert_eq!(mechanism(choice, &both).unwrap().warnings.len(), 1, "{choice}");
    }
    let errors = read("error").unwrap_err();
    assert!(errors.problems[0].found.contains("AR counts as collider here"), "{errors}");
    for choice in ["bogus", "Warn", "[]"] {
        let errors = read(choice).unwrap_err();
        assert_eq!(errors.problems.len(), 1, "{errors}");
        assert!(errors.problems[0].found.contains("explicit-third-body-duplicates"), "{errors}");
    }
    let marked = read("mark-duplicate").unwrap().mechanism;
    assert!(marked.reactions.iter().all(|reaction| reaction.duplicate));
    let read = read("modify-efficiency").unwrap().mechanism;
    assert_eq!(read.reactions[0].third_body.as_ref().unwrap().efficiencies, [(6, 0.0)]);
}

/// `write_yaml` of Cantera 3.2 writes an efficiency of one of a collider that a tabulated rate has in memory.
#[test]
fn a_named_collider_of_a_table_is_one_more_factor() {
    for table in [PLOG, CHEBYSHEV] {
        let with = |more: &str| format!("equation: 2 H + AR <=> H2 + AR, {table}{more}");
        let read =
            |more: &str| mechanism("", &[&with(more)]).unwrap_or_else(|e| panic!("{more}: {e}"));
        let plain = read("").mechanism;
        assert_eq!(plain.reactions[0].orders, [(0, 2.0), (6, 1.0)]);
        for more in [", efficiencies: {AR: 1.0}", ", efficiencies: {AR: 1}, default-efficiency: 0"]
        {
            assert_eq!(read(more).mechanism, plain, "{more}");
        }
        for more in [
            ", efficiencies: {AR: 2.0}",
            ", efficiencies: {O: 1.0}",
            ", efficiencies: {AR: 1.0, O: 1.0}",
            ", efficiencies: {AR: 1.0}, default-efficiency: 1",
        ] {
            let problem = problem("", &[&with(more)]);
            assert!(problem.contains("efficiencies in a tabulated rate"), "{problem}");
            assert!(problem.contains("remove them"), "{problem}");
        }
    }
}

#[test]
fn reactions_of_undeclared_colliders_are_skipped() {
    let skip = ", skip-undeclared-third-bodies: true";
    let elementary = format!("{ELEMENTARY}, {K}");
    for reaction in [
        format!("equation: 2 H + HE <=> H2 + HE, {K}"),
        format!("equation: 2 H + HE <=> H2 + HE, type: three-body, {K}"),
        format!("equation: 2 H + HE <=> H2 + HE, efficiencies: {{HE: 2}}, {K}"),
        FALLOFF.replace("+M", "+HE"),
    ] {
        let read = mechanism(skip, &[&reaction, &elementary]).unwrap_or_else(|e| panic!("{e}"));
        assert_eq!(read.mechanism.n_reactions(), 1, "{reaction}");
        assert!(problem("", &[&reaction, &elementary]).contains("'HE' is not a species"));
    }
    let generic = format!("equation: 2 H + M <=> H2 + M, efficiencies: {{HE: 2, AR: 3}}, {K}");
    let read = mechanism(skip, &[&generic]).unwrap().mechanism;
    assert_eq!(read.reactions[0].third_body.as_ref().unwrap().efficiencies, [(6, 3.0)]);
}

/// As Cantera 3.2: a reaction is left out where a species of its equation or of its orders is not declared, but a collider
/// that is not has to be said to be left out.
#[test]
fn reactions_of_declared_species() {
    let declared = ", reactions: declared-species";
    let skip = format!("{declared}, skip-undeclared-third-bodies: true");
    let elementary = format!("{ELEMENTARY}, {K}");
    for reaction in [
        format!("equation: H + HE => H2, {K}"),
        format!("equation: H + HE + AR => H2 + AR, {K}"),
        format!("equation: 2 H + HE <=> H2 + HE, type: elementary, {K}"),
        format!("equation: H + O2 + HE <=> O + OH + HE, {K}, type: elementary"),
        format!("{ELEMENTARY}, orders: {{HE: 0.5}}, nonreactant-orders: true, {K}")
            .replace("<=>", "=>"),
        "equation: H + HE <=> H2, type: unheard-of".to_owned(),
        FALLOFF.replace("H + O2", "HE + O2"),
    ] {
        for phase in [declared, &skip] {
            let read =
                mechanism(phase, &[&reaction, &elementary]).unwrap_or_else(|e| panic!("{e}"));
            assert_eq!(read.mechanism.n_reactions(), 1, "{reaction}");
        }
    }
    for reaction in [
        format!("equation: 2 H + HE <=> H2 + HE, {K}"),
        format!("equation: 2 H + HE <=> H2 + HE, type: three-body, {K}"),
        format!("equation: 2 H + HE <=> H2 + HE, efficiencies: {{HE: 2}}, {K}"),
        FALLOFF.replace("+M", "+HE"),
        format!("equation: 2 H + HE <=> H2 + HE, {PLOG}"),
    ] {
        let errors = mechanism(declared, &[&reaction, &elementary]).unwrap_err();
        assert!(errors.problems[0].found.contains("'HE' is not a species"), "{errors}");
        let read = mechanism(&skip, &[&reaction, &elementary]).unwrap_or_else(|e| panic!("{e}"));
        assert_eq!(read.mechanism.n_reactions(), 1, "{reaction}");
    }
}

/// Cantera 3.2 reads no reaction of them.
#[test]
fn names_of_sections_beside_mappings_are_refused() {
    let elementary = format!("{ELEMENTARY}, {K}");
    for list in ["{reactions: all}, extra", "extra, {reactions: declared-species}"] {
        let told = problem(&format!(", reactions: [{list}]"), &[&elementary]);
        assert!(
            told.contains("'extra' in 'reactions', beside") && told.contains(": all'"),
            "{told}"
        );
    }
    assert!(mechanism(", reactions: [{reactions: all}]", &[&elementary]).is_ok());
    assert!(mechanism(", reactions: [reactions]", &[&elementary]).is_ok());
}

/// Electrons count as other elements where species of undeclared elements are left out, and belong to the phase where they
/// are not.
#[test]
fn ions_without_a_declared_electron() {
    let species = |phase: &str| {
        let thermo = "thermo: {model: constant-cp, cp0: 29.1 J/mol/K}";
        let mut text = format!("phases:\n- {{name: gas, thermo: ideal-gas{phase}}}\nspecies:\n");
        for (name, atoms) in [
            ("H", "H: 1"),
            ("H+", "H: 1, E: -1"),
            ("e-", "E: 1"),
            ("N", "N: 1"),
            ("H-", "E: 1, H: 1"),
        ] {
            text += &format!("- {{name: {name}, composition: {{{atoms}}}, {thermo}}}\n");
        }
        let read = read::yaml("f.yaml", &text, None).unwrap_or_else(|e| panic!("{e}"));
        let species = read.mechanism.species.into_iter();
        species.map(|species| species.name).collect::<Vec<_>>().join(" ")
    };
    let skip = "skip-undeclared-elements: true";
    assert_eq!(species(&format!(", elements: [H], {skip}")), "H");
    assert_eq!(species(&format!(", elements: [H, E], {skip}")), "H H+ e- H-");
    assert_eq!(species(", elements: [H, N]"), "H H+ e- N H-");
    assert_eq!(species(&format!(", {skip}")), "H H+ e- N H-");
}

/// With cp/R below one a gas has no heat capacity at constant volume.
#[test]
fn heat_capacities_below_the_gas_constant_are_told() {
    let read = |thermo: &str| {
        let text = format!(
            "phases:\n- {{name: gas, thermo: ideal-gas}}\nspecies:\n\
             - {{name: N2, composition: {{N: 2}}, thermo: {{{thermo}}}}}\n"
        );
        read::yaml("f.yaml", &text, None).unwrap().warnings
    };
    let nasa = |cp: f64| {
        let a = format!("[{cp}, 0, 0, 0, 0, 0, 0]");
        format!(
            "model: NASA7, temperature-ranges: [200, 1000, 3000], data: [[3.5, 0, 0, 0, 0, 0, 0], {a}]"
        )
    };
    for thermo in [
        "model: constant-cp".to_owned(),
        "model: constant-cp, cp0: 8 J/mol/K".to_owned(),
        "model: constant-cp, cp0: 8.31446261815324 J/mol/K".to_owned(),
        nasa(0.9),
        nasa(-3.5),
        "model: Shomate, temperature-ranges: [298, 1000], data: [[5, 0, 0, 0, 0, 0, 0]]".to_owned(),
        "model: NASA9, temperature-ranges: [200, 1000], data: [[0, 0, 0.5, 0, 0, 0, 0, 0, 0]]"
            .to_owned(),
    ] {
        let found = read(&thermo);
        let told = found.iter().any(|w| w.subject == "N2" && w.found.starts_with("cp/R = "));
        assert!(told, "{thermo}: {found:?}");
    }
    assert!(read("model: constant-cp, cp0: 20.8 J/mol/K").is_empty());
}

/// No reactor could start, and the range that messages gave was from 2000 to 1000 K.
#[test]
fn data_that_have_no_temperature_in_common_are_told() {
    let warnings = |of_h: &str, of_h2: &str| {
        let species = |name: &str, atoms: &str, temperatures: &str| {
            let data = "data: [[2.5, 0, 0, 0, 0, 0, 0]]";
            let thermo = format!("{{model: NASA7, temperature-ranges: [{temperatures}], {data}}}");
            format!("- {{name: {name}, composition: {{H: {atoms}}}, thermo: {thermo}}}\n")
        };
        let text = format!(
            "phases:\n- {{name: gas, thermo: ideal-gas}}\nspecies:\n{}{}",
            species("H", "1", of_h),
            species("H2", "2", of_h2)
        );
        read::yaml("f.yaml", &text, None).unwrap().warnings
    };
    for (of_h, of_h2) in [("2000, 3000", "300, 1000"), ("1000, 3000", "300, 1000")] {
        let told = warnings(of_h, of_h2);
        assert_eq!(told.len(), 1, "{told:?}");
        assert_eq!((told[0].subject.as_str(), told[0].line), ("H", 4), "{told:?}");
        assert!(told[0].found.contains("those of H2 end at 1000 K"), "{told:?}");
    }
    assert!(warnings("999, 3000", "300, 1000").is_empty());
}

/// One bar in atm is rounded; as two pressures the rates of one were left out on either side.
#[test]
fn pressures_of_a_table_in_several_units_are_one() {
    let row = |pressure: &str| format!("{{P: {pressure}, A: 1e13, b: 0, Ea: 0}}");
    let rows =
        ["1 bar", "0.986923266716013 atm", "750.06168270417 Torr", "1.01 bar"].map(row).join(", ");
    let reaction =
        format!("{ELEMENTARY}, type: pressure-dependent-Arrhenius, rate-constants: [{rows}]");
    let read = mechanism("", &[&reaction]).unwrap();
    let Rate::Plog(points) = &read.mechanism.reactions[0].rate else { panic!("{read:?}") };
    let rates: Vec<usize> = points.iter().map(|point| point.rates.len()).collect();
    assert_eq!(rates, [3, 1], "{points:?}");
}

#[test]
fn orders_of_colliders_need_a_type() {
    let reaction = format!("equation: H + O2 + AR => HO2 + AR, orders: {{AR: 0.5}}, {K}");
    let problem = problem("", &[&reaction]);
    assert!(problem.contains("third body") && problem.contains("type: elementary"), "{problem}");
    let elementary = mechanism("", &[&format!("{reaction}, type: elementary")]).unwrap();
    let reaction = &elementary.mechanism.reactions[0];
    assert!(reaction.third_body.is_none() && reaction.orders.contains(&(6, 0.5)), "{reaction:?}");
}

/// Cantera has a factor of the collider beside the one of its order; here the order took its place, with success.
#[test]
fn orders_of_colliders_of_a_table_are_refused() {
    for table in [PLOG, CHEBYSHEV] {
        for equation in [
            "HO2 + H => OH + O + H, nonreactant-orders: true",
            "HO2 + H => OH + O + H",
            "HO2 + 2 H => OH + O + 2 H, efficiencies: {H: 1.0}",
            "HO2 + H + H2 => OH + O + H + H2, efficiencies: {H: 1.0}",
        ] {
            let problem =
                problem("", &[&format!("equation: {equation}, orders: {{H: 0.5}}, {table}")]);
            assert!(
                problem.contains("an order of H, which is taken for a third body"),
                "{problem}"
            );
            assert!(problem.contains("leave the order out"), "{problem}");
        }
        // No collider: two species stand on both sides.
        let equation = "HO2 + 2 H => OH + O + 2 H, orders: {H: 0.5}";
        let read = mechanism("", &[&format!("equation: {equation}, {table}")]).unwrap();
        assert!(read.mechanism.reactions[0].orders.contains(&(0, 0.5)), "{table}");
    }
}

#[test]
fn reactions_of_surfaces_without_a_type_are_told_as_such() {
    let problem = problem("", &["equation: H + H => H2, sticking-coefficient: [1.0, 0, 0]"]);
    assert!(problem.contains("'sticking-Arrhenius' is not supported"), "{problem}");
    assert!(problem.contains("surface reactions"), "{problem}");
}

/// As in Cantera: exp(−T/c) of c = 0 is no one.
#[test]
fn a_term_of_sri_whose_c_is_zero_is_none() {
    let reaction = format!("{FALLOFF}, SRI: {{A: 0.5, B: 300, C: 0, D: 1.2, E: 0.1}}");
    let kinetics = Kinetics::new(&mechanism("", &[&reaction]).unwrap().mechanism).unwrap();
    let (mut k, mut work) = ([0.0], vec![0.0; kinetics.workspace()]);
    let t = 1000.0_f64;
    kinetics.forward_rate_constants(t, &[0.01; 7], &mut k, &mut work);
    let pr = 1e12 * 0.07 / 1e10_f64;
    let xi = 1.0 / (1.0 + pr.log10().powi(2));
    let f = 1.2 * (0.5 * (-300.0 / t).exp()).powf(xi) * t.powf(0.1);
    let expected = 1e10 * pr / (1.0 + pr) * f;
    assert!((k[0] / expected - 1.0).abs() < 1e-13, "{} and not {expected}", k[0]);
}

/// Heat capacities and entropies have the unit of energy of the file, as enthalpies have.
#[test]
fn data_of_constant_heat_capacities_have_the_units_of_the_file() {
    let text = "units: {energy: cal, quantity: mol}\n\
                phases: [{name: gas, thermo: ideal-gas}]\n\
                species:\n- {name: AR, composition: {Ar: 1}, \
                thermo: {model: constant-cp, h0: 1000, s0: 10, cp0: 5}}\n";
    let read = read::yaml("f.yaml", text, None).unwrap();
    let Thermo::ConstantCp { h0, s0, cp0, .. } = read.mechanism.species[0].thermo else {
        panic!("{:?}", read.mechanism.species[0].thermo)
    };
    for (found, calories) in [(h0, 1000.0), (s0, 10.0), (cp0, 5.0)] {
        assert!((found / (calories * 4184.0) - 1.0).abs() < 1e-15, "{found}");
    }
}

/// As in Cantera: exp(−T2/T) of T2 = 0 is no one.
#[test]
fn a_term_of_troe_whose_t2_is_zero_is_none() {
    let reaction = |t2: &str| format!("{FALLOFF}, Troe: {{A: 0.5, T3: 100, T1: 1000{t2}}}");
    for (t2, warnings) in [("", 0), (", T2: 0", 1), (", T2: 0.0", 1)] {
        let read = mechanism("", &[&reaction(t2)]).unwrap();
        let Rate::Falloff { blending, .. } = &read.mechanism.reactions[0].rate else { panic!() };
        assert_eq!(*blending, Blending::Troe { a: 0.5, t3: 100.0, t1: 1000.0, t2: None }, "{t2}");
        assert_eq!(read.warnings.len(), warnings, "{t2}");
    }
}

#[test]
fn limits_that_are_both_negative_are_refused_unless_they_are_meant() {
    let reaction = FALLOFF.replace("A: 1e", "A: -1e");
    assert!(problem("", &[&reaction]).contains("negative pre-exponential factor"));
    assert!(mechanism("", &[&format!("{reaction}, negative-A: true")]).is_ok());
}

/// Below the lowest and above the highest pressure of a table the rate is that of the end, as in Cantera.
#[test]
fn tables_of_pressures_hold_beyond_their_ends() {
    let reaction = format!(
        "{ELEMENTARY}, type: pressure-dependent-Arrhenius, rate-constants: \
         [{{P: 1 bar, A: 1e13, b: 0, Ea: 0}}, {{P: 10 bar, A: 1e14, b: 0, Ea: 0}}]"
    );
    let kinetics = Kinetics::new(&mechanism("", &[&reaction]).unwrap().mechanism).unwrap();
    let mut work = vec![0.0; kinetics.workspace()];
    for (bars, expected) in [(0.01, 1e10), (1.0, 1e10), (10.0, 1e11), (1000.0, 1e11)] {
        let c = bars * 1e5 / (read::GAS_CONSTANT * 1000.0) / 7.0;
        let mut k = [0.0];
        kinetics.forward_rate_constants(1000.0, &[c; 7], &mut k, &mut work);
        assert!((k[0] / expected - 1.0).abs() < 1e-9, "{bars} bar: {}", k[0]);
    }
}
