//! What of the mapping reading and writing share: the messages that are not written field by field.

use prost_reflect::{FieldDescriptor, Kind, MessageDescriptor};

/// How messages of a type are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Form {
    /// As an object of their fields.
    Object,
    /// As RFC 3339 text.
    Instant,
    /// As the JSON value they hold.
    Payload,
}

/// Numbers of the fields of `google.protobuf.Timestamp`.
pub(crate) mod instant {
    pub(crate) const SECONDS: u32 = 1;
    pub(crate) const NANOS: u32 = 2;
}

/// Numbers of the fields of `toolplane.v1.JsonPayload`.
pub(crate) mod payload {
    pub(crate) const INLINE: u32 = 1;
    pub(crate) const REF: u32 = 2;
    pub(crate) const SHA256: u32 = 3;
    pub(crate) const SIZE_BYTES: u32 = 4;
    pub(crate) const MEDIA_TYPE: u32 = 5;
}

/// What follows the name of a field whose JSON value is kept elsewhere. No name of a field has such a letter, so nothing that a tool
/// or a model wrote can be taken for it.
pub(crate) const REFERENCE: &str = "@ref";

/// Integers a double holds exactly, as JavaScript and `jq` read them: up to this, to either side of zero.
pub(crate) const EXACT: u64 = (1 << 53) - 1;

/// How messages of this type are written.
pub(crate) fn form(message: &MessageDescriptor) -> Form {
    match message.full_name() {
        "google.protobuf.Timestamp" => Form::Instant,
        "toolplane.v1.JsonPayload" => Form::Payload,
        _ => Form::Object,
    }
}

/// Whether a field, or each element of it, is a JSON value.
pub(crate) fn is_payload(field: &FieldDescriptor) -> bool {
    matches!(field.kind(), Kind::Message(message) if form(&message) == Form::Payload)
}

/// Whether a field must not be given an empty text, which the contract cannot tell from none: what it was to hold a call or a surface to would be
/// dropped in silence, say where a variable was not set.
pub(crate) fn is_never_empty(field: &FieldDescriptor) -> bool {
    const NAMES: [&str; 2] = ["parent_surface_id", "surface_moment"];
    NAMES.contains(&field.name()) && !field.is_list() && field.kind() == Kind::String
}
