//! How far apart two spellings are.

/// Letters that are compared: names are shorter, and texts that are none shall cost little.
const LONGEST: usize = 64;

/// Letters to insert, delete, replace or exchange with a neighbour to get from one name to the
/// other; a letter in the other case counts nothing, nor do letters after the 64th.
/// (Damerau, Comm. ACM 7 (1964) 171.)
pub fn distance(a: &str, b: &str) -> usize {
    let lower = |name: &str| name.chars().flat_map(char::to_lowercase).take(LONGEST).collect();
    let (a, b): (Vec<char>, Vec<char>) = (lower(a), lower(b));
    let mut rows: Vec<Vec<usize>> = vec![(0..=b.len()).collect()];
    for i in 1..=a.len() {
        let mut row = vec![i];
        for j in 1..=b.len() {
            let replaced = rows[i - 1][j - 1] + usize::from(a[i - 1] != b[j - 1]);
            let mut least = replaced.min(rows[i - 1][j] + 1).min(row[j - 1] + 1);
            if i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] {
                least = least.min(rows[i - 2][j - 2] + 1);
            }
            row.push(least);
        }
        rows.push(row);
    }
    rows[a.len()][b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn distances_count_single_slips() {
        for (a, b, expected) in [
            ("rate", "rate", 0),
            ("Rate", "rATE", 0),
            ("rte", "rate", 1),
            ("raet", "rate", 1),
            ("rates", "rate", 1),
            ("rape", "rate", 1),
            ("", "ab", 2),
            ("sin", "exp", 3),
        ] {
            assert_eq!(distance(a, b), expected, "{a} {b}");
        }
    }
}
