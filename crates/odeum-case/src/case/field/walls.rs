//! `[walls]`: what happens at the faces of the box.

use super::{known, quantity};
use crate::case::reader::{Field, Section};
use crate::case::spots::Spots;
use odeum_core::Argument;
use odeum_fields::{Face, Quantity, Wall, Walls};

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
    spots: &mut Spots,
) -> Option<Walls> {
    let everywhere = section.get("default").map_or(Some(Wall::NoFlux), |field| {
        spots.put("walls", field.spot());
        wall(&field)
    });
    let general = faces(section, None, spots);
    let mut good = general.is_some();
    let mut own = Vec::new();
    if let Some(field) = section.get("species") {
        for (name, _, value) in field.section()?.entries() {
            let found = known(&name, names, |message, help| value.refuse::<usize>(message, help));
            good &= found.is_some() || names.is_none();
            let of = Some(name.as_str());
            let section = value.section();
            let walls = section.and_then(|section| {
                let walls = faces(&section, of, spots);
                section.finish();
                walls
            });
            good &= walls.is_some();
            own.push((name, walls.unwrap_or_default()));
        }
    }
    section.finish();
    let mut walls = Walls::all(everywhere?);
    if !good {
        return None;
    }
    for (face, wall) in general? {
        walls = walls.face(face, wall);
    }
    for (name, faces) in own {
        for (face, wall) in faces {
            walls = walls.species(face, &name, wall);
        }
    }
    Some(walls)
}

/// The walls that are given face by face.
fn faces(section: &Section<'_>, of: Option<&str>, spots: &mut Spots) -> Option<Vec<(Face, Wall)>> {
    let mut given: Vec<(Face, Wall)> = Vec::new();
    let mut good = true;
    for (key, numbers) in KEYS {
        let Some(field) = section.get(key) else { continue };
        let wall = wall(&field);
        good &= wall.is_some();
        for &number in numbers {
            let face = Face::ALL[number];
            let walls = Argument::new("walls");
            let this = walls.clone().key(face.name().replace(' ', "_"));
            spots
                .put(of.iter().fold(this, |this, name| this.key((*name).to_owned())), field.spot());
            spots.put(walls.key(&key[..1]), field.spot());
            if given.iter().any(|(other, _)| *other == face) {
                good = false;
                let message = format!(
                    "the wall {}{} is given twice",
                    face.name(),
                    of.map_or(String::new(), |name| format!(" of {name}"))
                );
                let axis = &key[..1];
                field.refuse::<()>(
                    message,
                    &format!("give `{axis}`, or `{axis}_low` and `{axis}_high`"),
                );
            }
            given.push((face, wall.clone().unwrap_or(Wall::NoFlux)));
        }
    }
    good.then_some(given)
}

const HELP: &str = "walls: \"no flux\", \"open\", \"periodic\", { value = 1.0 }, { slope = 0.5 }, \
                    { robin = { a = 1.0, b = 2.0, g = 0.0 } }; numbers may be expressions of t";

fn wall(field: &Field<'_>) -> Option<Wall> {
    if field.is_text() {
        return match field.text()? {
            "no flux" => Some(Wall::NoFlux),
            "open" => Some(Wall::Open),
            "periodic" => Some(Wall::Periodic),
            other => field.refuse(format!("there is no wall `{other}`"), HELP),
        };
    }
    if !field.is_table() {
        return field.refuse(format!("`{}` is no wall", field.name), HELP);
    }
    let section = field.section()?;
    let (value, slope, robin) = (section.get("value"), section.get("slope"), section.get("robin"));
    section.finish();
    match (value, slope, robin) {
        (Some(value), None, None) => quantity(&value).map(Wall::Dirichlet),
        (None, Some(slope), None) => {
            let amount = quantity(&slope)?;
            Some(Wall::Robin { value: 0.0, slope: 1.0, amount })
        }
        (None, None, Some(robin)) => {
            let section = robin.section()?;
            let a = section.need("a", HELP).and_then(|field| field.number());
            let b = section.need("b", HELP).and_then(|field| field.number());
            let g = section.get("g").map_or(Some(Quantity::from(0.0)), |field| quantity(&field));
            section.finish();
            Some(Wall::Robin { value: a?, slope: b?, amount: g? })
        }
        _ => field.refuse("a wall says one thing", HELP),
    }
}
