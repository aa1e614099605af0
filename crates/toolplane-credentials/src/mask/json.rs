//! Masking of JSON text: its form stays, only texts, keys and numbers change.

use std::borrow::Cow;

use toolplane_records::json::{NotJson, Rewrite, rewrite};

use super::{Mask, REPLACEMENT};

/// See [`Mask::json`].
pub(super) fn masked<'a>(mask: &Mask, text: &'a str) -> Result<Cow<'a, str>, NotJson> {
    rewrite(text, &mut Masked(mask))
}

struct Masked<'a>(&'a Mask);

impl Rewrite for Masked<'_> {
    fn text<'a>(&mut self, text: &'a str, _: Option<&str>) -> Cow<'a, str> {
        self.0.text(text)
    }

    fn is_replacement(&self, key: &str) -> bool {
        key.starts_with(REPLACEMENT)
    }
}
