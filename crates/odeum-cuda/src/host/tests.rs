//! What the host device promises.

use super::{Host, Setup, is_available};
use crate::device::{Device, argument};
use crate::memory::{Memory, Pinned};
use crate::stream::Stream;
use odeum_core::Error;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// Reverses blocks of 64 numbers, and says of each warp of them whether it has one below zero.
const REVERSE: &str = r#"
extern "C" __global__ void od_reverse(const int *in, int *out, int *any) {
    OD_SHARED(int, block);
    const unsigned first = blockIdx.x * 64, me = threadIdx.x;
    block[me] = in[first + me];
    OD_LANE_BARRIER();
    out[first + me] = block[63 - me];
    for (int turn = 0; turn < 3; ++turn) {
        const bool found = od_any_lane(turn != 1 && in[first + me] < 0);
        if (found == (turn != 1)) atomicAdd((unsigned *)any + (first + me) / 32, 1u);
    }
}
"#;

/// Folders of temporary files, one for each test.
fn setup(name: &str) -> Setup {
    let folder = std::env::temp_dir().join(format!("odeum-host-{name}-{}", std::process::id()));
    Setup::new(folder)
}

/// There is none where another test has compiled the same text.
fn remove(setup: &Setup) {
    if setup.folder.exists() {
        std::fs::remove_dir_all(&setup.folder).unwrap();
    }
}

#[test]
fn threads_meet_at_barriers_and_votes() {
    if !is_available() {
        return;
    }
    let setup = setup("kernel");
    let host = setup.clone().device();
    let (stream, kernel) = (host.stream().unwrap(), host.compile(REVERSE, "od_reverse").unwrap());
    let memory = || host.memory(4 * 192).unwrap();
    let [mut input, output, mut any] = [memory(), memory(), memory()];
    // Of the six warps the fourth alone has a number below zero.
    let values: Vec<i32> = (0..192).map(|n| if n == 100 { -1 } else { n }).collect();
    stream.write(&mut input, 0, &values).unwrap();
    stream.write(&mut any, 0, &[0_i32; 6]).unwrap();
    let addresses = [input.address(), output.address(), any.address()];
    let mut arguments = addresses.each_ref().map(argument);
    // SAFETY: the arguments are those of the kernel, and there is room for three blocks.
    unsafe { stream.launch(&kernel, [3, 1, 1], [64, 1], 256, &mut arguments).unwrap() };
    let (mut found, mut votes) = ([0_i32; 192], [0_i32; 6]);
    stream.read(&output, 0, &mut found).unwrap();
    stream.read(&any, 0, &mut votes).unwrap();
    let reversed: Vec<i32> = values.chunks(64).flat_map(|b| b.iter().rev().copied()).collect();
    assert_eq!(found.to_vec(), reversed);
    // In the second turn nobody votes for it, and every lane sees that.
    assert_eq!(votes, [32, 32, 32, 96, 32, 32]);
    assert_eq!(host.launched(), ["od_reverse"]);
    // SAFETY: a launch that is refused runs nothing.
    let refused = unsafe { stream.launch(&kernel, [1; 3], [64, 1], 256, &mut arguments[..2]) };
    assert!(matches!(refused, Err(Error::Input { .. })));
    remove(&setup);
}

#[test]
fn what_nobody_waits_for_is_not_there() {
    let host = Setup::new("").device();
    let stream = host.stream().unwrap();
    let (mut memory, mut pinned) = (host.reserve(64).unwrap(), host.pinned(64).unwrap());
    // SAFETY: both live until the stream has been waited for, which is what is tested; bytes are numbers.
    unsafe {
        stream.set_bytes(&mut memory, 0..64, 7).unwrap();
        stream.download(&memory, &mut pinned, 8..64).unwrap();
        assert_eq!(pinned.values::<u8>(0, 64), [0x41; 64]);
        stream.wait().unwrap();
        assert_eq!(pinned.values::<u8>(0, 8), [0x41; 8]);
        assert_eq!(pinned.values::<u8>(8, 56), [7; 56]);
        assert!(stream.upload(&mut pinned, &mut memory, 32..65).is_err());
    }
}

