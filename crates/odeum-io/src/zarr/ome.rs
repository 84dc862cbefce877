//! What viewers of images read of a Zarr store: OME-Zarr 0.5.
//!
//! <https://ngff.openmicroscopy.org/0.5/>, multiscale images: each array of a species is an image of
//! one resolution, with where its cells lie. The axes are those of the arrays; nothing is said of
//! units, which a case does not have.

use odeum_fields::Grid;
use serde_json::{Value, json};

/// The attribute `ome` of the group that holds an array \[t, z, y, x\] for each name.
///
/// A number of a state or cell times the scale plus the translation is the time \[time\] or the
/// centre of the cell \[length\].
pub(super) fn describe(grid: &Grid, names: &[String], times: &[f64]) -> Value {
    let axes = json!([
        { "name": "t", "type": "time" },
        { "name": "z", "type": "space" },
        { "name": "y", "type": "space" },
        { "name": "x", "type": "space" },
    ]);
    let (pace, start) = even(times).unwrap_or((1.0, 0.0));
    let [hx, hy, hz] = grid.spacing();
    let centre = |axis| grid.centre(axis, 0);
    let place = json!([
        { "type": "scale", "scale": [pace, hz, hy, hx] },
        { "type": "translation", "translation": [start, centre(2), centre(1), centre(0)] },
    ]);
    let image = |name: &String| {
        json!({
            "name": name,
            "axes": axes,
            "datasets": [{ "path": name, "coordinateTransformations": place }],
        })
    };
    let images: Vec<Value> = names.iter().map(image).collect();
    json!({ "version": "0.5", "multiscales": images })
}

/// The time between two states, where it is always the same, and the first; of a single state the
/// former is one. OME has no other times: where they are not even, the number of the state counts.
fn even(times: &[f64]) -> Option<(f64, f64)> {
    let (first, last) = (*times.first()?, *times.last()?);
    if times.len() == 1 {
        return Some((1.0, first));
    }
    let pace = (last - first) / (times.len() - 1) as f64;
    let fits = |(n, t): (usize, &f64)| (t - (first + n as f64 * pace)).abs() <= 1e-6 * pace;
    times.iter().enumerate().all(fits).then_some((pace, first))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_even_times_have_a_pace() {
        assert_eq!(even(&[2.0, 2.5, 3.0]), Some((0.5, 2.0)));
        assert_eq!(even(&[4.0]), Some((1.0, 4.0)));
        // The end of a run need not fall on the pace of its states.
        assert_eq!(even(&[0.0, 0.02, 0.04, 0.05]), None);
        assert_eq!(even(&[]), None);
    }
}
