//! Names in the request for a surface that do not lead to one tool.

use toolplane_records::error::FieldViolation;

use super::visibility::hidden_now;
use crate::similar::{Effort, NameIndex};
use crate::traits::Traits;
use crate::violations::shown;

/// Most names that are told apart; the others are counted.
const MAX_TOLD: usize = 100;

/// The names of one request that lead to no tool, or to several.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Misnamed {
    names: Vec<WrongName>,
    more: usize,
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct WrongName {
    field: String,
    name: String,
    /// Some of the tools it could mean; `None` when it means none.
    could_be: Option<String>,
}

impl Misnamed {
    pub(super) fn add(&mut self, field: String, name: &str, could_be: Option<String>) {
        if self.names.len() < MAX_TOLD {
            self.names.push(WrongName { field, name: name.to_owned(), could_be });
        } else {
            self.more += 1;
        }
    }

    pub(super) fn into_result(self) -> Result<(), Self> {
        if self.names.is_empty() { Ok(()) } else { Err(self) }
    }

    /// What is wrong with each name, and which of `names` may have been meant.
    pub fn violations(self, names: &NameIndex) -> Vec<FieldViolation> {
        let mut effort = Effort::of_one_request();
        let mut found: Vec<FieldViolation> = Vec::with_capacity(self.names.len() + 1);
        for WrongName { field, name, could_be } in self.names {
            let short = shown(&name, 80);
            let description = match could_be {
                Some(tools) => format!("`{short}` could be any of {tools}"),
                None => {
                    let similar = names
                        .similar(&name, &mut effort, |tool| hidden_now(&Traits::of(tool.registration())).is_none());
                    let hint =
                        if similar.is_empty() { String::new() } else { format!("; similar: {}", similar.join(", ")) };
                    format!("`{short}` is not a registered tool{hint}")
                }
            };
            found.push(FieldViolation { field, description });
        }
        if self.more > 0 {
            let description = format!("{} more names lead to no tool, or to several", self.more);
            found.push(FieldViolation { field: String::new(), description });
        }
        found
    }
}
