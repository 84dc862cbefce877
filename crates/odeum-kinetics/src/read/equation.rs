//! Reaction equations, and the colliders in them.

use super::problem::quote;

/// Largest stoichiometric coefficient: beyond it no rate constant stays finite in SI.
const MAX_COEFFICIENT: f64 = 100.0;

/// (name, stoichiometric coefficient), each name once.
pub(crate) type Terms = Vec<(String, f64)>;

/// The two sides of an equation, by name.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Equation {
    /// Reactants; a generic collider `M` is among them until it is taken out.
    pub(crate) reactants: Terms,
    /// As `reactants`.
    pub(crate) products: Terms,
    /// Not `=>`.
    pub(crate) reversible: bool,
    /// X of `(+X)`.
    pub(crate) falloff: Option<String>,
}

impl Equation {
    /// Whether both sides have the collider `M`.
    pub(crate) fn has_generic(&self) -> bool {
        self.has_on_both_sides("M")
    }

    pub(crate) fn has_on_both_sides(&self, name: &str) -> bool {
        count(&self.reactants, name) > 0.0 && count(&self.products, name) > 0.0
    }
}

/// Adds a term to a side.
pub(crate) fn add(terms: &mut Terms, name: &str, coefficient: f64) -> Result<(), String> {
    if !(coefficient > 0.0 && coefficient <= MAX_COEFFICIENT) {
        return Err(format!(
            "the stoichiometric coefficient {coefficient} of {}: it must be above 0 and at most \
             {MAX_COEFFICIENT}",
            quote(name)
        ));
    }
    match terms.iter_mut().find(|term| term.0 == name) {
        Some(term) => term.1 += coefficient,
        None => terms.push((name.to_owned(), coefficient)),
    }
    Ok(())
}

/// The collider that both sides must name as `(+X)`.
pub(crate) fn same_collider(
    left: Option<String>,
    right: Option<String>,
) -> Result<Option<String>, String> {
    if left == right {
        return Ok(left);
    }
    let name = |side: &Option<String>| match side {
        Some(name) => format!("(+{})", quote(name)),
        None => "none".to_owned(),
    };
    Err(format!(
        "the collider {} among the reactants and {} among the products",
        name(&left),
        name(&right)
    ))
}

/// An equation as Cantera writes it: terms, `+` and arrow between blanks.
pub(crate) fn spaced(text: &str) -> Result<Equation, String> {
    if text.len() > 2000 {
        return Err("an equation of more than 2000 characters".to_owned());
    }
    let mut sides = [Terms::new(), Terms::new()];
    let mut falloff = [None, None];
    let mut arrow = None;
    let mut term: Vec<&str> = Vec::new();
    let mut expects_term = true;
    let mut tokens = text.split_whitespace();
    loop {
        let token = tokens.next();
        let side = usize::from(arrow.is_some());
        if let Some(collider) = token.and_then(|token| token.strip_prefix("(+")) {
            let rest = if collider.is_empty() { tokens.next().unwrap_or("") } else { collider };
            let name = rest.strip_suffix(')').filter(|name| !name.is_empty());
            let name = name.ok_or_else(|| "a collider (+… without closing bracket".to_owned())?;
            if falloff[side].replace(name.to_owned()).is_some() {
                return Err("two colliders (+…) on one side".to_owned());
            }
            continue;
        }
        let ends = matches!(token, None | Some("+" | "=" | "<=>" | "=>"));
        if !ends {
            term.extend(token);
            continue;
        }
        match term[..] {
            [name] => add(&mut sides[side], name, 1.0)?,
            [count, name] => {
                let count = super::number::parse(count, false).map_err(|found| {
                    if super::number::begins(count) && count.contains(',') {
                        return found;
                    }
                    format!("'{} {}': names and '+' need blanks around", quote(count), quote(name))
                })?;
                add(&mut sides[side], name, count)?;
            }
            [] if expects_term => {
                return Err("a side, or a term between two '+', is empty".to_owned());
            }
            [] => {}
            _ => return Err(format!("'{}' is no term", quote(&term.join(" ")))),
        }
        term.clear();
        expects_term = true;
        match token {
            Some("+") => {}
            Some(symbol) => {
                if arrow.replace(symbol).is_some() {
                    return Err("two arrows".to_owned());
                }
            }
            None => break,
        }
    }
    let arrow = arrow.ok_or_else(|| "no '<=>', '=>' or '=' between blanks".to_owned())?;
    let [reactants, products] = sides;
    let [left, right] = falloff;
    Ok(Equation {
        reactants,
        products,
        reversible: arrow != "=>",
        falloff: same_collider(left, right)?,
    })
}

fn count(terms: &Terms, name: &str) -> f64 {
    terms.iter().find(|term| term.0 == name).map_or(0.0, |term| term.1)
}

