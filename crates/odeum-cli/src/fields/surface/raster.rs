//! Triangles on pixels: parallel projection, depth buffer, light.

use super::tetrahedra::Corner;
use crate::fields::canvas::Canvas;
use odeum_io::parallel;
use std::ops::Range;

/// Samples along an edge of a pixel.
const SAMPLES: usize = 2;
/// Which samples of a pixel a surface is drawn on, row by row.
pub(super) type Samples = [bool; SAMPLES * SAMPLES];
/// Parts of the box's depth by which a surface may lie behind another at the same place and cover it, and edges of the box behind a surface.
const SAME_DEPTH: f64 = 1e-9;
const EDGES: f64 = 1e-6;
/// Fraction of the picture around the box.
const MARGIN: f64 = 0.06;

type Vector = [f64; 3];

/// From where the box is seen.
#[derive(Clone, Copy)]
pub(super) struct Camera {
    right: Vector,
    up: Vector,
    toward: Vector,
    scale: f64,
    /// Of the picture's centre, along right and up.
    centre: [f64; 2],
    depth: (f64, f64),
}

impl Camera {
    /// Sees a box from an azimuth and an elevation \[degrees\], on a square picture.
    pub(super) fn new(view: (f64, f64), ends: [(f64, f64); 3], size: usize) -> Camera {
        let (a, e) = (view.0.to_radians(), view.1.to_radians());
        let right = [-a.sin(), a.cos(), 0.0];
        let up = [-e.sin() * a.cos(), -e.sin() * a.sin(), e.cos()];
        let toward = [e.cos() * a.cos(), e.cos() * a.sin(), e.sin()];
        let (mut low, mut high) = ([f64::INFINITY; 3], [f64::NEG_INFINITY; 3]);
        for c in 0..8 {
            let at = corner(ends, c);
            for (n, axis) in [right, up, toward].into_iter().enumerate() {
                let place = dot(at, axis);
                (low[n], high[n]) = (low[n].min(place), high[n].max(place));
            }
        }
        let widest = (high[0] - low[0]).max(high[1] - low[1]);
        let pixels = (size * SAMPLES) as f64 * (1.0 - 2.0 * MARGIN);
        let scale = if widest > 0.0 { pixels / widest } else { 1.0 };
        let centre = [(low[0] + high[0]) / 2.0, (low[1] + high[1]) / 2.0];
        Camera { right, up, toward, scale, centre, depth: (low[2], high[2]) }
    }

    /// Place on the samples, and depth from 0 to 1 through the box, so that pictures are the same in all units: larger is nearer.
    fn project(&self, at: Vector, size: usize) -> Vector {
        let (middle, (far, near)) = (size as f64 / 2.0, self.depth);
        [
            middle + (dot(at, self.right) - self.centre[0]) * self.scale,
            middle - (dot(at, self.up) - self.centre[1]) * self.scale,
            if near > far { (dot(at, self.toward) - far) / (near - far) } else { 0.0 },
        ]
    }

    /// Light from the upper left, a gleam, and a haze that grows with the distance.
    fn shade(&self, colour: Vector, normal: Vector, depth: f64) -> Vector {
        let Camera { right, up, toward, .. } = *self;
        let light = unit(std::array::from_fn(|i| -0.5 * right[i] + 0.8 * up[i] + 0.9 * toward[i]));
        let half = unit(std::array::from_fn(|i| light[i] + toward[i]));
        let mut normal = unit(normal);
        if dot(normal, toward) < 0.0 {
            normal = normal.map(|x| -x);
        }
        let diffuse = 0.30 + 0.70 * dot(normal, light).max(0.0);
        let gleam = 70.0 * dot(normal, half).max(0.0).powi(40);
        let haze = 0.35 * (1.0 - depth);
        colour.map(|x| {
            let lit = (x * diffuse + gleam).min(255.0);
            lit + haze.clamp(0.0, 1.0) * (255.0 - lit)
        })
    }
}

/// A triangle where it falls on the picture.
#[derive(Clone)]
struct Placed {
    triangle: [Corner; 3],
    /// Its corners on the samples, and their depths.
    corners: [Vector; 3],
    area: f64,
    /// Rows and columns of samples that it may touch.
    rows: Range<usize>,
    columns: Range<usize>,
}

