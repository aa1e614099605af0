//! Surfaces within surfaces: what the one above leaves of a tool to those made within it.
//!
//! A surface that is made within another one shows nothing that the other does not show. Which surface that is, is said when it is made and never
//! changes. Nothing of the one above is stored with it: whoever has both at hand puts them together ([`IndexedSurface::within`]), again each time the
//! one above is another. A surface whose parent is not at hand, or is not there any more, shows nothing.

use std::fmt;
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use toolplane_records::ids::SurfaceId;
use toolplane_records::time::Timestamp;

use super::indexed::IndexedSurface;
use super::visibility::Hidden;

/// Most surfaces in a line: a surface, the one it is within, the one that is within, and one more.
pub const MAX_DEPTH: usize = 4;

/// Most surfaces above one.
pub(super) const MAX_ABOVE: usize = MAX_DEPTH - 1;

/// The surface that another one is made within.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Parent {
    /// Its id.
    pub surface_id: SurfaceId,
    /// When it was made: one that is made later under the same id is another surface.
    created_at: Timestamp,
    /// How often all surfaces above together had been changed when the other one was made.
    pub(super) changes: u64,
}

impl Parent {
    /// The surface as one that another is made within now.
    pub(super) fn now(surface: &IndexedSurface) -> Self {
        let changes = surface.lineage().map(IndexedSurface::changes).sum();
        Self { surface_id: surface.id().clone(), created_at: surface.created_at(), changes }
    }

    /// Whether it is this surface.
    pub fn is(&self, surface: &IndexedSurface) -> bool {
        self.surface_id == *surface.id() && self.created_at == surface.created_at()
    }
}

/// How often each surface above one had been changed, the nearest first.
#[derive(Clone, Copy, Default, PartialEq, Eq, Hash)]
pub struct Above {
    changes: [u64; MAX_ABOVE],
    count: usize,
}

impl Above {
    /// One more, behind the others; false where there is no room.
    pub(super) fn push(&mut self, changes: u64) -> bool {
        let Some(place) = self.changes.get_mut(self.count) else { return false };
        *place = changes;
        self.count += 1;
        true
    }

    /// The numbers.
    pub fn as_slice(&self) -> &[u64] {
        self.changes.get(..self.count).unwrap_or_default()
    }

    /// All of them together.
    pub(super) fn sum(&self) -> u64 {
        self.as_slice().iter().sum()
    }

    /// Whether no surface had been changed less often than in `other`, which is of the same surfaces.
    pub(super) fn reaches(&self, other: &Self) -> bool {
        self.count == other.count && self.as_slice().iter().zip(other.as_slice()).all(|(own, other)| own >= other)
    }
}

impl fmt::Debug for Above {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.as_slice()).finish()
    }
}

impl FromIterator<u64> for Above {
    /// Of more than there can be, the first ones.
    fn from_iter<I: IntoIterator<Item = u64>>(numbers: I) -> Self {
        let mut above = Self::default();
        for number in numbers {
            if !above.push(number) {
                break;
            }
        }
        above
    }
}

/// Who says that a tool is no part of a surface.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Outside<'s> {
    /// The surface itself.
    Own,
    /// This one above it.
    Of(&'s SurfaceId),
    /// Nobody: this one above it is not there any more.
    Gone(&'s SurfaceId),
}

impl Outside<'_> {
    /// What is said of the tool, where one above says it.
    pub(super) fn words(self) -> Option<String> {
        match self {
            Self::Own => None,
            Self::Of(id) => Some(format!(
                "is not part of the surface `{id}`, which this one is within: extend that one, or make a surface beside it (CreateSurface)"
            )),
            Self::Gone(id) => Some(format!(
                "cannot be used: this surface is within the surface `{id}`, which is not there any more: make a surface (CreateSurface)"
            )),
        }
    }
}

/// What a surface leaves of a tool to those made within it.
#[derive(Clone, Debug)]
pub(super) enum Leaves<'s> {
    /// The tool is no part of it.
    Outside(Outside<'s>),
    /// It hides it.
    Hidden(Hidden),
    /// It shows it; `later` where only because it was extended: no prompt of those within grows by that.
    Shown { later: bool },
}

/// A message of a surface, to who asks one within it.
pub fn said_above(message: &str, id: &SurfaceId) -> String {
    format!("{message} (says the surface `{id}`, which this one is within)")
}

impl IndexedSurface {
    /// It and the surfaces above it, the nearest first, as far as they are at hand.
    pub fn lineage(&self) -> impl Iterator<Item = &Self> {
        std::iter::successors(Some(self), |surface| surface.above_it().map(|above| &**above))
    }

    /// The surfaces above it, the nearest first, as far as they are at hand.
    pub fn parents(&self) -> impl Iterator<Item = &Self> {
        self.lineage().skip(1)
    }

    /// Whether exactly this is the surface above that it goes by.
    pub fn is_within(&self, above: &Arc<Self>) -> bool {
        self.above_it().is_some_and(|own| Arc::ptr_eq(own, above))
    }

    /// Whether all surfaces above it are at hand.
    pub(super) fn is_whole(&self) -> bool {
        self.lineage().last().is_some_and(|highest| highest.parent().is_none())
    }

    /// How often the surfaces above it have been changed.
    pub(super) fn above(&self) -> Above {
        self.parents().map(Self::changes).collect()
    }
}
