//! `[boundary]`: what happens at the faces of the box.

use super::{known, quantity};
use crate::case::reader::{Field, Section};
use crate::case::source_spans::SourceSpans;
use odeum_core::Argument;
use odeum_fields::{Boundaries, Boundary, Face, Grid, Quantity};

/// Keys and the faces they stand for: an axis for both of its faces.
const KEYS: [(&str, &[usize]); 9] = [
    ("x", &[0, 1]),
    ("y", &[2, 3]),
    ("z", &[4, 5]),
    ("x_low", &[0]),
    ("x_high", &[1]),
    ("y_low", &[2]),
    ("y_high", &[3]),
    ("z_low", &[4]),
    ("z_high", &[5]),
];

/// Reads the section.
pub(super) fn read(
    section: &Section<'_>,
    names: Option<&[String]>,
    grid: Option<&Grid>,
    source_spans: &mut SourceSpans,
) -> Option<Boundaries> {
    let default_field = section.get("default");
    let everywhere = default_field.as_ref().map_or(Some(Boundary::NoFlux), |field| {
        source_spans.put("boundary", field.source_span());
        boundary(field)
    });
    let general = faces(section, None, source_spans);
    let mut good = general.is_some();
    let mut own = Vec::new();
    if let Some(field) = section.get("species") {
        let entries = field.section()?.entries();
        if entries.is_empty() {
            field.warn("no boundary is given here", EMPTY);
        }
        for (name, _, value) in entries {
            let found = known(&name, names, |message, help| value.refuse::<usize>(message, help));
            good &= found.is_some() || names.is_none();
            let of = Some(name.as_str());
            let section = value.section();
            let boundaries = section.and_then(|section| {
                let boundaries = faces(&section, of, source_spans);
                section.finish();
                if section.entries().is_empty() {
                    value.warn("no boundary is given here", EMPTY);
                }
                boundaries
            });
            good &= boundaries.is_some();
            own.push((name, boundaries.unwrap_or_default()));
        }
    }
    section.finish();
    let everywhere = everywhere?;
    if !good {
        return None;
    }
    let mut general = general?;
    if let (Some(field), Some(grid), Some(names)) = (default_field, grid, names) {
        let mut faces = Face::ALL.iter().filter(|face| grid.shape()[face.axis] > 1);
        let is_given = |face: &Face| {
            let holds = |faces: &[(Face, Boundary)]| faces.iter().any(|(other, _)| other == face);
            let has_own = |name: &String| own.iter().any(|(of, faces)| of == name && holds(faces));
            holds(&general) || names.iter().all(has_own)
        };
        if grid.dimensions() > 0 && faces.all(is_given) {
            field.warn("every face is given otherwise", "leave `default` out");
        }
    }
    let mut boundaries = Boundaries::all(everywhere.clone());
    if let (Boundary::Dirichlet(_) | Boundary::Robin { .. }, Some(grid)) = (&everywhere, grid)
        && grid.dimensions() > 0
    {
        // The boundaries of a plane are its edges, those of a rod its ends: nothing passes across them.
        boundaries = Boundaries::default();
        let is_wide = |face: &Face| grid.shape()[face.axis] > 1;
        for face in Face::ALL.into_iter().filter(is_wide) {
            if !general.iter().any(|(other, _)| *other == face) {
                general.push((face, everywhere.clone()));
            }
        }
    }
    for (face, boundary) in general {
        boundaries = boundaries.face(face, boundary);
    }
    for (name, faces) in own {
        for (face, boundary) in faces {
            boundaries = boundaries.species(face, &name, boundary);
        }
    }
    Some(boundaries)
}

const EMPTY: &str = "name a face, as x_low = { value = 1.0 }, or leave this out";

/// The boundaries that are given face by face.
fn faces(
    section: &Section<'_>,
    of: Option<&str>,
    source_spans: &mut SourceSpans,
) -> Option<Vec<(Face, Boundary)>> {
    let mut given: Vec<(Face, Boundary)> = Vec::new();
    let mut good = true;
    for (key, numbers) in KEYS {
        let Some(field) = section.get(key) else { continue };
        let boundary = boundary(&field);
        good &= boundary.is_some();
        for &number in numbers {
            let face = Face::ALL[number];
            let this = face.argument();
            let this = of.iter().fold(this, |this, name| this.key((*name).to_owned()));
            source_spans.put(this, field.source_span());
            source_spans.put(Argument::new("boundary").key(&key[..1]), field.source_span());
            if given.iter().any(|(other, _)| *other == face) {
                good = false;
                let message = format!(
                    "the boundary {}{} is given twice",
                    face.name(),
                    of.map_or(String::new(), |name| format!(" of {name}"))
                );
                let axis = &key[..1];
                field.refuse::<()>(
                    message,
                    &format!("give `{axis}`, or `{axis}_low` and `{axis}_high`"),
                );
            }
            given.push((face, boundary.clone().unwrap_or(Boundary::NoFlux)));
        }
    }
    good.then_some(given)
}

const HELP: &str = "boundary: \"no flux\", \"open\", \"periodic\", { value = 1.0 }, { gradient = 0.5 }, \
                    { robin = { a = 1.0, b = 2.0, g = 0.0 } }; numbers may be expressions of t";

fn boundary(field: &Field<'_>) -> Option<Boundary> {
    if field.is_text() {
        return match field.text()? {
            "no flux" => Some(Boundary::NoFlux),
            "open" => Some(Boundary::Open),
            "periodic" => Some(Boundary::Periodic),
            other => field.refuse(format!("there is no boundary `{other}`"), HELP),
        };
    }
    if !field.is_table() {
        return field.refuse(format!("`{}` is no boundary", field.name), HELP);
    }
    let section = field.section()?;
    let (value, gradient, robin) =
        (section.get("value"), section.get("gradient"), section.get("robin"));
    section.finish();
    match (value, gradient, robin) {
        (Some(value), None, None) => quantity(&value).map(Boundary::Dirichlet),
        (None, Some(gradient), None) => {
            let amount = quantity(&gradient)?;
            Some(Boundary::Robin { value: 0.0, gradient: 1.0, amount })
        }
        (None, None, Some(robin)) => {
            let section = robin.section()?;
            let a = section.need("a", HELP).and_then(|field| field.number());
            let b = section.need("b", HELP).and_then(|field| field.number());
            let g = section.get("g").map_or(Some(Quantity::from(0.0)), |field| quantity(&field));
            section.finish();
            Some(Boundary::Robin { value: a?, gradient: b?, amount: g? })
        }
        // Told of by `finish`.
        (None, None, None) if section.has_renamed() => None,
        _ => field.refuse("a boundary condition is one of these", HELP),
    }
}
