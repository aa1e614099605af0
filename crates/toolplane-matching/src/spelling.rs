//! Names of tools in the spelling of others.

/// Whether `namespace` is `wanted` or below it.
pub fn within(namespace: &str, wanted: &str) -> bool {
    namespace.strip_prefix(wanted).is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
}

/// A name as providers of function calling spell it: dots become `__`.
pub fn provider_spelling(name: &str) -> String {
    name.replace('.', "__")
}
