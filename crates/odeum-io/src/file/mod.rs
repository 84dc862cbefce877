//! Files: read within limits, written whole or not at all, locked while a run writes them.

mod atomic;
mod limit;
mod lock;
mod mapped;
mod read;
mod room;
mod whole;

pub(crate) use atomic::stage_into;
pub use atomic::{
    Staged, broken_link, came_meanwhile, cannot_write, is_there, make_folder, probe,
    refuse_another_kind, stage, temporary, write_whole,
};
pub use limit::outlive_size_limit;
pub(crate) use lock::is_at;
pub use lock::{Lock, may_write};
pub(crate) use mapped::Mapped;
pub use read::{open, read_bytes, read_text, reason, text_of};
pub use room::Room;
pub use whole::Whole;
