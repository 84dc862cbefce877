//! Small symmetric equations that may be singular.

/// Smallest pivot of a matrix scaled to a unit diagonal that is more than rounding.
const SMALLEST_PIVOT: f64 = 1e-14;

/// Solves A x = b by elimination with full pivoting, after scaling the rows and columns so that
/// the largest diagonals are one. What the matrix does not determine stays zero: the combinations
/// of element potentials on which no species of any amount depends.
pub(crate) fn solve(mut a: Vec<Vec<f64>>, mut b: Vec<f64>) -> Vec<f64> {
    let n = b.len();
    let largest = |row: &Vec<f64>| row.iter().fold(0.0_f64, |m, x| m.max(x.abs()));
    let scale: Vec<f64> = (0..n)
        .map(|i| match a[i][i].abs().max(f64::EPSILON * largest(&a[i])) {
            d if d > 0.0 => 1.0 / d.sqrt(),
            _ => 1.0,
        })
        .collect();
    for i in 0..n {
        for j in 0..n {
            a[i][j] *= scale[i] * scale[j];
        }
        b[i] *= scale[i];
    }
    let mut columns: Vec<usize> = (0..n).collect();
    let mut rank = 0;
    while rank < n {
        let (mut pivot, mut at) = (0.0, (rank, rank));
        for i in rank..n {
            for j in rank..n {
                if a[i][j].abs() > pivot {
                    (pivot, at) = (a[i][j].abs(), (i, j));
                }
            }
        }
        if pivot <= SMALLEST_PIVOT {
            break;
        }
        a.swap(rank, at.0);
        b.swap(rank, at.0);
        columns.swap(rank, at.1);
        for row in &mut a {
            row.swap(rank, at.1);
        }
        for i in rank + 1..n {
            let factor = a[i][rank] / a[rank][rank];
            for j in rank..n {
                a[i][j] -= factor * a[rank][j];
            }
            b[i] -= factor * b[rank];
        }
        rank += 1;
    }
    let mut x = vec![0.0; n];
    for i in (0..rank).rev() {
        let known: f64 = (i + 1..rank).map(|j| a[i][j] * x[columns[j]]).sum();
        x[columns[i]] = (b[i] - known) / a[i][i];
    }
    x.iter().zip(&scale).map(|(x, s)| x * s).collect()
}

#[cfg(test)]
mod tests {
    use super::solve;

    #[test]
    fn solves_badly_scaled_equations() {
        let a = vec![vec![4e12, 2.0, 1e6], vec![2.0, 3e-12, 1e-6], vec![1e6, 1e-6, 0.0]];
        let x = [1e-6, 2e6, -3.0];
        let b = a.iter().map(|row| row.iter().zip(&x).map(|(a, x)| a * x).sum()).collect();
        for (found, expected) in solve(a, b).iter().zip(&x) {
            assert!((found / expected - 1.0).abs() < 1e-10, "{found} {expected}");
        }
    }

    #[test]
    fn leaves_out_what_is_not_determined() {
        // Water alone: two atoms of hydrogen for each of oxygen.
        let a = vec![vec![4.0, 2.0], vec![2.0, 1.0]];
        let x = solve(a, vec![6.0, 3.0]);
        assert!((2.0 * x[0] + x[1] - 3.0).abs() < 1e-14);
        assert!(x.iter().all(|x| x.is_finite()));
    }
}