/// Bands that a picture is drawn in.
const BANDS: usize = 64;

/// Rows of samples of a band.
fn band_rows(size: usize) -> usize {
    size.div_ceil(BANDS).max(1)
}

/// Triangles by the bands that they touch, in their order.
#[derive(Default)]
pub(super) struct Sorted(Vec<Vec<Placed>>);

/// Rows of samples, drawn on by one thread.
struct Band<'a> {
    camera: Camera,
    size: usize,
    samples: Samples,
    /// The first of its rows.
    first: usize,
    colours: &'a mut [Vector],
    depths: &'a mut [f64],
}

/// Samples with colour and depth.
pub(super) struct Raster {
    camera: Camera,
    size: usize,
    colours: Vec<Vector>,
    depths: Vec<f64>,
}

impl Raster {
    /// A square picture of so many pixels along an edge.
    pub(super) fn new(camera: Camera, pixels: usize) -> Raster {
        let size = pixels * SAMPLES;
        let colours = vec![[255.0; 3]; size * size];
        Raster { camera, size, colours, depths: vec![f64::NEG_INFINITY; size * size] }
    }

    /// Where triangles fall on such a picture.
    pub(super) fn view(&self) -> View {
        View { camera: self.camera, size: self.size }
    }

    /// Draws triangles of several layers in their order, lit from both sides: each thread on rows of its
    /// own, so that their number changes nothing. Through samples that are left out one sees what lies
    /// behind.
    pub(super) fn draw(
        &mut self,
        threads: usize,
        layers: &[Sorted],
        (colour, samples): (Vector, Samples),
    ) {
        let (camera, size) = (self.camera, self.size);
        let rows = band_rows(size);
        let parts = self.colours.chunks_mut(rows * size).zip(self.depths.chunks_mut(rows * size));
        let bands = parts.enumerate().map(|(n, (colours, depths))| {
            (n, Band { camera, size, samples, first: n * rows, colours, depths })
        });
        parallel::each_of(threads, bands, |(n, mut band)| {
            let placed = layers.iter().filter_map(|layer| layer.0.get(n)).flatten();
            placed.for_each(|placed| band.draw(placed, colour));
        });
    }

    /// Draws the edges of a box, hidden where something is nearer.
    pub(super) fn edges(&mut self, ends: [(f64, f64); 3], colour: Vector) {
        for c in 0..8_usize {
            for axis in 0..3 {
                if c >> axis & 1 == 1 {
                    continue;
                }
                let (p, q) = (corner(ends, c), corner(ends, c | 1 << axis));
                let (p, q) = (self.camera.project(p, self.size), self.camera.project(q, self.size));
                let steps = (2.0 * (q[0] - p[0]).hypot(q[1] - p[1])).ceil().max(1.0) as usize;
                for n in 0..=steps {
                    let fraction = n as f64 / steps as f64;
                    let [x, y, depth]: Vector =
                        std::array::from_fn(|i| p[i] + fraction * (q[i] - p[i]));
                    self.dot(x, y, depth, colour);
                }
            }
        }
    }

    fn dot(&mut self, x: f64, y: f64, depth: f64, colour: Vector) {
        for (dx, dy) in [(0.0, 0.0), (1.0, 0.0), (0.0, 1.0)] {
            let (x, y) = (x + dx, y + dy);
            if x < 0.0 || y < 0.0 || x >= self.size as f64 || y >= self.size as f64 {
                continue;
            }
            let at = y as usize * self.size + x as usize;
            if depth >= self.depths[at] - EDGES {
                self.colours[at] = colour;
                self.depths[at] = self.depths[at].max(depth);
            }
        }
    }

    /// The picture: every pixel the mean of its samples.
    pub(super) fn finish(self) -> Canvas {
        let pixels = self.size / SAMPLES;
        let mut canvas = Canvas::new(pixels, pixels, [255; 3]);
        for y in 0..pixels {
            for x in 0..pixels {
                let mut sum = [0.0; 3];
                for n in 0..SAMPLES * SAMPLES {
                    let (sx, sy) = (x * SAMPLES + n % SAMPLES, y * SAMPLES + n / SAMPLES);
                    let colour = self.colours[sy * self.size + sx];
                    (0..3).for_each(|i| sum[i] += colour[i]);
                }
                let mean = sum.map(|x| (x / (SAMPLES * SAMPLES) as f64).round() as u8);
                canvas.set(x, y, mean);
            }
        }
        canvas
    }
}

