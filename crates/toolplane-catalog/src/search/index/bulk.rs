//! The words of many tools at once: worked out and put in order before the index is changed, so that it looks a word up once for all of them.

use std::collections::HashMap;

use smol_str::SmolStr;

use super::fields::{Stems, ToolWords};
use super::postings::Posting;
use super::{Form, is_named};
use crate::search::typos::letters;
use crate::traits::Traits;
use crate::validate::Checked;

/// The words of tools. The tools are numbered in the order in which they came, from 0; those numbers are the places of the entries here.
#[derive(Debug, Default)]
pub(crate) struct BulkWords {
    /// In order, the entries of a word by tool.
    pub(super) terms: Vec<(SmolStr, Posting)>,
    /// In order, each once.
    pub(super) forms: Vec<(SmolStr, Form)>,
}

impl BulkWords {
    pub(crate) fn of<'t>(tools: impl Iterator<Item = (&'t Checked, &'t Traits)>) -> Self {
        let (mut terms, mut forms): (Vec<(SmolStr, Posting)>, HashMap<String, Form>) = (Vec::new(), HashMap::new());
        let mut stems = Stems::default();
        for (place, (tool, traits)) in (0..).zip(tools) {
            let words = ToolWords::with(tool, traits, &mut stems);
            let term = |(term, found): (String, super::fields::TermWeight)| {
                (term.into(), Posting { place, weight: found.weight, fields: found.fields })
            };
            terms.extend(words.terms.into_iter().map(term));
            terms.extend(words.keys.into_iter().map(|key| (key.into(), Posting { place, weight: 0, fields: 0 })));
            for (form, fields) in words.forms {
                let new = || Form { letters: letters(&form), tools: 0, in_names: 0 };
                let known = match forms.get_mut(&form) {
                    Some(known) => known,
                    None => forms.entry(form.clone()).or_insert_with(new),
                };
                known.tools += 1;
                known.in_names += u32::from(is_named(fields));
            }
        }
        terms.sort_unstable_by(|(a, one), (b, other)| (a.as_str(), one.place).cmp(&(b.as_str(), other.place)));
        let mut forms: Vec<(SmolStr, Form)> = forms.into_iter().map(|(form, known)| (form.into(), known)).collect();
        forms.sort_unstable_by(|(a, _), (b, _)| a.cmp(b));
        Self { terms, forms }
    }
}
