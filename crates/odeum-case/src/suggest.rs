//! "Did you mean": the nearest of the names that exist.

use odeum_core::spelling::distance;

/// The name nearest to `wrong`, if it is near enough to be a slip of the hand: one letter for another is none, but for its case.
pub fn nearest<'a>(wrong: &str, names: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let limit = match wrong.chars().count() {
        ..=1 => 0,
        letters => letters.max(3) / 3,
    };
    names
        .into_iter()
        .map(|name| (distance(wrong, name), name))
        .filter(|&(d, _)| d <= limit)
        .min_by_key(|&(d, _)| d)
        .map(|(_, name)| name)
}

/// A remedy for an unknown name: the nearest name, and the list of all when it is short.
pub fn remedy<'a>(
    wrong: &str,
    what: &str,
    names: impl IntoIterator<Item = &'a str> + Clone,
) -> String {
    let all: Vec<&str> = names.clone().into_iter().collect();
    let list = match all.len() {
        0 => format!("there are no {what}"),
        1..=16 => format!("{what}: {}", all.join(", ")),
        n => format!("{what}: {}, … ({n} in all)", all[..12].join(", ")),
    };
    match nearest(wrong, names) {
        Some(name) => format!("did you mean `{name}`? ({list})"),
        None => list,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slips_are_recognised() {
        let names = ["rtol", "atol", "norm", "lorenz", "lotka_volterra"];
        assert_eq!(nearest("rtoll", names), Some("rtol"));
        assert_eq!(nearest("aotl", names), Some("atol"));
        assert_eq!(nearest("Lorentz", names), Some("lorenz"));
        assert_eq!(nearest("robertson", names), None);
        assert_eq!(nearest("p", ["T", "H"]), None);
        assert_eq!((nearest("A", ["a", "b"]), nearest("kk", ["k"])), (Some("a"), Some("k")));
    }
}
