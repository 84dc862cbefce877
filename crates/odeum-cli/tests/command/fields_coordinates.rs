//! Arrays of files and stores whose coordinates are not those of the grid.

use crate::common::Folder;

/// A field of 4 × 3 × 2 cells, with what stands in its sections.
fn case(grid: &str, start: &str, rest: &str) -> String {
    format!(
        "[system]\nspecies = [\"u\"]\nequations = {{ u = \"lap(u)\" }}\n[grid]\nshape = [4, 3, 2]\n{grid}\n\
         [initial]\nu = {start}\n[time]\nuntil = 0.2\nstep = 0.004\n{rest}\n[output]\nformats = [\"zarr\"]\n"
    )
}

const GRID: &str = "spacing = 0.5\norigin = [0.0, 1.0, 0.0]";
const OTHERS: [(&str, &str); 2] = [
    ("spacing = 0.5\norigin = [7.0, 1.0, 0.0]", "`x` have 0.25 for a cell whose centre is at 7.25"),
    ("spacing = 0.25\norigin = [0.125, 1.0, 0.0]", "`x` have 1.75 for a cell whose centre is at 1"),
];

/// A run that took them gave the field of another place, with success.
#[test]
fn arrays_of_another_grid_are_refused() {
    let folder = Folder::new();
    let mask = format!("{GRID}\nmask = \"3 - x\"");
    folder.write("a.toml", case(&mask, "\"x\"", "")).odeum(&["run", "a.toml"]).well();
    for file in ["a.npz", "a.zarr", "a.zarr/u"] {
        let start = format!("{{ file = \"{file}\" }}");
        let array = format!("[diffusion]\nu = \"{file}\"");
        let cases = |grid: &str| {
            let mask = format!("{grid}\nmask = {{ file = \"{}\" }}", file.trim_end_matches("/u"));
            [
                case(grid, &start, ""),
                case(grid, "1.0", &array),
                case(&mask, "1.0", ""),
                case(
                    grid,
                    "1.0",
                    &format!("[velocity]\ncells = [\"{file}\", \"{file}\", \"{file}\"]"),
                ),
            ]
        };
        // An array of a velocity has its name in archives and groups.
        let counts = if file == "a.zarr/u" { [0, 1, 3].iter() } else { [0, 1, 2].iter() };
        for &n in counts {
            let text = &cases(GRID)[n];
            folder.write("b.toml", text).odeum(&["run", "b.toml", "--overwrite"]).well();
            for (grid, said) in OTHERS {
                let file = file.trim_end_matches(if n == 2 { "/u" } else { "" });
                folder.write("b.toml", &cases(grid)[n]).odeum(&["check", "b.toml"]).refused(&[
                    file,
                    said,
                    "spacing and origin",
                ]);
            }
        }
    }
}

/// An array along x that is not packed.
fn line(kind: &str, codecs: &str) -> String {
    format!(
        "{{\"zarr_format\": 3, \"node_type\": \"array\", \"shape\": [4], \"data_type\": \"{kind}\", \
         \"chunk_grid\": {{\"name\": \"regular\", \"configuration\": {{\"chunk_shape\": [3]}}}}, \
         \"chunk_key_encoding\": {{\"name\": \"default\"}}, \"fill_value\": 0.0, \"codecs\": {codecs}, \
         \"attributes\": {{}}, \"dimension_names\": [\"x\"]}}"
    )
}