/// Two streams of two devices, the second of which copies what the first writes.
fn copied(seed: u64, waits: bool) -> u8 {
    let setup = Setup::new("").seed(seed);
    let hosts = Setup::together(vec![setup.clone(), setup]);
    let [from, to] = [0, 1].map(|n: usize| hosts[n].stream().unwrap());
    let (mut source, mut target) = (hosts[0].reserve(16).unwrap(), hosts[1].reserve(16).unwrap());
    let mut event = hosts[0].event().unwrap();
    // SAFETY: the memory lives until both streams have been waited for.
    unsafe { from.set_bytes(&mut source, 0..16, 9).unwrap() };
    from.record_event(&mut event).unwrap();
    if waits {
        to.wait_event(&event).unwrap();
    }
    to.copy_to_peer((&source, 0), (&mut target, 0), 16).unwrap();
    let mut values = [0_u8; 16];
    to.read(&target, 0, &mut values).unwrap();
    values[0]
}

/// Streams that do not wait for each other are seen by some seed.
#[test]
fn events_order_streams_and_nothing_else_does() {
    assert!((0..32).all(|seed| copied(seed, true) == 9));
    let found: Vec<u8> = (0..32).map(|seed| copied(seed, false)).collect();
    assert!(found.contains(&9) && found.contains(&0x41));
}

#[test]
fn memory_ends_and_comes_back() {
    let host: Host = Setup::new("").memory(1000).device();
    let half = host.reserve(600).unwrap();
    assert_eq!(host.free_memory(50).unwrap(), 450);
    let error = host.memory(401).map(drop).unwrap_err().to_string();
    assert!(error.starts_with("host:0: not enough memory: 401 bytes are wanted, 400 are free"));
    assert!(error.contains("fewer systems") && error.contains("device = \"cpu\""), "{error}");
    drop(half);
    assert_eq!(host.memory(1000).unwrap().bytes(), 1000);
}

#[test]
fn who_asks_often_enough_finds_a_stream_done() {
    let host = Setup::new("").device();
    let stream = host.stream().unwrap();
    let mut memory = host.reserve(8).unwrap();
    for _ in 0..3 {
        // SAFETY: the memory lives until the stream is done.
        unsafe { stream.set_bytes(&mut memory, 0..8, 7).unwrap() };
    }
    let asked = (0..10).position(|_| stream.is_done().unwrap());
    assert_eq!(asked, Some(3));
}

/// A stream that waits for an event nobody will pass is an error, not a program that hangs.
#[test]
fn waiting_for_ever_is_an_error() {
    let host = Setup::new("").device();
    let [first, second] = [host.stream().unwrap(), host.stream().unwrap()];
    let [mut a, mut b] = [host.event().unwrap(), host.event().unwrap()];
    a.recorded = 1;
    b.recorded = 1;
    first.wait_event(&a).unwrap();
    second.wait_event(&b).unwrap();
    second.record_event(&mut a).unwrap();
    first.record_event(&mut b).unwrap();
    assert!(first.wait().is_err());
}

#[test]
fn shared_memory_is_not_exceeded_in_silence() {
    if !is_available() {
        return;
    }
    let setup = setup("shared");
    let host = setup.clone().device();
    let (stream, kernel) = (host.stream().unwrap(), host.compile(REVERSE, "od_reverse").unwrap());
    let mut memories = [(); 3].map(|()| host.memory(4 * 64).unwrap());
    stream.write(&mut memories[0], 0, &[1_i32; 64]).unwrap();
    let addresses = memories.each_ref().map(Memory::address);
    let mut arguments = addresses.each_ref().map(argument);
    // SAFETY: the arguments are those of the kernel, and there is room for a block.
    unsafe { stream.launch(&kernel, [1, 1, 1], [64, 1], 252, &mut arguments).unwrap() };
    let error = stream.wait().unwrap_err().to_string();
    assert!(error.contains("it wrote beyond the 252 bytes of shared memory"), "{error}");
    remove(&setup);
}

#[test]
fn memory_is_not_exceeded_in_silence() {
    if !is_available() {
        return;
    }
    let setup = setup("beyond");
    let host = setup.clone().device();
    let (stream, kernel) = (host.stream().unwrap(), host.compile(REVERSE, "od_reverse").unwrap());
    let [mut input, output, any] = [256, 192, 256].map(|bytes| host.memory(bytes).unwrap());
    stream.write(&mut input, 0, &[1_i32; 64]).unwrap();
    let addresses = [input.address(), output.address(), any.address()];
    let mut arguments = addresses.each_ref().map(argument);
    // SAFETY: the arguments are those of the kernel, and beyond the memory there is a margin.
    unsafe { stream.launch(&kernel, [1, 1, 1], [64, 1], 256, &mut arguments).unwrap() };
    let panic = catch_unwind(AssertUnwindSafe(|| drop(output))).unwrap_err();
    let message = panic.downcast_ref::<String>().unwrap();
    assert_eq!(message, "a kernel wrote beyond the 192 bytes of a memory");
    remove(&setup);
}
