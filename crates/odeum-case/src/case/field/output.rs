//! `[output]` of a field: what is written, and when.

use super::surroundings::cell_at;
use super::time::FieldTime;
use super::{species, three};
use crate::case::reader::{Field, Section};
use crate::case::run::read_place;
use odeum_fields::{AXES, Grid};
use odeum_io::{ensemble, field};
use std::path::PathBuf;

/// The whole section; the end state is always written as NPZ.
#[derive(Clone, Debug, Default)]
pub struct FieldOutput {
    /// Name of the result without folder and extension.
    pub name: Option<String>,
    /// The folder of the result.
    pub folder: Option<PathBuf>,
    /// When states are written, beside the end; `None` for the end alone.
    pub every: Option<Every>,
    /// Keys of formats of states, but for pictures.
    pub formats: Vec<&'static str>,
    /// A movie of each series of pictures.
    pub movie: bool,
    /// Pictures of planes.
    pub slices: Vec<Slice>,
    /// Pictures of surfaces.
    pub isosurfaces: Vec<Isosurface>,
    /// Tables that grow with the run.
    pub series: Option<Series>,
    /// Structure factors.
    pub structure: Option<Structure>,
}

/// How often something is done.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Every {
    /// A time \[time\].
    Time(f64),
    /// So many steps.
    Steps(u64),
}

/// Most states that a time between them may ask for.
const MOST_STATES: u64 = 100_000_000;

/// A picture of a plane of cells.
#[derive(Clone, Debug)]
pub struct Slice {
    /// The number of the species.
    pub species: usize,
    /// The axis across the plane.
    pub normal: usize,
    /// The number of the plane.
    pub plane: usize,
    /// Values at the ends of the colours; `None` for those of the picture.
    pub range: Option<(f64, f64)>,
    /// How values become colours.
    pub colours: Colours,
}

/// Colour maps.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Colours {
    /// From dark blue to yellow.
    Viridis,
    /// From black to light yellow.
    Magma,
    /// From blue to yellow, alike for those who see no red or green.
    Cividis,
    /// White at zero.
    Diverging,
}

impl Slice {
    /// The axes of the plane: to the right, and upward.
    pub fn axes(&self) -> (usize, usize) {
        match self.normal {
            0 => (1, 2),
            1 => (0, 2),
            _ => (0, 1),
        }
    }

    /// The axis along which the plane has cells, where it has one row of them.
    pub fn line(&self, grid: &Grid) -> Option<usize> {
        let (across, up) = self.axes();
        match (grid.shape()[across], grid.shape()[up]) {
            (_, 1) => Some(across),
            (1, _) => Some(up),
            _ => None,
        }
    }
}

/// A shaded picture of surfaces.
#[derive(Clone, Debug)]
pub struct Isosurface {
    /// The number of the species.
    pub species: usize,
    /// The values at which surfaces lie.
    pub levels: Vec<f64>,
    /// The inside has values below the level.
    pub below: bool,
    /// From where it is seen: azimuth and elevation \[degrees\].
    pub view: (f64, f64),
    /// Width and height \[pixels\].
    pub size: usize,
}

/// Numbers that are written down while the run goes on.
#[derive(Clone, Debug)]
pub struct Series {
    /// Steps.
    pub every: u64,
    /// Cells whose values are written.
    pub probes: Vec<[usize; 3]>,
    /// Lines of cells whose values are written.
    pub lines: Vec<Line>,
}

/// Structure factors that are written down while the run goes on.
#[derive(Clone, Debug)]
pub struct Structure {
    /// Steps.
    pub every: u64,
    /// Numbers of the species.
    pub species: Vec<usize>,
}

