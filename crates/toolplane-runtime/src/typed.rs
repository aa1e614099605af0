//! Two ends of one stream in one process: messages cross as they are, not as bytes.
//!
//! The call itself is made like any other, so its checks, its spans and its end are those of every call; its body carries
//! nothing. Nothing that comes over a wire can have such streams: they are extensions of the request.

use std::fmt;
use std::pin::Pin;
use std::sync::Arc;

use futures_util::{Stream, StreamExt as _, stream};
use parking_lot::Mutex;
use tokio::sync::oneshot;
use tonic::{Request, Status};

/// What one end says.
pub type Messages<T> = Pin<Box<dyn Stream<Item = Result<T, Status>> + Send>>;

/// What the one who serves a call gets: what it hears, and where it puts what it says.
type Served<Asked, Said> = (Messages<Asked>, ServedEnd<Said>);

/// The streams of a call within this process, until the one who serves it takes them.
struct TypedStreams<Asked, Said>(Arc<Mutex<Option<Served<Asked, Said>>>>);

/// Answers a question.
type Answer<T> = Box<dyn Fn() -> Pin<Box<dyn Future<Output = T> + Send>> + Send + Sync>;

/// Where the one who serves a call puts what it says.
pub struct ServedEnd<Said>(oneshot::Sender<Messages<Said>>);

/// Where the caller finds what it hears, once the call is served.
pub struct CallerEnd<Said>(oneshot::Receiver<Messages<Said>>);

/// A question that one end answers for the other, as often as it is put.
pub struct Ask<T>(Arc<Answer<T>>);

impl<T> Ask<T> {
    /// A question that `answer` answers.
    pub fn new<F>(answer: impl Fn() -> F + Send + Sync + 'static) -> Self
    where
        F: Future<Output = T> + Send + 'static,
    {
        Self(Arc::new(Box::new(move || Box::pin(answer()))))
    }

    /// Puts it.
    pub async fn ask(&self) -> T {
        (self.0)().await
    }
}

impl<T> Clone for Ask<T> {
    fn clone(&self) -> Self {
        Self(Arc::clone(&self.0))
    }
}

impl<T> fmt::Debug for Ask<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Ask").finish_non_exhaustive()
    }
}

/// Adds streams to a call of this very process, which the caller must know it is (see
/// [`Peer::is_inside`](crate::client::Peer::is_inside)): whoever serves it hears `asked`.
pub fn offer<Asked: 'static, Said: 'static, B>(request: &mut Request<B>, asked: Messages<Asked>) -> CallerEnd<Said> {
    let (say, said) = oneshot::channel();
    request.extensions_mut().insert(TypedStreams(Arc::new(Mutex::new(Some((asked, ServedEnd(say)))))));
    CallerEnd(said)
}

/// The streams that were offered with a call; none for a call over a wire.
pub fn take<Asked: 'static, Said: 'static, B>(request: &Request<B>) -> Option<Served<Asked, Said>> {
    request.extensions().get::<TypedStreams<Asked, Said>>()?.0.lock().take()
}

impl<Said: Send + 'static> ServedEnd<Said> {
    /// Lets the caller hear `said`. Gives the body of the call: it carries nothing, and ends with `said`, or when the caller
    /// hears no more.
    pub fn say(self, said: Messages<Said>) -> Messages<Said> {
        let (going, over) = oneshot::channel::<()>();
        let end = stream::once(async move { drop(going) }).filter_map(async |()| None);
        // A caller that left hears nothing, and its stream is dropped.
        drop(self.0.send(Box::pin(said.chain(end))));
        Box::pin(stream::once(over).filter_map(async |_| None))
    }
}

impl<Said> CallerEnd<Said> {
    /// Waits for what the one who serves the call says; nothing when it knows no such streams.
    pub async fn said(self) -> Option<Messages<Said>> {
        self.0.await.ok()
    }
}

impl<Said> fmt::Debug for ServedEnd<Said> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ServedEnd").finish_non_exhaustive()
    }
}

impl<Said> fmt::Debug for CallerEnd<Said> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CallerEnd").finish_non_exhaustive()
    }
}

impl<Asked, Said> Clone for TypedStreams<Asked, Said> {
    fn clone(&self) -> Self {
        Self(Arc::clone(&self.0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn messages_cross_and_the_body_ends_with_them() {
        let mut request = Request::new(());
        let asked: Messages<u8> = Box::pin(stream::iter([Ok(1), Ok(2)]));
        let heard = offer::<u8, String, _>(&mut request, asked);
        assert!(take::<u8, u8, _>(&request).is_none(), "streams of other messages");
        let (asked, say) = take::<u8, String, _>(&request).unwrap();
        assert!(take::<u8, String, _>(&request).is_none(), "they are taken once");
        let mut body = say.say(Box::pin(asked.map(|number| number.map(|number| number.to_string()))));
        let mut said = heard.said().await.unwrap();
        assert_eq!(said.next().await.unwrap().unwrap(), "1");
        assert!(futures_util::poll!(body.next()).is_pending(), "there is more to say");
        assert_eq!(said.next().await.unwrap().unwrap(), "2");
        assert!(said.next().await.is_none());
        assert!(body.next().await.is_none());
    }

    #[tokio::test]
    async fn the_body_ends_when_the_caller_left() {
        let mut request = Request::new(());
        let heard = offer::<u8, u8, _>(&mut request, Box::pin(stream::empty()));
        let (_, say) = take::<u8, u8, _>(&request).unwrap();
        let mut body = say.say(Box::pin(stream::pending()));
        assert!(futures_util::poll!(body.next()).is_pending());
        drop(heard);
        assert!(body.next().await.is_none());
    }

    #[tokio::test]
    async fn a_question_is_answered_as_often_as_it_is_put() {
        let count = Arc::new(Mutex::new(0));
        let ask = Ask::new(move || {
            *count.lock() += 1;
            std::future::ready(*count.lock())
        });
        assert_eq!((ask.ask().await, ask.clone().ask().await), (1, 2));
    }

    #[tokio::test]
    async fn nobody_who_takes_them_is_noticed() {
        let mut request = Request::new(());
        let heard = offer::<u8, u8, _>(&mut request, Box::pin(stream::empty()));
        drop(request);
        assert!(heard.said().await.is_none());
    }
}
