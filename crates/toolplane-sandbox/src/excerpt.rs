//! Texts of others in messages.

/// At most 200 characters of something a caller gave, for an error text.
pub(crate) fn excerpt(text: &str) -> String {
    text.chars().filter(|c| !c.is_control()).take(200).collect()
}
