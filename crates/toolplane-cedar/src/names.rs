//! The types of the schema, by name, read once.

use std::str::FromStr as _;
use std::sync::OnceLock;

use cedar_policy::{EntityId, EntityTypeName, EntityUid};

/// A type of the schema.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Type {
    Action,
    Tenant,
    Role,
    Actor,
    Namespace,
    ToolKind,
    Tool,
    Texts,
    Numbers,
    Switches,
    Lists,
}

impl Type {
    fn name(self) -> EntityTypeName {
        let (text, known) = self.known();
        #[expect(clippy::expect_used, reason = "the texts below are type names, and a test reads each of them")]
        let name = known.get_or_init(|| EntityTypeName::from_str(text).expect("a type name"));
        name.clone()
    }

    fn known(self) -> (&'static str, &'static OnceLock<EntityTypeName>) {
        static KNOWN: [OnceLock<EntityTypeName>; 11] = [const { OnceLock::new() }; 11];
        let known = &KNOWN;
        match self {
            Self::Action => ("Action", &known[0]),
            Self::Tenant => ("Tenant", &known[1]),
            Self::Role => ("Role", &known[2]),
            Self::Actor => ("Actor", &known[3]),
            Self::Namespace => ("Namespace", &known[4]),
            Self::ToolKind => ("ToolKind", &known[5]),
            Self::Tool => ("Tool", &known[6]),
            Self::Texts => ("Texts", &known[7]),
            Self::Numbers => ("Numbers", &known[8]),
            Self::Switches => ("Switches", &known[9]),
            Self::Lists => ("Lists", &known[10]),
        }
    }

    /// The entity of this type with this id.
    pub(crate) fn uid(self, id: &str) -> EntityUid {
        EntityUid::from_type_name_and_id(self.name(), EntityId::new(id))
    }
}

/// The action of calls whose tool has none of its own.
pub(crate) const CALL: &str = "call";
