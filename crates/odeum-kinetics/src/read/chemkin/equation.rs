//! Chemkin's equations: no blanks needed, and names may hold `+`, `-`, brackets and digits. A blank counts after a
//! coefficient only.

use std::collections::{HashMap, HashSet};

use crate::read::equation::{Equation, Terms, add, same_collider};
use crate::read::problem::quote;

/// Longest name with its coefficient \[bytes\]: bounds the search for names.
const LONGEST: usize = 80;

/// What a piece of a side is.
enum Piece<'a> {
    Species(&'a str, f64),
    Generic,
}

/// `text` as a species with or without a coefficient, or the collider M.
fn piece<'a>(text: &'a str, species: &HashMap<String, usize>) -> Option<Piece<'a>> {
    if species.contains_key(text) {
        return Some(Piece::Species(text, 1.0));
    }
    if text.eq_ignore_ascii_case("M") {
        return Some(Piece::Generic);
    }
    // A name may begin with a digit: a blank says where the number ends, else the longest name does.
    let digits = text.len() - text.trim_start_matches(is_numeric).len();
    let blank = text.match_indices(' ').map(|(at, _)| (at, at + 1));
    let mut ends = blank.chain((1..=digits).map(|end| (end, end)));
    let (end, start) = ends.find(|(_, start)| species.contains_key(&text[*start..]))?;
    let count = crate::read::number::parse(&text[..end], false).ok()?;
    Some(Piece::Species(&text[start..], count))
}

fn is_numeric(c: char) -> bool {
    c.is_ascii_digit() || c == '.'
}

/// The words of an equation without blanks, but those after a coefficient.
pub(super) fn joined(words: &[&str]) -> String {
    let mut text = String::new();
    for word in words {
        let before = text.trim_end_matches(is_numeric);
        let is_number = before.len() < text.len();
        let is_coefficient = is_number && (before.is_empty() || before.ends_with(['+', '=', '>']));
        let is_name = !word.starts_with(['+', '=', '<', ')']) && !word.starts_with("(+");
        if is_coefficient && is_name {
            text.push(' ');
        }
        text.push_str(word);
    }
    text
}

/// One side: its terms, with `M` among them, and X of `(+X)`.
///
/// Pieces end at `+`, at `(+` or at the end; where several ends are possible (`O2++H`), the
/// longest that lets the rest be read is taken.
fn side<'a>(
    text: &'a str,
    species: &HashMap<String, usize>,
) -> Option<(Vec<Piece<'a>>, Option<&'a str>)> {
    // Depth-first over (start, next end to try), with the starts that lead nowhere.
    let mut dead: HashSet<usize> = HashSet::new();
    let (body, falloff) = without_collider(text, species);
    let mut stack: Vec<(usize, usize)> = vec![(0, body.len())];
    while let Some(&(start, end)) = stack.last() {
        let next = (start + 1..=end.min(start + LONGEST)).rev().find(|&e| {
            body.is_char_boundary(e)
                && (e == body.len() || (body[e..].starts_with('+') && !dead.contains(&(e + 1))))
                && piece(&body[start..e], species).is_some()
        });
        match next {
            Some(e) if e == body.len() => {
                stack.last_mut()?.1 = e;
                let pieces = stack
                    .iter()
                    .map(|&(s, e)| piece(&body[s..e], species))
                    .collect::<Option<Vec<_>>>()?;
                return Some((pieces, falloff));
            }
            Some(e) => {
                stack.last_mut()?.1 = e;
                stack.push((e + 1, body.len()));
            }
            None => {
                dead.insert(start);
                stack.pop();
            }
        }
    }
    None
}

/// A side without its `(+X)`, and X.
fn without_collider<'a>(
    text: &'a str,
    species: &HashMap<String, usize>,
) -> (&'a str, Option<&'a str>) {
    // The first that holds a name: X may have `(+)` itself.
    let collider = text.match_indices("(+").find_map(|(at, _)| {
        let name = text[at + 2..].strip_suffix(')')?;
        let known = species.contains_key(name) || name.eq_ignore_ascii_case("M");
        known.then_some((&text[..at], Some(name)))
    });
    collider.unwrap_or((text, None))
}

/// An equation as [`joined`] gives it.
pub(super) fn parse(text: &str, species: &HashMap<String, usize>) -> Result<Equation, String> {
    if text.len() > 2000 {
        return Err("an equation of more than 2000 characters".to_owned());
    }
    let (left, right, reversible) = ["<=>", "=>", "="]
        .into_iter()
        .find_map(|arrow| text.split_once(arrow).map(|(left, right)| (left, right, arrow != "=>")))
        .ok_or_else(|| "no '=', '=>' or '<=>'".to_owned())?;
    let mut sides = [Terms::new(), Terms::new()];
    let mut falloff = [None, None];
    for (i, text) in [left, right].into_iter().enumerate() {
        let (pieces, collider) = side(text, species).ok_or_else(|| unknown(text, species))?;
        for piece in pieces {
            match piece {
                Piece::Species(name, count) => add(&mut sides[i], name, count)?,
                Piece::Generic => add(&mut sides[i], "M", 1.0)?,
            }
        }
        let generic = |name: &str| name.eq_ignore_ascii_case("M") && !species.contains_key(name);
        falloff[i] = collider.map(|name| if generic(name) { "M" } else { name }.to_owned());
    }
    let [reactants, products] = sides;
    let [left, right] = falloff;
    Ok(Equation { reactants, products, reversible, falloff: same_collider(left, right)? })
}