fn take_one(terms: &mut Terms, name: &str) {
    for term in terms.iter_mut() {
        if term.0 == name {
            term.1 -= 1.0;
        }
    }
    terms.retain(|term| term.1 > 0.0);
}

/// Sum of a side whose coefficients are whole.
fn molecularity(terms: &Terms) -> Option<f64> {
    terms.iter().all(|term| term.1.fract() == 0.0).then(|| terms.iter().map(|term| term.1).sum())
}

/// Takes the collider of a mass-action reaction out of its equation: `M`, or one species that
/// both sides have.
///
/// The rule for species is Cantera's (3.x, "three-body"): of the species that stand on both
/// sides exactly one, and three molecules on one side, all coefficients whole; or what
/// `three_body` or the one name in `efficiencies` says. A species counts twice where both sides
/// have more than one of it.
pub(crate) fn take_collider(
    equation: &mut Equation,
    three_body: bool,
    efficiencies: &[(String, f64)],
) -> Result<Option<String>, String> {
    let mut common: Vec<String> = Vec::new();
    for (name, left) in &equation.reactants {
        let right = count(&equation.products, name);
        if right > 0.0 {
            common.push(name.clone());
            if *left > 1.0 && right > 1.0 {
                common.push(name.clone());
            }
        }
    }
    let generic = common.iter().filter(|name| *name == "M").count();
    let one_named = match efficiencies {
        [(name, _)] if common.contains(name) => Some(name.clone()),
        _ => None,
    };
    let collider = if generic > 1 {
        return Err("more than one collider M".to_owned());
    } else if generic == 1 {
        "M".to_owned()
    } else if common.is_empty() {
        if three_body {
            return Err("no collider on both sides of a three-body reaction".to_owned());
        }
        return Ok(None);
    } else if common.len() > 1 {
        match one_named {
            Some(name) => name,
            None if three_body || !efficiencies.is_empty() => {
                common.dedup();
                return Err(format!("more than one possible collider: {}", common.join(", ")));
            }
            None => return Ok(None),
        }
    } else {
        let three = [&equation.reactants, &equation.products].map(molecularity);
        let whole = three.iter().all(Option::is_some);
        let three_molecules = whole && three.contains(&Some(3.0));
        if !three_body && !three_molecules {
            return Ok(None);
        }
        common.remove(0)
    };
    if count(&equation.reactants, &collider) < 1.0 || count(&equation.products, &collider) < 1.0 {
        return Err(format!("less than one collider {collider}"));
    }
    take_one(&mut equation.reactants, &collider);
    take_one(&mut equation.products, &collider);
    Ok(Some(collider))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn possible_colliders_are_named_once() {
        for (text, named) in [
            ("H + 2 H2O + AR = H2 + 2 H2O + AR", "H2O, AR"),
            ("H + 2 H2O = H + 2 H2O", "H, H2O"),
            ("OH + 2 H2O = HO + 2 H2O", "H2O"),
        ] {
            let told = take_collider(&mut spaced(text).unwrap(), true, &[]).unwrap_err();
            assert_eq!(told, format!("more than one possible collider: {named}"), "{text}");
        }
    }

    fn collider(text: &str) -> Option<String> {
        take_collider(&mut spaced(text).unwrap(), false, &[]).unwrap()
    }

    #[test]
    fn equations() {
        let e = spaced("2 OH ( +M ) <=> H2O2 (+M)");
        assert!(e.is_err());
        let e = spaced("OH + OH (+ M) <=> H2O2 (+M)").unwrap();
        assert_eq!(e.reactants, [("OH".to_owned(), 2.0)]);
        assert_eq!(e.falloff.as_deref(), Some("M"));
        for bad in [
            "H + O2",
            "H =>",
            "=> H",
            "H + => H",
            "H+ O2 <=> HO2",
            "H (+M) => H",
            "H => H => H",
            "1e9 H => 1e9 H",
            "0 H => H",
            "-1 H => H",
            "H ++ H => H2",
            "",
        ] {
            assert!(spaced(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn colliders_as_cantera_finds_them() {
        let cases = [
            ("H + O2 + M <=> HO2 + M", Some("M")),
            ("H + O2 + AR <=> HO2 + AR", Some("AR")),
            ("2 H + H <=> H2 + H", Some("H")),
            ("HO2 + O2 <=> H + O2 + O2", Some("O2")),
            ("H + 2 H2O <=> H + 2 H2O", None),
            ("CH2(S) + AR <=> CH2 + AR", None),
            ("H + O2 <=> HO2", None),
        ];
        for (text, expected) in cases {
            assert_eq!(collider(text).as_deref(), expected, "{text}");
        }
    }
}
