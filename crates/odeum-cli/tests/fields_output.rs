//! What runs of fields write for other programs, and take up again.

// Helpers outside of tests fail the test they are called from.
#![allow(clippy::unwrap_used)]

mod common;

use common::{Folder, npz};
use serde_json::Value;

const TURING: &str = r#"
[system]
problem = "turing"
[grid]
shape = [11, 9, 7]
origin = [1.0, 0.0, -2.0]
[time]
until = 0.06
step = "stable"
[output]
every = 0.02
formats = ["zarr"]
"#;

fn json(folder: &Folder, name: &str) -> Value {
    serde_json::from_slice(&folder.read(name)).unwrap()
}

/// The numbers of a JSON list.
fn numbers(list: &Value) -> Vec<f64> {
    list.as_array().unwrap().iter().map(|x| x.as_f64().unwrap()).collect()
}

/// The rules of OME-Zarr 0.5 for multiscale images, in so far as they concern images of one
/// resolution.
#[test]
fn stores_are_images_too() {
    let folder = Folder::new();
    folder.write("a.toml", TURING).odeum(&["run", "a.toml"]).well();
    let end = npz::read(&folder.path("a.npz"));
    let group = json(&folder, "a.zarr/zarr.json");
    let ome = &group["attributes"]["ome"];
    assert_eq!(ome["version"], "0.5");
    let images = ome["multiscales"].as_array().unwrap();
    let names: Vec<&str> = images.iter().map(|image| image["name"].as_str().unwrap()).collect();
    assert_eq!(names, ["u", "v"]);
    for image in images {
        let axes = image["axes"].as_array().unwrap();
        let of = |key: &str| axes.iter().map(|axis| axis[key].clone()).collect::<Value>();
        assert_eq!(of("type"), serde_json::json!(["time", "space", "space", "space"]));
        let [set] = &image["datasets"].as_array().unwrap()[..] else { panic!("one resolution") };
        let array = json(&folder, &format!("a.zarr/{}/zarr.json", set["path"].as_str().unwrap()));
        assert_eq!(array["dimension_names"], of("name"));
        assert_eq!(numbers(&array["shape"]), [4.0, 7.0, 9.0, 11.0]);
        let [scale, shift] = &set["coordinateTransformations"].as_array().unwrap()[..] else {
            panic!("a scale, then a translation")
        };
        assert_eq!((&scale["type"], &shift["type"]), (&"scale".into(), &"translation".into()));
        let (scale, shift) = (numbers(&scale["scale"]), numbers(&shift["translation"]));
        assert!((scale[0] - 0.02).abs() < 1e-12 && shift[0] == 0.0, "{scale:?}, {shift:?}");
        for (axis, name) in ["z", "y", "x"].into_iter().enumerate() {
            for (cell, centre) in end[name].f64().iter().enumerate() {
                let at = shift[axis + 1] + cell as f64 * scale[axis + 1];
                assert!((at - centre).abs() < 1e-12, "{name} {cell}: {at} and {centre}");
            }
        }
    }
    // What xarray reads is where it was.
    let inline = &group["consolidated_metadata"]["metadata"];
    assert_eq!(inline["u"]["dimension_names"], serde_json::json!(["t", "z", "y", "x"]));
}