/// What of a side is no species.
fn unknown(text: &str, species: &HashMap<String, usize>) -> String {
    let (body, _) = without_collider(text, species);
    if body.is_empty() {
        return "a side is empty".to_owned();
    }
    let mut names: Vec<String> = Vec::new();
    for part in body.split('+') {
        let bare = part.trim_start_matches(is_numeric).trim_start();
        if part.eq_ignore_ascii_case("HV") {
            return "photons (HV) are not supported".to_owned();
        }
        if part.len() > bare.len() && bare.eq_ignore_ascii_case("M") {
            return format!("'{}': M has no coefficient", quote(part));
        }
        if piece(part, species).is_none() && names.len() < 5 {
            names.push(format!("'{}'", quote(if bare.is_empty() { part } else { bare })));
        }
    }
    format!("{} is no declared species", names.join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_that_look_like_syntax() {
        let names =
            ["O2", "O2+", "H", "E-", "CH2(S)", "(CH3)2", "H2O", "C*C'", "A#,1", "1PENT", "M2"];
        let species: HashMap<String, usize> =
            names.iter().enumerate().map(|(i, name)| ((*name).to_owned(), i)).collect();
        let left = |text: &str| parse(text, &species).map(|e| e.reactants);
        let term = |name: &str, n: f64| (name.to_owned(), n);
        assert_eq!(left("O2++E-=O2"), Ok(vec![term("O2+", 1.0), term("E-", 1.0)]));
        assert_eq!(left("O2+H=O2"), Ok(vec![term("O2", 1.0), term("H", 1.0)]));
        assert_eq!(left("2(CH3)2+.5H=>O2"), Ok(vec![term("(CH3)2", 2.0), term("H", 0.5)]));
        assert_eq!(left("21PENT+CH2(S)=O2"), Ok(vec![term("1PENT", 2.0), term("CH2(S)", 1.0)]));
        assert_eq!(
            left("C*C'+A#,1+M2+m=M+O2"),
            Ok(vec![term("C*C'", 1.0), term("A#,1", 1.0), term("M2", 1.0), term("M", 1.0)])
        );
        assert_eq!(
            parse("H+O2(+H2O)=H2O(+H2O)", &species).unwrap().falloff.as_deref(),
            Some("H2O")
        );
        assert_eq!(parse("H+O2(+m)<=>H2O(+M)", &species).unwrap().falloff.as_deref(), Some("M"));
        for bad in ["H+=O2", "=O2", "H", "X+H=O2", "H+O2(+M)=H2O", "H++H=O2", "H+HV=O2", "0H=O2"] {
            assert!(parse(bad, &species).is_err(), "{bad}");
        }
    }

    #[test]
    fn m_has_no_coefficient() {
        let of = |names: &[&str]| names.iter().map(|name| ((*name).to_owned(), 0)).collect();
        for equation in ["H2+2M=H+H+2M", "H2+2 m=>H+H+M", "H2+.5M=H+H+M"] {
            let found = parse(equation, &of(&["H", "H2"])).unwrap_err();
            assert!(found.contains("M has no coefficient"), "{equation}: {found}");
        }
        assert!(parse("H2+2M=H+H+2M", &of(&["H", "H2", "M"])).is_ok());
    }

    #[test]
    fn coefficients_of_names_that_begin_with_digits() {
        let names = ["CH2", "3CH2", "C2H4", "OH", "(CH3)2"];
        let species: HashMap<String, usize> =
            names.iter().enumerate().map(|(i, name)| ((*name).to_owned(), i)).collect();
        let left = |text: &str| {
            let words: Vec<&str> = text.split_whitespace().collect();
            parse(&joined(&words), &species).unwrap().reactants
        };
        for (text, expected) in [
            ("2 3CH2 => C2H4", &[("3CH2", 2.0)][..]),
            ("23CH2=>C2H4", &[("3CH2", 2.0)]),
            ("13 CH2 => C2H4", &[("CH2", 13.0)]),
            ("1 3 CH2 => C2H4", &[("3CH2", 1.0)]),
            ("3CH2 => C2H4", &[("3CH2", 1.0)]),
            ("3 CH2 => C2H4", &[("CH2", 3.0)]),
            ("O H+3 CH2 => C2H4", &[("OH", 1.0), ("CH2", 3.0)]),
            ("C2 H4 + 2 OH ( +M ) = 2 (CH3)2 (+ M)", &[("C2H4", 1.0), ("OH", 2.0)]),
            ("1.00000 3CH2 + 1.00000 CH2 => C2H4", &[("3CH2", 1.0), ("CH2", 1.0)]),
            (".5 (CH3)2 + 1.5CH2 => C2H4", &[("(CH3)2", 0.5), ("CH2", 1.5)]),
        ] {
            let expected: Terms = expected.iter().map(|(n, x)| ((*n).to_owned(), *x)).collect();
            assert_eq!(left(text), expected, "{text}");
        }
    }
}
