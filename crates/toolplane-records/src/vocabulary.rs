//! The closed and open vocabularies of the standard, spelled exactly as it spells them.

/// A word that is not in a closed vocabulary.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{word}` is not one of: {allowed}")]
pub struct UnknownWord {
    /// What was given, cut to 64 characters.
    pub word: String,
    /// The words that would have been accepted, comma separated.
    pub allowed: String,
}

macro_rules! vocabulary {
    ($($(#[$doc:meta])* $name:ident { $($(#[$vdoc:meta])* $variant:ident = $text:literal),* $(,)? })*) => {$(
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum $name {
            $($(#[$vdoc])* #[doc = concat!("`", $text, "`")] $variant),*
        }

        impl $name {
            /// Every word, in the standard's order.
            pub const ALL: &'static [Self] = &[$(Self::$variant),*];

            /// The word as the standard spells it.
            pub const fn as_str(self) -> &'static str {
                match self { $(Self::$variant => $text),* }
            }
        }

        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str(self.as_str())
            }
        }

        impl std::str::FromStr for $name {
            type Err = $crate::vocabulary::UnknownWord;
            fn from_str(text: &str) -> Result<Self, Self::Err> {
                match text {
                    $($text => Ok(Self::$variant),)*
                    _ => Err($crate::vocabulary::UnknownWord {
                        word: text.chars().take(64).collect(),
                        allowed: [$($text),*].join(", "),
                    }),
                }
            }
        }

        #[cfg(feature = "schema")]
        impl schemars::JsonSchema for $name {
            fn schema_name() -> std::borrow::Cow<'static, str> {
                stringify!($name).into()
            }

            fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
                schemars::json_schema!({ "type": "string", "enum": [$($text),*] })
            }
        }

        impl serde::Serialize for $name {
            fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.serialize_str(self.as_str())
            }
        }

        impl<'de> serde::Deserialize<'de> for $name {
            fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                let text = <std::borrow::Cow<'de, str> as serde::Deserialize>::deserialize(deserializer)?;
                text.parse().map_err(serde::de::Error::custom)
            }
        }
    )*};
}

// The modules come after the macro they use.
mod calls;
mod decisions;
mod events;
mod providers;
mod results;
pub mod sets;
mod tools;

pub use calls::{
    AbortReason, Band, ContextModifierPolicy, Hold, InterruptBehavior, InvocationStatus, LockMode, OrderingPolicy,
    ProgressStatus, QueueState, SiblingFailurePolicy, YieldPolicy,
};
pub use decisions::{
    AccessKind, ApprovalState, Behavior, ClassifierAuthority, HookEvent, MutationSource, PermissionOption, ReasonType,
    RiskLevel, RuleFit, RuleSource, WriteEffect,
};
pub use events::EventClass;
pub use providers::{
    CircuitState, ProviderFault, ProviderKind, ProviderState, ProviderTrust, RefusalCode, ReviewBasis, ReviewState,
    SessionSharing,
};
pub use results::{ErrorClass, PersistenceStrategy, RecordClass, Recoverability, RedactionState, ResultStatus};
pub use tools::{
    ArgumentMode, ExecutionKind, HiddenReason, LoadingState, SchemaVisibility, StartGuard, SurfaceScope, ToolKind,
    ToolLifecycle,
};
