//! Hints on their way from one process to the others, all of one commit in one message.
//!
//! A message is the sender (16 bytes), then for each hint the length of its topic (2 bytes, lowest first), the topic,
//! the length of its body (4 bytes, lowest first) and the body.

use std::pin::Pin;
use std::task::{Context, Poll};

use bytes::{Buf as _, BufMut as _, Bytes};
use futures_core::Stream;
use tokio::sync::broadcast;
use tokio_stream::wrappers::BroadcastStream;
use toolplane_store::{Hint, HintStream};

/// How many hints wait for a slow reader before it loses the oldest.
const WAITING: usize = 4096;

/// Who sent a message.
pub(crate) type Sender = [u8; 16];

/// The message that carries `hints`.
pub(crate) fn pack(sender: &Sender, hints: &[Hint]) -> Vec<u8> {
    let mut message = sender.to_vec();
    for hint in hints {
        // Checked bounds of a valid commit: both fit with room to spare.
        message.put_u16_le(u16::try_from(hint.topic.len()).unwrap_or(u16::MAX));
        message.put_slice(hint.topic.as_bytes());
        message.put_u32_le(u32::try_from(hint.body.len()).unwrap_or(u32::MAX));
        message.put_slice(&hint.body);
    }
    message
}

/// The sender of a message and its hints; nothing for what is no message of ours.
pub(crate) fn unpack(message: Vec<u8>) -> Option<(Sender, Vec<Hint>)> {
    let mut rest = Bytes::from(message);
    let sender = take(&mut rest, 16)?.as_ref().try_into().ok()?;
    let mut hints = Vec::new();
    while rest.has_remaining() {
        let length = rest.try_get_u16_le().ok()?;
        let topic = String::from_utf8(take(&mut rest, usize::from(length))?.to_vec()).ok()?;
        let length = rest.try_get_u32_le().ok()?;
        hints.push(Hint { topic, body: take(&mut rest, usize::try_from(length).ok()?)? });
    }
    Some((sender, hints))
}

fn take(rest: &mut Bytes, length: usize) -> Option<Bytes> {
    (rest.len() >= length).then(|| rest.split_to(length))
}

/// Where hints of other processes come in and readers pick them up.
#[derive(Debug)]
pub(crate) struct Inbox {
    me: Sender,
    readers: broadcast::Sender<Hint>,
}

impl Inbox {
    /// An inbox that leaves out what `me` sent.
    pub(crate) fn new(me: Sender) -> Self {
        Self { me, readers: broadcast::channel(WAITING).0 }
    }

    /// Takes one message in.
    pub(crate) fn receive(&self, message: Vec<u8>) {
        let Some((sender, hints)) = unpack(message) else { return };
        if sender != self.me {
            // Fails only when there is no reader.
            hints.into_iter().for_each(|hint| drop(self.readers.send(hint)));
        }
    }

    /// Hints from now on.
    pub(crate) fn stream(&self) -> HintStream {
        Box::pin(Kept(BroadcastStream::new(self.readers.subscribe())))
    }
}

/// The hints a reader was fast enough for.
struct Kept(BroadcastStream<Hint>);

impl Stream for Kept {
    type Item = Hint;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Hint>> {
        loop {
            match Pin::new(&mut self.0).poll_next(context) {
                Poll::Ready(Some(Ok(hint))) => return Poll::Ready(Some(hint)),
                // Too slow: the oldest are gone, the rest follows.
                Poll::Ready(Some(Err(_))) => {}
                Poll::Ready(None) => return Poll::Ready(None),
                Poll::Pending => return Poll::Pending,
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use tokio_stream::StreamExt as _;
    use toolplane_store::Hint;

    use super::{Inbox, WAITING, pack, unpack};

    fn hint(topic: &str, body: Vec<u8>) -> Hint {
        Hint { topic: topic.to_owned(), body: body.into() }
    }

    proptest! {
        #[test]
        fn messages_come_back_and_cut_ones_are_no_panic(
            hints in prop::collection::vec(("[a-z/é]{1,20}", prop::collection::vec(any::<u8>(), 0..50)), 0..5),
            cut in 0_usize..200,
        ) {
            let hints: Vec<_> = hints.into_iter().map(|(topic, body)| hint(&topic, body)).collect();
            let mut message = pack(&[7; 16], &hints);
            prop_assert_eq!(unpack(message.clone()), Some(([7; 16], hints.clone())));
            message.truncate(cut);
            if let Some((_, some)) = unpack(message) {
                prop_assert!(hints.starts_with(&some));
            }
        }
    }

    #[tokio::test]
    async fn own_hints_are_left_out_and_slow_readers_lose_the_oldest() {
        let inbox = Inbox::new([1; 16]);
        let mut stream = inbox.stream();
        inbox.receive(pack(&[1; 16], &[hint("mine", vec![])]));
        inbox.receive(b"noise".to_vec());
        for number in 0..=WAITING {
            inbox.receive(pack(&[2; 16], &[hint(&number.to_string(), vec![])]));
        }
        assert_eq!(stream.next().await.map(|hint| hint.topic).as_deref(), Some("1"));
        drop(inbox);
        assert_eq!(stream.collect::<Vec<_>>().await.len(), WAITING - 1);
    }
}
