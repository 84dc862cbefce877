//! What the simulation hands to the thread that writes: in order, with bounds on what waits.
//!
//! Copies of the field and rows of tables go the same way, so that a checkpoint comes after all
//! rows before it. They have bounds of their own: rows wait for copies to be written without
//! holding the simulation back.

use odeum_case::COPIES;
use std::sync::mpsc::{Receiver, Sender, SyncSender, channel, sync_channel};

/// Rows that may wait, each of up to [`PIECE`] bytes; a longer one counts as several.
pub(super) const ROWS: usize = 1024;
const PIECE: usize = 4096;

/// Room for one thing that waits; it is given back when this is dropped.
pub(super) struct Room(SyncSender<()>);

impl Drop for Room {
    fn drop(&mut self) {
        // There is a place for it: it was taken from there.
        let _ = self.0.try_send(());
    }
}

/// Room for so many things.
struct Rooms {
    free: Receiver<()>,
    back: SyncSender<()>,
}

impl Rooms {
    fn new(count: usize) -> Rooms {
        let (back, free) = sync_channel(count);
        (0..count).for_each(|_| drop(Room(back.clone())));
        Rooms { free, back }
    }

    /// Waits until there is room.
    fn take(&self) -> Room {
        // It holds a sender itself, so there always is one to wait for.
        let _ = self.free.recv();
        Room(self.back.clone())
    }
}

/// A message, and the room it takes until it is done with.
pub(super) struct Sent<M> {
    pub(super) message: M,
    pub(super) room: Vec<Room>,
}

/// The end of the simulation.
pub(super) struct Outbox<M> {
    sender: Sender<Sent<M>>,
    copies: Rooms,
    rows: Rooms,
}

/// The end of the thread that writes.
pub(super) type Inbox<M> = Receiver<Sent<M>>;

/// A way for messages.
pub(super) fn queue<M>() -> (Outbox<M>, Inbox<M>) {
    let (sender, inbox) = channel();
    (Outbox { sender, copies: Rooms::new(COPIES), rows: Rooms::new(ROWS) }, inbox)
}

impl<M> Outbox<M> {
    /// Waits until there may be another copy of the field. It is asked for before the copy is
    /// made: no more than [`COPIES`] take memory at once.
    pub(super) fn room(&self) -> Room {
        self.copies.take()
    }

    /// Sends a message with a copy of the field.
    pub(super) fn copy(&self, message: M, room: Room) {
        self.send(message, vec![room]);
    }

    /// Sends a message with text of so many bytes; waits where too much waits already.
    pub(super) fn text(&self, message: M, bytes: usize) {
        let pieces = bytes.div_ceil(PIECE).clamp(1, ROWS);
        self.send(message, (0..pieces).map(|_| self.rows.take()).collect());
    }

    fn send(&self, message: M, room: Vec<Room>) {
        // The writer listens as long as there is a sender.
        let _ = self.sender.send(Sent { message, room });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    #[derive(Debug, PartialEq)]
    enum Message {
        State(usize),
        Row(usize),
    }

    #[test]
    fn rows_go_on_while_a_state_is_being_written() {
        let (outbox, inbox) = queue();
        let ((begin, begun), (open, gate)) = (channel::<()>(), channel::<()>());
        let (tell, told) = channel();
        std::thread::scope(move |scope| {
            let writer = scope.spawn(move || {
                let mut written = Vec::new();
                while let Ok(Sent { message, room }) = inbox.recv() {
                    if message == Message::State(0) {
                        begin.send(()).unwrap();
                        // As long as the disk takes.
                        gate.recv().unwrap();
                    }
                    written.push(message);
                    drop(room);
                }
                written
            });
            scope.spawn(move || {
                outbox.copy(Message::State(0), outbox.room());
                begun.recv().unwrap();
                (0..ROWS).for_each(|row| outbox.text(Message::Row(row), 80));
                outbox.copy(Message::State(1), outbox.room());
                tell.send(()).unwrap();
            });
            // The time only ends a test that fails.
            told.recv_timeout(Duration::from_secs(60)).expect("rows were held back");
            open.send(()).unwrap();
            let written = writer.join().unwrap();
            let rows = (0..ROWS).map(Message::Row);
            let all: Vec<_> =
                [Message::State(0)].into_iter().chain(rows).chain([Message::State(1)]).collect();
            assert_eq!(written, all);
        });
    }

    #[test]
    fn what_waits_is_bounded() {
        let (outbox, inbox) = queue();
        let full = |rooms: &Rooms| rooms.free.try_recv().is_err();
        (0..COPIES).for_each(|n| outbox.copy(Message::State(n), outbox.room()));
        assert!(full(&outbox.copies) && !full(&outbox.rows));
        // The writer has it, but is not done with it.
        let sent = inbox.recv().unwrap();
        assert!(full(&outbox.copies));
        drop(sent);
        assert!(!full(&outbox.copies));
        // A long text takes the room of many rows, and never more than there is.
        let (outbox, inbox) = queue();
        outbox.text(Message::Row(0), PIECE * (ROWS - 1) + 1);
        assert!(full(&outbox.rows));
        drop(inbox.recv().unwrap());
        outbox.text(Message::Row(1), usize::MAX);
        assert!(full(&outbox.rows));
        // A writer that is gone holds nothing back.
        drop(inbox);
        outbox.text(Message::Row(2), 1);
        assert!(!full(&outbox.rows));
    }
}
