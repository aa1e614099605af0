//! What is said of an operation as a tool, beside what its method says: `x-agenttool` in the document, and the operator.

use serde::Deserialize;
use serde_json::Value;
use toolplane_records::vocabulary::{RiskLevel, ToolKind};

use super::{Found, ImportOptions};
use crate::error::{Fault, shown};

const KEY: &str = "x-agenttool";
const MAX_NAME: usize = 64;

/// What is said of one operation; what is not said follows from its method.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Overrides {
    /// Its name as a tool.
    pub name: Option<String>,
    /// Its title.
    pub title: Option<String>,
    /// Its description, in place of the document's.
    pub description: Option<String>,
    /// What kind of tool it is.
    pub kind: Option<ToolKind>,
    /// How dangerous it is.
    pub risk: Option<RiskLevel>,
    /// It changes nothing.
    pub read_only: Option<bool>,
    /// Doing it twice has the effect of doing it once.
    pub idempotent: Option<bool>,
    /// It may destroy something.
    pub destructive: Option<bool>,
    /// It touches what nobody here controls.
    pub open_world: Option<bool>,
    /// `false` leaves it out.
    pub include: Option<bool>,
    /// `true` leaves it out.
    pub exclude: Option<bool>,
}

/// What an operation does to the world.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Facts {
    /// It changes nothing.
    pub read_only: bool,
    /// Doing it twice has the effect of doing it once.
    pub idempotent: bool,
    /// It may destroy something.
    pub destructive: bool,
    /// It touches what nobody here controls.
    pub open_world: bool,
}

impl Facts {
    /// What the meaning of the method says.
    pub fn of_method(method: &str) -> Self {
        let read_only = matches!(method, "GET" | "HEAD" | "OPTIONS" | "QUERY");
        let idempotent = read_only || matches!(method, "PUT" | "DELETE");
        Self { read_only, idempotent, destructive: method == "DELETE", open_world: true }
    }
}

fn risk_of_method(method: &str) -> RiskLevel {
    match method {
        "GET" | "HEAD" | "OPTIONS" | "QUERY" => RiskLevel::Low,
        "DELETE" => RiskLevel::High,
        _ => RiskLevel::Medium,
    }
}

impl Overrides {
    pub(super) fn is_excluded(&self) -> bool {
        self.include == Some(false) || self.exclude == Some(true)
    }

    pub(super) fn facts(&self, method: &str) -> Facts {
        let usual = Facts::of_method(method);
        let read_only = self.read_only.unwrap_or(usual.read_only);
        Facts {
            read_only,
            // Who says that a reading method writes has said that it cannot simply be repeated.
            idempotent: self.idempotent.unwrap_or(read_only || (usual.idempotent && !usual.read_only)),
            destructive: self.destructive.unwrap_or(usual.destructive) && !read_only,
            open_world: self.open_world.unwrap_or(usual.open_world),
        }
    }

    pub(super) fn risk(&self, method: &str) -> RiskLevel {
        self.risk.unwrap_or_else(|| risk_of_method(method))
    }

    /// Takes away what would make the operation look safer than its method does.
    fn only_stricter(mut self, method: &str) -> Self {
        let usual = Facts::of_method(method);
        self.read_only = self.read_only.filter(|said| !said || usual.read_only);
        self.idempotent = self.idempotent.filter(|said| !said || usual.idempotent);
        self.destructive = self.destructive.filter(|said| *said || !usual.destructive);
        self.open_world = self.open_world.filter(|said| *said);
        self.risk = self.risk.filter(|said| *said >= risk_of_method(method));
        self.kind = None;
        self
    }

    /// The same, with what `first` says in place of what is said here.
    fn after(self, first: &Self) -> Self {
        let first = first.clone();
        Self {
            name: first.name.or(self.name),
            title: first.title.or(self.title),
            description: first.description.or(self.description),
            kind: first.kind.or(self.kind),
            risk: first.risk.or(self.risk),
            read_only: first.read_only.or(self.read_only),
            idempotent: first.idempotent.or(self.idempotent),
            destructive: first.destructive.or(self.destructive),
            open_world: first.open_world.or(self.open_world),
            include: first.include.or(self.include),
            exclude: first.exclude.or(self.exclude),
        }
    }
}

/// What the document and the operator say of `one`.
pub(super) fn read(one: &Found<'_>, options: &ImportOptions) -> Result<Overrides, Fault> {
    let place = format!("{}/{KEY}", one.place);
    let mut said = match one.members.get(KEY) {
        None | Some(Value::Null) => Overrides::default(),
        Some(Value::Array(_)) => return Err(Fault::at(&place, "cannot be used: it must be an object")),
        Some(value) => Overrides::deserialize(value)
            .map_err(|error| Fault::at(&place, format!("cannot be used: {}", shown(&error.to_string()))))?,
    };
    if !options.trusted {
        said = said.only_stricter(&one.method);
    }
    if let Some(operator) = options.overrides.get(&one.native_id) {
        said = said.after(operator);
    }
    if let Some(name) = &said.name {
        let fits = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
        let begins = name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_');
        if !begins || name.len() > MAX_NAME || !name.chars().all(fits) {
            let rule = "must have 1 to 64 letters, digits, `_` or `-` and begin with a letter or `_`";
            return Err(Fault::at(format!("{place}/name"), rule));
        }
    }
    if said.read_only == Some(true) && said.destructive == Some(true) {
        return Err(Fault::at(format!("{place}/destructive"), "contradicts `read_only`"));
    }
    Ok(said)
}
