//! Every damage is noticed, and costs no more than it must.

use super::*;
use std::path::PathBuf;

fn header() -> Header {
    Header {
        systems: 10,
        batch: 4,
        dim: 2,
        saves: 1,
        real: 4,
        identity: vec![("system".into(), "lorenz".into()), ("method".into(), "rkck".into())],
        files: vec!["csv".into()],
    }
}

fn solution(systems: usize, seed: f32) -> Solution<f32> {
    let value = |i: usize| seed + i as f32;
    Solution {
        dim: 2,
        t: (0..systems).map(|i| i as f64).collect(),
        states: (0..2 * systems).map(value).collect(),
        save_times: vec![0.5],
        saved: (0..2 * systems).map(|i| if i == 0 { f32::NAN } else { value(i) }).collect(),
        n_saved: vec![1; systems],
        status: (0..systems).map(|i| Status::ALL[i % 3]).collect(),
        stats: vec![Stats::from_array(std::array::from_fn(|i| i as u32 + 1)); systems],
        next_steps: Vec::new(),
        warnings: Vec::new(),
        busy_lanes: None,
        gpu_times: None,
    }
}

struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Folder {
        let folder = std::env::temp_dir().join(format!("odeum-{name}-{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        Folder(folder)
    }

    fn file(&self) -> PathBuf {
        self.0.join("a.checkpoint")
    }

    /// A checkpoint with all three batches.
    fn full(&self) -> Vec<u8> {
        let mut checkpoint = Checkpoint::create(&self.file(), header()).unwrap();
        for (b, systems) in [4, 4, 2].into_iter().enumerate() {
            checkpoint.store(b, &solution(systems, b as f32), 0..systems).unwrap();
        }
        checkpoint.sync().unwrap();
        drop(checkpoint);
        std::fs::read(self.file()).unwrap()
    }

    fn load(&self) -> Loaded<f32> {
        Checkpoint::open(&self.file(), &header()).unwrap().load(&[0.5]).unwrap()
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

fn bits(solution: &Solution<f32>) -> Vec<u8> {
    let mut bytes = Vec::new();
    encode(solution, 0..solution.len(), &mut bytes);
    bytes
}

#[test]
fn what_is_stored_comes_back() {
    let folder = Folder::new("back");
    folder.full();
    let loaded = folder.load();
    assert!(loaded.damaged.is_empty());
    for (b, systems) in [4, 4, 2].into_iter().enumerate() {
        let batch = loaded.batches[b].as_ref().unwrap();
        assert_eq!(bits(batch), bits(&solution(systems, b as f32)));
        assert_eq!(batch.save_times, [0.5]);
    }
}

#[test]
fn a_batch_may_be_a_part_of_a_solution() {
    let folder = Folder::new("part");
    let whole = solution(8, 0.0);
    let mut checkpoint = Checkpoint::create(&folder.file(), header()).unwrap();
    checkpoint.store(1, &whole, 3..7).unwrap();
    drop(checkpoint);
    let loaded = folder.load();
    let part = loaded.batches[1].as_ref().unwrap();
    assert_eq!((part.len(), part.t[0], part.status[3]), (4, 3.0, Status::ALL[0]));
    // Components lie one after the other, 8 systems long in the solution and 4 in the batch.
    assert_eq!(part.states, [3.0, 4.0, 5.0, 6.0, 11.0, 12.0, 13.0, 14.0]);
    assert_eq!(bits(part).len(), bits(&solution(4, 0.0)).len());
}

#[test]
fn a_cut_tail_costs_the_last_batch_only() {
    let folder = Folder::new("cut");
    let bytes = folder.full();
    for cut in 1..60 {
        std::fs::write(folder.file(), &bytes[..bytes.len() - cut]).unwrap();
        let loaded = folder.load();
        assert_eq!(loaded.damaged, [2]);
        assert!(loaded.batches[0].is_some() && loaded.batches[1].is_some());
    }
}

#[test]
fn every_flipped_bit_is_noticed() {
    let folder = Folder::new("flip");
    let bytes = folder.full();
    for at in 0..bytes.len() {
        let mut flipped = bytes.clone();
        flipped[at] ^= 1 << (at % 8);
        std::fs::write(folder.file(), &flipped).unwrap();
        match Checkpoint::open(&folder.file(), &header()) {
            Err(finding) => assert!(
                ["damaged", "no checkpoint", "another version"]
                    .iter()
                    .any(|part| finding.message.contains(part)),
                "{finding:?}"
            ),
            Ok(mut checkpoint) => {
                let loaded = checkpoint.load::<f32>(&[0.5]).unwrap();
                // A flip in the zeros between slots hurts nothing; there are none here.
                assert_eq!(loaded.damaged.len(), 1, "byte {at}");
            }
        }
    }
}

#[test]
fn batches_never_written_are_absent_and_not_damaged() {
    let folder = Folder::new("absent");
    let mut checkpoint = Checkpoint::create(&folder.file(), header()).unwrap();
    checkpoint.store(1, &solution(4, 1.0), 0..4).unwrap();
    drop(checkpoint);
    let loaded = folder.load();
    assert!(loaded.damaged.is_empty());
    let there: Vec<bool> = loaded.batches.iter().map(Option::is_some).collect();
    assert_eq!(there, [false, true, false]);
}

#[test]
fn a_checkpoint_of_another_run_says_in_what_it_differs() {
    let folder = Folder::new("foreign");
    folder.full();
    let mut wanted = header();
    wanted.identity[1].1 = "dopri5".into();
    let finding = Checkpoint::open(&folder.file(), &wanted).unwrap_err();
    assert_eq!(finding.message, "the checkpoint is of another run");
    assert_eq!(finding.found.as_deref(), Some("it differs in: method"));
    std::fs::write(folder.file(), "hello, this is not a checkpoint").unwrap();
    let finding = Checkpoint::open(&folder.file(), &header()).unwrap_err();
    assert_eq!(finding.message, "this is no checkpoint of odeum");
}

#[test]
fn checkpoints_of_other_versions_and_kinds_are_named() {
    let folder = Folder::new("version");
    for old in ["ODEUMCK3", "ODEUMFK1", "ODEUMCK9"] {
        std::fs::write(folder.file(), [old.as_bytes(), &[0; 200]].concat()).unwrap();
        let finding = Checkpoint::open(&folder.file(), &header()).unwrap_err();
        assert_eq!(finding.message, "the checkpoint is of another version of odeum");
        assert!(finding.found.as_deref().is_some_and(|found| found.contains(old)));
    }
    folder.full();
    let problem = odeum_fields::problems::Builtin::Turing.problem([3, 2, 2]).unwrap();
    let read = crate::checkpoint::field::read::<f64>(&folder.file(), &problem, &[]);
    let finding = read.map(|_| ()).unwrap_err();
    assert_eq!(finding.message, "this is no checkpoint of a field");
    assert_eq!(finding.found.as_deref(), Some("it is of another kind: ensemble"));
}