/// The field was taken mirrored.
#[test]
fn coordinates_that_fall_are_refused() {
    let folder = Folder::new();
    folder.write("a.toml", case(GRID, "\"x\"", "")).odeum(&["run", "a.toml"]).well();
    folder.write("b.toml", case(GRID, "{ file = \"a.zarr\" }", ""));
    let plain = "[{\"name\": \"bytes\", \"configuration\": {\"endian\": \"little\"}}]";
    // What is filled up lies beyond the end.
    let write = |x: [f32; 4]| {
        let bytes = |x: &[f32]| x.iter().flat_map(|x| x.to_le_bytes()).collect::<Vec<u8>>();
        folder.write("a.zarr/x/c/0", bytes(&x[..3]));
        folder.write("a.zarr/x/c/1", bytes(&[x[3], 0.0, 0.0]));
    };
    folder.write("a.zarr/x/zarr.json", line("float32", plain));
    // Rounded, as those of single precision.
    write([0.2501, 0.75, 1.2499, 1.75]);
    folder.odeum(&["check", "b.toml"]).well();
    write([1.75, 1.25, 0.75, 0.25]);
    folder.odeum(&["check", "b.toml"]).refused(&["a.zarr", "`x` fall", ".sortby(\"x\")"]);
    write([0.25, 0.75, f32::NAN, 1.75]);
    folder.odeum(&["check", "b.toml"]).refused(&["`x` have NaN for a cell"]);
    // What cannot be read is told, as the array itself can.
    let packed = plain.replace("bytes", "zstd");
    folder.write("a.zarr/x/zarr.json", line("float32", &packed));
    let said = folder.odeum(&["check", "b.toml"]).well();
    assert!(said.err.contains("`x` are not looked at: its codecs are zstd"), "{}", said.err);
}

/// Runs went on from zero with the state of another time, without a word.
#[test]
fn states_of_another_time_are_told() {
    let folder = Folder::new();
    folder.write("a.toml", case(GRID, "\"x\"", "")).odeum(&["run", "a.toml"]).well();
    let word = "the state is of t = 0.2, but the run begins at t = 0";
    for file in ["a.npz", "a.zarr", "a.zarr/u"] {
        let start = format!("{{ file = \"{file}\" }}");
        let of = |rest: &str| {
            folder.write("b.toml", case(GRID, &start, rest)).odeum(&["check", "b.toml"]).well()
        };
        for rest in [
            "[boundary]\nx_low = { value = \"t\" }",
            "[velocity]\nuniform = [\"sin(t)\", 0.0, 0.0]",
            "[[sources]]\nspecies = \"u\"\ncell = [1, 1, 1]\nrate = \"t\"",
        ] {
            let said = of(rest);
            assert_eq!(said.err.matches(word).count(), 1, "{rest}: {}", said.err);
            assert!(
                said.err.contains("start = 0.2") && said.err.contains("b.toml:9:"),
                "{}",
                said.err
            );
            for start in ["0.1", "0.0"] {
                let said = of(&format!("start = {start}\n{rest}"));
                assert!(!said.err.contains("the state is of t"), "{}", said.err);
            }
        }
        for rest in ["", "[boundary]\nx_low = { value = 1.0 }"] {
            assert!(!of(rest).err.contains("the state is of t"));
        }
    }
    let two = |text: &str| {
        text.replace("[\"u\"]", "[\"u\", \"v\"]")
            .replace("u = \"lap(u)\"", "u = \"t * lap(u)\", v = \"0\"")
            .replace("u = { file", "v = { file = \"b.zarr/u\" }\nu = { file")
    };
    folder.write("b.toml", case(GRID, "\"x\"", "").replace("until = 0.2", "until = 0.1"));
    folder.odeum(&["run", "b.toml", "--overwrite"]).well();
    folder.write("c.toml", two(&case(GRID, "{ file = \"a.zarr\" }", "")));
    let said = folder.odeum(&["check", "c.toml"]).well();
    assert!(said.err.contains(word) && said.err.contains("of t = 0.1,"), "{}", said.err);
    assert!(said.err.contains("of different times"), "{}", said.err);
}

/// The place of an axis of one cell does not count.
#[test]
fn a_plane_lies_anywhere() {
    let folder = Folder::new();
    let plane = |grid: &str, start: &str| case(grid, start, "").replace("4, 3, 2", "4, 3, 1");
    let grid = format!("{GRID}\nstencil = \"star\"");
    folder.write("a.toml", plane(&grid, "\"x\"")).odeum(&["run", "a.toml"]).well();
    for file in ["a.npz", "a.zarr"] {
        let start = format!("{{ file = \"{file}\" }}");
        let other = grid.replace("1.0, 0.0]", "1.0, 3.0]");
        folder.write("b.toml", plane(&other, &start)).odeum(&["check", "b.toml"]).well();
    }
}
