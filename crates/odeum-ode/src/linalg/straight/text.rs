//! The statements of the functions.

use super::pivots::{At, Pivot};
use odeum_core::Pattern;
use odeum_cuda::Text;

/// Operations by which a second sum must shorten a chain of them to be worth its addition.
const SHORTER: usize = 3;

/// Adds σ to the diagonal of −J.
pub(super) fn shift(pivots: &[Pivot], jacobian: &Pattern) -> String {
    let mut text = Text::default();
    for &Pivot { unknown, place, .. } in pivots {
        text.line(if jacobian.contains(unknown, unknown) {
            format!("    matrix[{place}] = od_plus(matrix[{place}], sigma);")
        } else {
            format!("    matrix[{place}] = sigma;")
        });
    }
    text.finish()
}

/// Copies −J.
pub(super) fn assemble(jacobian: &Pattern) -> String {
    (0..jacobian.nnz()).map(|e| format!("    matrix[{e}] = E(negative_jacobian[{e}]);\n")).collect()
}

/// Eliminates pivot by pivot, and watches them.
pub(super) fn factor(pivots: &[Pivot], jacobian: &Pattern) -> String {
    let mut text = Text::default();
    for Pivot { unknown: i, .. } in pivots {
        let i = *i;
        let size = |(e, &j): (usize, &usize)| {
            // The shift has added σ to the diagonal.
            let entry = format!("matrix[{e}]");
            let own = format!("od_plus({entry}, od_negative(sigma))");
            format!(" + od_size({})", if i == j { own } else { entry })
        };
        let sizes: String = (jacobian.row_start(i)..).zip(jacobian.row(i)).map(size).collect();
        text.line(format_args!("    const Size size{i} = od_size(sigma){sizes};"));
    }
    for Pivot { unknown: k, place, upper, lower, targets } in pivots {
        let grown: String = upper.iter().map(|(_, u)| format!(" + od_size(matrix[{u}])")).collect();
        text.line(format_args!("    const E pivot{k} = matrix[{place}];"));
        text.line(format_args!("    const Size grown{k} = od_size(pivot{k}){grown};"));
        text.line(format_args!("    const E inverse{k} = od_reciprocal(pivot{k});"));
        text.line(format_args!(
            "    od_watch_pivot(watch, pivot{k}, inverse{k}, inverse_shift, grown{k}, size{k});"
        ));
        text.line(format_args!("    matrix[{place}] = inverse{k};"));
        let mut targets = targets.iter();
        for (_, l) in lower {
            text.line(format_args!("    matrix[{l}] = od_product(matrix[{l}], inverse{k});"));
            for ((_, u), target) in upper.iter().zip(&mut targets) {
                let to = format!("matrix[{}]", target.place);
                let from = if target.fill { "E(0)" } else { &to };
                text.line(format_args!(
                    "    {to} = od_minus_product({from}, matrix[{l}], matrix[{u}]);"
                ));
            }
        }
    }
    text.finish()
}

/// Forward and backward substitution, of n unknowns.
pub(super) fn solve(pivots: &[Pivot], n: usize) -> String {
    let mut text = Text::default();
    // Operations that must come before each unknown, one after the other.
    let mut depths = vec![0; n];
    let mut lower: Vec<Vec<At>> = vec![Vec::new(); n];
    for &Pivot { unknown, lower: ref below, .. } in pivots {
        subtract(&mut text, unknown, &lower[unknown], &mut depths);
        below.iter().for_each(|&(i, place)| lower[i].push((unknown, place)));
    }
    for &Pivot { unknown, place, ref upper, .. } in pivots.iter().rev() {
        subtract(&mut text, unknown, upper, &mut depths);
        text.line(format_args!("    x[{unknown}] = od_product(x[{unknown}], matrix[{place}]);"));
        depths[unknown] += 1;
    }
    text.finish()
}

/// Subtracts from an unknown the products of entries with others, those first that are known first.
fn subtract(text: &mut Text, unknown: usize, terms: &[At], depths: &mut [usize]) {
    let mut terms = terms.to_vec();
    terms.sort_by_key(|&(j, _)| depths[j]);
    let chain = |start: usize, terms: &mut dyn Iterator<Item = &At>| {
        terms.fold(start, |end, &(j, _)| end.max(depths[j]) + 1)
    };
    let one = chain(depths[unknown], &mut terms.iter());
    let even = chain(depths[unknown], &mut terms.iter().step_by(2));
    let odd = chain(0, &mut terms.iter().skip(1).step_by(2));
    let two = even.max(odd) + 1;
    let halved = two + SHORTER <= one;
    depths[unknown] = if halved { two } else { one };
    let own = format!("x[{unknown}]");
    if halved {
        text.line("    {\n    E odd = E(0);");
    }
    for (number, (j, place)) in terms.iter().enumerate() {
        let sum = if halved && number % 2 == 1 { "odd" } else { &own };
        text.line(format_args!("    {sum} = od_minus_product({sum}, matrix[{place}], x[{j}]);"));
    }
    if halved {
        text.line(format_args!("    {own} = od_plus({own}, odd);\n    }}"));
    }
}

/// The product of J with a vector, from −J, component by component of those that change.
pub(super) fn product(pivots: &[Pivot], jacobian: &Pattern) -> String {
    let mut text = Text::default();
    let mut unknowns: Vec<usize> = pivots.iter().map(|pivot| pivot.unknown).collect();
    unknowns.sort_unstable();
    for (e, i) in unknowns.into_iter().enumerate() {
        text.line("    sum = Sum(0);");
        for (place, j) in (jacobian.row_start(i)..).zip(jacobian.row(i)) {
            text.line(format_args!(
                "    sum = od_minus_product(sum, Sum(matrix[{place}]), Sum(v[{j}]));"
            ));
        }
        text.line(format_args!("    out[{e}] = real(sum);"));
    }
    text.finish()
}
