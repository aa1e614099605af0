//! Reading which points are armed, and how.

use std::time::Duration;

/// What an armed point does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Action {
    /// Ends the process at once: nothing is flushed, nothing is dropped.
    Abort,
    /// Sleeps, this time and every later time.
    Delay(Duration),
    /// Makes [`fails`](crate::fails) say yes.
    Fail,
}

/// One armed point.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Arm {
    /// Name of the point.
    pub point: String,
    /// Which passing of it, from 1.
    pub at: u64,
    /// What happens then.
    pub action: Action,
}

/// A text that arms nothing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BadArm(pub String);

impl std::fmt::Display for BadArm {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "`{}` is not `<point>:<count>[:abort|delay=<ms>|err]`", self.0)
    }
}

impl std::error::Error for BadArm {}

impl Arm {
    /// Reads `point:count[:abort|delay=<ms>|err]`, several separated by commas; an empty text arms nothing.
    ///
    /// `count` is 1 or more, a delay is in milliseconds. Without an action the point aborts.
    ///
    /// # Errors
    ///
    /// [`BadArm`] with the first entry that does not have this form.
    pub fn parse_all(text: &str) -> Result<Vec<Self>, BadArm> {
        text.split(',').map(str::trim).filter(|one| !one.is_empty()).map(Self::parse).collect()
    }

    fn parse(text: &str) -> Result<Self, BadArm> {
        let bad = || BadArm(text.to_owned());
        let mut parts = text.split(':');
        let point = parts.next().filter(|point| !point.is_empty()).ok_or_else(bad)?;
        let at = parts.next().and_then(|count| count.parse().ok()).filter(|at| *at > 0).ok_or_else(bad)?;
        let action = match parts.next() {
            None | Some("abort") => Action::Abort,
            Some("err") => Action::Fail,
            Some(other) => {
                let millis = other.strip_prefix("delay=").and_then(|millis| millis.parse().ok());
                Action::Delay(Duration::from_millis(millis.ok_or_else(bad)?))
            }
        };
        if parts.next().is_some() {
            return Err(bad());
        }
        Ok(Self { point: point.to_owned(), at, action })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn arm(point: &str, at: u64, action: Action) -> Arm {
        Arm { point: point.to_owned(), at, action }
    }

    #[test]
    fn every_form_is_read() {
        let read = Arm::parse_all("a.b:1, c:3:abort ,d:2:delay=250,e:1:err").unwrap();
        let delay = Action::Delay(Duration::from_millis(250));
        let expected =
            [arm("a.b", 1, Action::Abort), arm("c", 3, Action::Abort), arm("d", 2, delay), arm("e", 1, Action::Fail)];
        assert_eq!(read, expected);
        assert_eq!(Arm::parse_all(""), Ok(Vec::new()));
    }

    #[test]
    fn what_is_none_is_refused() {
        for text in ["a", "a:", "a:0", "a:x", ":1", "a:1:soon", "a:1:delay=x", "a:1:abort:2"] {
            assert_eq!(Arm::parse_all(text), Err(BadArm(text.to_owned())), "{text}");
        }
    }
}
