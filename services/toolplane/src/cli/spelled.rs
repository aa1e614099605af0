//! Words of enums, as the standard spells them.

use toolplane_proto::v1;

/// An enum value as the standard spells it; empty when it says nothing.
pub(crate) fn word(name: &str, prefix: &str) -> String {
    match name.strip_prefix(prefix).unwrap_or(name) {
        "UNSPECIFIED" => String::new(),
        word => word.to_ascii_lowercase(),
    }
}

/// A behaviour as the standard spells it.
pub(crate) fn behavior(behavior: v1::Behavior) -> String {
    word(behavior.as_str_name(), "BEHAVIOR_")
}