/// A row of cells.
#[derive(Clone, Debug)]
pub struct Line {
    /// The number of its axis.
    pub along: usize,
    /// A cell of it.
    pub cell: [usize; 3],
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Format {
    Npz,
    Of(&'static str),
    Png,
    Isosurface,
    Movie,
}

/// Reads the section.
pub(super) fn read(
    section: &Section<'_>,
    names: Option<&[String]>,
    grid: Option<&Grid>,
    time: Option<&FieldTime>,
) -> Option<FieldOutput> {
    let (name, folder) = read_place(section);
    let every_field = section.get("every");
    let every = every_field.as_ref().map(|field| read_every(field, time));
    let formats_field = section.get("formats");
    let formats = formats_field.as_ref().map_or(Some(Vec::new()), |field| {
        let others =
            [("png", Format::Png), ("isosurface", Format::Isosurface), ("movie", Format::Movie)];
        let known: Vec<_> = std::iter::once((ensemble::NPZ, Format::Npz))
            .chain(field::keys().map(|key| (key, Format::Of(key))))
            .chain(others)
            .collect();
        let items: Vec<_> = field.list()?.iter().map(|f| f.choice("formats", &known)).collect();
        items.into_iter().collect()
    });
    let png_field = section.get("png");
    let slices = tables(png_field.clone(), |item| read_slices(item, names, grid));
    let isosurfaces = tables(section.get("isosurface"), |item| {
        read_isosurface(item, names).map(|surface| vec![surface])
    });
    let series = match section.get("series") {
        None => Some(None),
        Some(field) => read_series(&field, grid).map(Some),
    };
    let structure = match section.get("structure") {
        None => Some(None),
        Some(field) => read_structure(&field, names).map(Some),
    };
    section.finish();
    let formats: Vec<Format> = formats?;
    let (mut slices, isosurfaces): (Vec<Slice>, Vec<Isosurface>) = (slices?, isosurfaces?);
    let wants = |format| formats.contains(&format);
    if slices.is_empty() && (wants(Format::Png) || wants(Format::Movie)) {
        let (count, grid) = (names?.len(), grid?);
        let normal = usual_normal(grid);
        slices.extend((0..count).map(|species| Slice {
            species,
            normal,
            plane: grid.shape()[normal] / 2,
            range: None,
            colours: Colours::Viridis,
        }));
    }
    if isosurfaces.is_empty() && wants(Format::Isosurface) {
        formats_field.as_ref().and_then(|field| {
            field.refuse::<()>(
                "a surface of which level?",
                "add isosurface = { species = \"u\", levels = [0.5] }",
            )
        })?;
    }
    let output = FieldOutput {
        name: name?,
        folder: folder?,
        every: every.map_or(Some(None), |every| every.map(Some))?,
        formats: field::keys().filter(|key| wants(Format::Of(key))).collect(),
        movie: wants(Format::Movie),
        slices,
        isosurfaces,
        series: series?,
        structure: structure?,
    };
    if let Some(field) = every_field.filter(|_| !output.writes_states()) {
        field.warn(
            "nothing is written of these states",
            "add formats = [\"png\"] (also \"vti\", \"zarr\"), or leave `every` out, since steps \
             end at its times; tables have an `every` of their own",
        );
    }
    if let Some(field) = formats_field.filter(|_| output.movie && output.every.is_none()) {
        field.warn("a movie of a single picture is none", "add every = 1.0 to [output], say");
    }
    if let Some(field) = png_field.filter(|_| output.has_equal_planes()) {
        let help = "give each its own plane, by `at` or `normal`, or leave the others out";
        field.warn("of two pictures of one plane the last alone stays", help);
    }
    Some(output)
}

impl FieldOutput {
    /// Whether anything is written of a state.
    pub fn writes_states(&self) -> bool {
        !self.formats.is_empty() || self.has_pictures()
    }

    /// Whether any picture is asked for.
    pub fn has_pictures(&self) -> bool {
        !self.slices.is_empty() || !self.isosurfaces.is_empty()
    }

    /// Whether two pictures would have one name.
    fn has_equal_planes(&self) -> bool {
        let plane = |slice: &Slice| (slice.species, slice.normal, slice.plane);
        let all = self.slices.iter().enumerate();
        all.into_iter().any(|(n, one)| self.slices[..n].iter().any(|it| plane(it) == plane(one)))
    }
}

/// One table, or a list of them.
fn tables<T>(
    field: Option<Field<'_>>,
    read: impl Fn(&Field<'_>) -> Option<Vec<T>>,
) -> Option<Vec<T>> {
    let Some(field) = field else { return Some(Vec::new()) };
    if !field.is_list() {
        return read(&field);
    }
    let items = field.list()?;
    if items.is_empty() {
        field.warn("no picture is asked for", "leave this out, or put a table { } into the list");
    }
    let all: Vec<Option<Vec<T>>> = items.iter().map(read).collect();
    let all: Option<Vec<Vec<T>>> = all.into_iter().collect();
    all.map(|all| all.into_iter().flatten().collect())
}

/// The axis across which pictures are taken: z, but y where the grid lies in the plane of x and z.
fn usual_normal(grid: &Grid) -> usize {
    if grid.shape()[2] == 1 {
        2
    } else if grid.shape()[1] == 1 {
        1
    } else {
        2
    }
}

fn read_every(field: &Field<'_>, time: Option<&FieldTime>) -> Option<Every> {
    let help = "a time, as every = 10.0, or a number of steps, as every = { steps = 1000 }";
    if field.is_table() {
        let section = field.section()?;
        let steps = section.need("steps", help).and_then(|field| field.whole(1, u64::MAX));
        section.finish();
        return steps.map(Every::Steps);
    }
    let every = field.number()?;
    if every <= 0.0 {
        return field.refuse("the time between two states must be positive", help);
    }
    let Some(time) = time else { return Some(Every::Time(every)) };
    // A step ends at every state, and less than a rounding of the time is no step.
    let (states, most) = ((time.until - time.start) / every, time.max_steps.min(MOST_STATES));
    if states - 1.0 > most as f64 {
        let message = format!("a state every {every} makes {states:.3e} states, more than {most}");
        let help = "a step ends at each of them: take a longer time, or raise time.max_steps";
        return field.refuse(message, help);
    }
    Some(Every::Time(every))
}

/// The species that a section names, or all.
fn which_species(section: &Section<'_>, names: Option<&[String]>) -> Option<Vec<usize>> {
    match section.get("species") {
        None => Some((0..names?.len()).collect()),
        Some(field) if field.is_list() => {
            let items = field.list()?;
            if items.is_empty() {
                return field.refuse("there is no species", "name one, or leave this out for all");
            }
            let found: Vec<_> = items.iter().map(|item| species(item, names)).collect();
            found.into_iter().collect()
        }
        Some(field) => species(&field, names).map(|s| vec![s]),
    }
}

fn axis(field: &Field<'_>) -> Option<usize> {
    field.choice("axes", &[("x", 0), ("y", 1), ("z", 2)])
}

fn read_slices(
    item: &Field<'_>,
    names: Option<&[String]>,
    grid: Option<&Grid>,
) -> Option<Vec<Slice>> {
    let section = item.section()?;
    let which = which_species(&section, names);
    let grid = grid?;
    let normal = section.get("normal").map_or(Some(usual_normal(grid)), |field| axis(&field));
    let plane = match section.get("at") {
        None => normal.map(|normal| grid.shape()[normal] / 2),
        Some(field) => field.number().zip(normal).and_then(|(at, normal)| {
            let mut point = [0, 1, 2].map(|axis| grid.centre(axis, 0));
            point[normal] = at;
            cell_at(&field, point, grid).map(|cell| cell[normal])
        }),
    };
    let range = section.get("range").map(|field| {
        let items = field.list()?;
        let [low, high] = &items[..] else {
            return field.refuse("a range has two ends", "as range = [0.0, 1.0]");
        };
        let (low, high) = (low.number(), high.number());
        match (low?, high?) {
            (low, high) if low < high => Some((low, high)),
            _ => field.refuse("the range is empty", "as range = [0.0, 1.0]"),
        }
    });
    let maps = [
        ("viridis", Colours::Viridis),
        ("magma", Colours::Magma),
        ("cividis", Colours::Cividis),
        ("diverging", Colours::Diverging),
    ];
    let colours_field = section.get("colours");
    let colours = colours_field
        .as_ref()
        .map_or(Some(Colours::Viridis), |field| field.choice("colour maps", &maps));
    section.finish();
    let range = range.map_or(Some(None), |range| range.map(Some))?;
    let (which, normal, plane, colours): (Vec<usize>, _, _, _) =
        (which?, normal?, plane?, colours?);
    let slice = |species| Slice { species, normal, plane, range, colours };
    let slices: Vec<Slice> = which.into_iter().map(slice).collect();
    let is_line = slices.first().is_some_and(|slice| slice.line(grid).is_some());
    if let Some(field) = colours_field.filter(|_| is_line) {
        field.warn("the plane has one row of cells, which is drawn as a line", "leave this out");
    } else if let Some((low, high)) = range
        && colours == Colours::Diverging
        && (low > 0.0 || high < 0.0)
    {
        let field = section.get("range");
        let help = "take a range around zero, which is white, or other colours";
        field.into_iter().for_each(|field| field.warn("the range holds no zero", help));
    }
    Some(slices)
}

/// Most pixels along an edge of a picture.
const LARGEST: u64 = 4096;

fn read_isosurface(item: &Field<'_>, names: Option<&[String]>) -> Option<Isosurface> {
    let section = item.section()?;
    let help = "as isosurface = { species = \"u\", levels = [0.5] }";
    let of = section.need("species", help).and_then(|field| species(&field, names));
    let levels = section.need("levels", help).and_then(|field| {
        let items = field.list()?;
        if items.is_empty() {
            return field.refuse("there is no level", help);
        }
        let levels: Vec<Option<f64>> = items.iter().map(Field::number).collect();
        levels.into_iter().collect::<Option<Vec<f64>>>()
    });
    let sides = [("above", false), ("below", true)];
    let below = section.get("inside").map_or(Some(false), |field| field.choice("sides", &sides));
    let view = section.get("view").map_or(Some((-60.0, 30.0)), |field| {
        let items = field.list()?;
        let [azimuth, elevation] = &items[..] else {
            return field.refuse("a view has two angles", "as view = [-60.0, 30.0], in degrees");
        };
        azimuth.number().zip(elevation.number())
    });
    let size = section.get("size").map_or(Some(640), |field| field.whole(64, LARGEST));
    section.finish();
    Some(Isosurface {
        species: of?,
        levels: levels?,
        below: below?,
        view: view?,
        size: size? as usize,
    })
}

fn read_series(field: &Field<'_>, grid: Option<&Grid>) -> Option<Series> {
    let section = field.section()?;
    let help = "steps between two rows, as series = { every = 100 }";
    let every = section.need("every", help).and_then(|field| field.whole(1, u64::MAX));
    let point = |field: &Field<'_>| {
        let at = three(field, |x| x.number())?;
        cell_at(field, at, grid?)
    };
    let probes = section.get("probes").map_or(Some(Vec::new()), |field| {
        let all: Vec<_> = field.list()?.iter().map(point).collect();
        all.into_iter().collect()
    });
    let lines = section.get("lines").map_or(Some(Vec::new()), |field| {
        let line = |item: &Field<'_>| {
            let section = item.section()?;
            let help = "as { along = \"x\", through = [0.0, 0.5, 0.5] }";
            let along = section.need("along", help).and_then(|field| axis(&field));
            let cell = section.need("through", help).and_then(|field| point(&field));
            section.finish();
            Some(Line { along: along?, cell: cell? })
        };
        let all: Vec<_> = field.list()?.iter().map(line).collect();
        all.into_iter().collect()
    });
    section.finish();
    Some(Series { every: every?, probes: probes?, lines: lines? })
}

fn read_structure(field: &Field<'_>, names: Option<&[String]>) -> Option<Structure> {
    let section = field.section()?;
    let help = "steps between two states, as structure = { every = 1000 }";
    let every = section.need("every", help).and_then(|field| field.whole(1, u64::MAX));
    let species = which_species(&section, names);
    section.finish();
    Some(Structure { every: every?, species: species? })
}

impl Line {
    /// `x_3_4`: the axis, and the cells along the others.
    pub fn name(&self) -> String {
        let others: Vec<String> = (0..3)
            .filter(|axis| *axis != self.along)
            .map(|axis| self.cell[axis].to_string())
            .collect();
        format!("{}_{}", AXES[self.along], others.join("_"))
    }
}
