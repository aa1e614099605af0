//! Messages as lines over a pair of byte streams, e.g. the standard streams of a process.

pub(crate) mod lines;

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use parking_lot::Mutex;
use tokio::io::{AsyncRead, AsyncWrite, AsyncWriteExt as _};
use tokio::sync::mpsc;
use tokio::task::JoinSet;

use crate::core::Core;
use crate::failure::CloseReason;
use crate::flight::Mailbox;
use lines::Lines;

/// How long a server that reads no more may go on writing.
const LAST_WORDS: Duration = Duration::from_secs(1);

/// The sending end; both ends stop when it is dropped.
#[derive(Debug)]
pub(crate) struct StreamLink {
    queue: mpsc::Sender<Line>,
    /// The reader and the writer, which end with the session.
    _tasks: Mutex<JoinSet<()>>,
}

/// A message to write, and the request it is, if it is one.
#[derive(Debug)]
struct Line {
    bytes: Bytes,
    mailbox: Option<Arc<Mailbox>>,
}

impl StreamLink {
    pub(crate) fn start<R, W>(core: &Arc<Core>, read: R, write: W) -> Self
    where
        R: AsyncRead + Send + Unpin + 'static,
        W: AsyncWrite + Send + Unpin + 'static,
    {
        let (queue, lines) = mpsc::channel(core.limits.queue);
        let mut tasks = JoinSet::new();
        tasks.spawn(write_lines(core.clone(), write, lines));
        tasks.spawn(read_lines(core.clone(), read, queue.downgrade()));
        Self { queue, _tasks: Mutex::new(tasks) }
    }

    /// Waits for room, and puts a request in line.
    pub(crate) async fn send(&self, bytes: Bytes, mailbox: Arc<Mailbox>) {
        // A writer that has gone has closed the session, which ends the request.
        let _ = self.queue.send(Line { bytes: one_line(bytes), mailbox: Some(mailbox) }).await;
    }

    /// Puts something nobody waits for in line, if there is room.
    pub(crate) fn try_tell(&self, bytes: Bytes) -> bool {
        self.queue.try_send(Line { bytes: one_line(bytes), mailbox: None }).is_ok()
    }
}

/// A message is one line, so line ends between its values become spaces; within texts JSON has none.
fn one_line(bytes: Bytes) -> Bytes {
    if !bytes.iter().any(|byte| matches!(byte, b'\n' | b'\r')) {
        return bytes;
    }
    bytes.iter().map(|byte| if matches!(byte, b'\n' | b'\r') { b' ' } else { *byte }).collect()
}

async fn write_lines<W: AsyncWrite + Unpin>(core: Arc<Core>, mut write: W, mut lines: mpsc::Receiver<Line>) {
    let writing = async {
        while let Some(line) = lines.recv().await {
            if line.mailbox.is_some_and(|mailbox| !mailbox.leave()) {
                continue;
            }
            write.write_all(&line.bytes).await?;
            write.write_all(b"\n").await?;
            write.flush().await?;
        }
        std::io::Result::Ok(())
    };
    tokio::select! {
        () = core.closed().cancelled() => {}
        written = writing => if let Err(error) = written {
            // A server that has ended often wrote why: its last lines are read first.
            let _ = tokio::time::timeout(LAST_WORDS, core.closed().cancelled()).await;
            core.close(CloseReason::Broken(error.to_string()));
        },
    }
    // A server over standard streams ends when its input does.
    let _ = write.shutdown().await;
}

async fn read_lines<R: AsyncRead + Unpin>(core: Arc<Core>, read: R, queue: mpsc::WeakSender<Line>) {
    let mut lines = Lines::new(read, core.limits.message_bytes);
    let reading = async {
        loop {
            let line = lines.next().await?;
            core.read(line.len() + 1)?;
            if line.trim_ascii().is_empty() {
                continue;
            }
            if let Some(answer) = core.incoming(&line, None)? {
                let sent =
                    queue.upgrade().is_some_and(|queue| queue.try_send(Line { bytes: answer, mailbox: None }).is_ok());
                if !sent {
                    return Err(CloseReason::NotReading);
                }
            }
        }
    };
    let over: Result<(), CloseReason> = tokio::select! {
        () = core.closed().cancelled() => return,
        over = reading => over,
    };
    if let Err(reason) = over {
        core.close(reason);
    }
}