/// What says where triangles fall on a picture.
#[derive(Clone, Copy)]
pub(super) struct View {
    camera: Camera,
    size: usize,
}

impl View {
    /// Adds a triangle, unless it is seen from its edge.
    pub(super) fn sort(&self, triangle: [Corner; 3], into: &mut Sorted) {
        let Some(placed) = self.place(triangle) else { return };
        into.0.resize_with(BANDS, Vec::new);
        let rows = band_rows(self.size);
        let bands = placed.rows.start / rows..placed.rows.end.div_ceil(rows).min(BANDS);
        for n in bands {
            into.0[n].push(placed.clone());
        }
    }

    fn place(&self, triangle: [Corner; 3]) -> Option<Placed> {
        let corners = triangle.map(|corner| self.camera.project(corner.at, self.size));
        let [a, b, c] = corners;
        let area = (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0]);
        if area.abs() < 1e-12 || !area.is_finite() {
            return None;
        }
        let range = |n: usize| {
            let low = a[n].min(b[n]).min(c[n]).floor().max(0.0) as usize;
            let high = a[n].max(b[n]).max(c[n]).ceil().max(0.0) as usize;
            low..high.min(self.size.saturating_sub(1)) + 1
        };
        Some(Placed { triangle, corners, area, rows: range(1), columns: range(0) })
    }
}

impl Band<'_> {
    fn draw(&mut self, placed: &Placed, colour: Vector) {
        let Placed { triangle, corners: [a, b, c], area, rows, columns } = placed;
        let end = self.first + self.depths.len() / self.size;
        let rows = rows.start.max(self.first)..rows.end.min(end);
        if rows.is_empty() {
            return;
        }
        let flat = {
            let [p, q, r] = triangle.map(|corner| corner.at);
            cross(minus(q, p), minus(r, p))
        };
        let smooth = triangle.iter().all(|corner| corner.normal != [0.0; 3]);
        for y in rows {
            for x in columns.clone() {
                if !self.samples[y % SAMPLES * SAMPLES + x % SAMPLES] {
                    continue;
                }
                let (px, py) = (x as f64 + 0.5, y as f64 + 0.5);
                let part = |p: &Vector, q: &Vector| {
                    ((p[0] - px) * (q[1] - py) - (p[1] - py) * (q[0] - px)) / area
                };
                let weights = [part(b, c), part(c, a), part(a, b)];
                if weights.iter().any(|&w| w < -1e-9) {
                    continue;
                }
                let depth = weights[0] * a[2] + weights[1] * b[2] + weights[2] * c[2];
                let at = (y - self.first) * self.size + x;
                // What comes later covers what lies at the same depth.
                if depth < self.depths[at] - SAME_DEPTH {
                    continue;
                }
                let normal = if smooth {
                    std::array::from_fn(|i| {
                        (0..3).map(|k| weights[k] * triangle[k].normal[i]).sum()
                    })
                } else {
                    flat
                };
                self.depths[at] = depth;
                self.colours[at] = self.camera.shade(colour, normal, depth);
            }
        }
    }
}

/// A corner of a box; bit 0 is x, bit 1 y, bit 2 z.
fn corner(ends: [(f64, f64); 3], c: usize) -> Vector {
    std::array::from_fn(|axis| if c >> axis & 1 == 1 { ends[axis].1 } else { ends[axis].0 })
}

fn dot(a: Vector, b: Vector) -> f64 {
    a[0] * b[0] + a[1] * b[1] + a[2] * b[2]
}

fn minus(a: Vector, b: Vector) -> Vector {
    [a[0] - b[0], a[1] - b[1], a[2] - b[2]]
}

fn cross(a: Vector, b: Vector) -> Vector {
    [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]]
}

fn unit(a: Vector) -> Vector {
    let size = dot(a, a).sqrt();
    if size > 0.0 { a.map(|x| x / size) } else { a }
}
