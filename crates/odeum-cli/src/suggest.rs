//! "Did you mean": the nearest of the names that exist.

/// The name nearest to `wrong`, if it is near enough to be a slip of the hand.
pub(crate) fn nearest<'a>(
    wrong: &str,
    names: impl IntoIterator<Item = &'a str>,
) -> Option<&'a str> {
    let wrong = wrong.to_lowercase();
    let limit = wrong.chars().count().max(3) / 3;
    names
        .into_iter()
        .map(|name| (distance(&wrong, &name.to_lowercase()), name))
        .filter(|&(d, _)| d <= limit)
        .min_by_key(|&(d, _)| d)
        .map(|(_, name)| name)
}

/// A remedy for an unknown name: the nearest name, and the list of all when it is short.
pub(crate) fn remedy<'a>(
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

/// Number of insertions, deletions, replacements and swaps of neighbours between two words.
fn distance(a: &str, b: &str) -> usize {
    let (a, b): (Vec<char>, Vec<char>) =
        (a.chars().take(64).collect(), b.chars().take(64).collect());
    let width = b.len() + 1;
    let mut d = vec![0; (a.len() + 1) * width];
    for i in 0..=a.len() {
        for j in 0..=b.len() {
            d[i * width + j] = if i == 0 || j == 0 {
                i + j
            } else {
                let replaced = d[(i - 1) * width + j - 1] + usize::from(a[i - 1] != b[j - 1]);
                let changed = (d[(i - 1) * width + j] + 1).min(d[i * width + j - 1] + 1);
                let best = replaced.min(changed);
                if i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] {
                    best.min(d[(i - 2) * width + j - 2] + 1)
                } else {
                    best
                }
            };
        }
    }
    d[a.len() * width + b.len()]
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
        assert_eq!(distance("", "abc"), 3);
    }
}
