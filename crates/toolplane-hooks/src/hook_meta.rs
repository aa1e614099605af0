//! What is known of a hook beside what it does.

use toolplane_records::vocabulary::ClassifierAuthority;

/// What the operator says of a hook.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct HookMeta {
    /// Its name.
    pub hook_id: String,
    /// Its matcher, as written.
    pub matcher: String,
    /// Its `allow` counts like a rule of the operator.
    pub authoritative: bool,
    /// It is a classifier that may decide this.
    pub classifier_authority: Option<ClassifierAuthority>,
}
