//! What of a call a verdict was made from, so that it can stand for another call that differs in nothing else.

/// The facts of a call that its verdict may depend on, beside those it always does: the tool and its declaration, the safety facts
/// of the call, tenant, actor and roles of the caller, the mode, whether a person can be asked, and what hooks, a classifier and
/// the agent itself say.
///
/// What is not proved to be unlooked-at counts as looked at. It holds for one policy digest.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LookedAt {
    /// The input, or what is hidden of it.
    pub input: bool,
    /// The session.
    pub session: bool,
    /// The surface.
    pub surface: bool,
    /// When it was decided: a rule that has an end may be about the call.
    pub time: bool,
}

// === impl LookedAt ===

impl LookedAt {
    /// Every fact there is.
    pub const EVERYTHING: Self = Self { input: true, session: true, surface: true, time: true };
    /// None of these facts.
    pub const NOTHING: Self = Self { input: false, session: false, surface: false, time: false };

    /// What either of them looked at.
    #[must_use]
    pub fn and(self, other: Self) -> Self {
        Self {
            input: self.input || other.input,
            session: self.session || other.session,
            surface: self.surface || other.surface,
            time: self.time || other.time,
        }
    }
}
