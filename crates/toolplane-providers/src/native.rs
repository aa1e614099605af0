//! Providers whose tools workers bring along: which native tools are theirs, and by which one they are asked what they have.

use toolplane_records::profile::{BUILT_IN, ExecutionBinding};
use toolplane_records::provider::ToolRefusal;
use toolplane_records::visible::excerpt;
use toolplane_records::vocabulary::RefusalCode;

/// The name beneath the prefix of the native tool that says what there is. No tool of the provider can be it.
const LIST: &str = "list_tools";
/// Most characters of a prefix: names beneath it have at least as much room within the 128 of a native name.
const MAX_PREFIX: usize = 64;

/// The native tool by which the workers of a prefix are asked what they have, e.g. `acme.list_tools`.
pub fn list_tool(prefix: &str) -> String {
    format!("{prefix}{LIST}")
}

/// What the provider calls a tool of that name: what is beneath the prefix, or all of it.
pub fn own_name<'a>(prefix: &str, name: &'a str) -> &'a str {
    name.strip_prefix(prefix).filter(|rest| !rest.is_empty()).unwrap_or(name)
}

/// Whether a native tool can be beneath both prefixes.
pub(crate) fn overlap(one: &str, other: &str) -> bool {
    one.starts_with(other) || other.starts_with(one)
}

/// What runs the tool that the provider calls `native_id`: what it says, or the native tool of that name beneath the prefix.
///
/// # Errors
///
/// [`RefusalCode::Unsupported`] for a binding of another kind, [`RefusalCode::WrongIdentity`] for a native tool that is not beneath the
/// prefix, or is the one that says what there is.
pub fn bind(prefix: &str, native_id: &str, binding: Option<ExecutionBinding>) -> Result<ExecutionBinding, ToolRefusal> {
    let refused = |code, reason| Err(ToolRefusal { code, reason });
    let name = match binding {
        None => format!("{prefix}{native_id}"),
        Some(ExecutionBinding::Native { name }) => name,
        Some(_) => {
            let reason = "tools of workers have a binding of the type `native`, and it has another one".to_owned();
            return refused(RefusalCode::Unsupported, reason);
        }
    };
    if name == list_tool(prefix) {
        let reason = format!("`{}` is the tool by which its provider is asked what it has", excerpt(&name, 120));
        return refused(RefusalCode::WrongIdentity, reason);
    }
    if name.strip_prefix(prefix).is_none_or(str::is_empty) {
        let reason = format!("its native tool `{}` must begin with `{prefix}`, and go on", excerpt(&name, 120));
        return refused(RefusalCode::WrongIdentity, reason);
    }
    Ok(ExecutionBinding::Native { name })
}

/// Why a text cannot be the prefix of a provider's native tools.
pub(crate) fn check_prefix(prefix: &str) -> Result<(), String> {
    let name = prefix.strip_suffix('.').unwrap_or_default();
    let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '.' | '-');
    if name.is_empty() || !name.chars().all(plain) || name.split('.').any(str::is_empty) {
        return Err("must be a name and a dot, e.g. `acme.`".to_owned());
    }
    if prefix.len() > MAX_PREFIX {
        return Err(format!("may have {MAX_PREFIX} characters"));
    }
    // Later built-in tools will be beneath these, too.
    let first = name.split('.').next().unwrap_or_default();
    match BUILT_IN.iter().any(|(pool, _)| *pool == first) {
        true => Err("is that of the built-in tools".to_owned()),
        false => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_prefix_is_a_name_and_a_dot_and_none_of_ours() {
        for right in ["acme.", "acme.billing.", "a_b-c.", "natives."] {
            assert_eq!(check_prefix(right), Ok(()), "{right}");
        }
        let long = format!("{}.", "a".repeat(MAX_PREFIX));
        for wrong in ["", ".", "acme", "a..b.", "a b.", ".a.", "acme.*.", "native.", "files.x.", &long] {
            assert!(check_prefix(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn two_prefixes_overlap_when_one_tool_can_be_beneath_both() {
        for (one, other, expected) in [
            ("acme.", "acme.", true),
            ("acme.", "acme.billing.", true),
            ("acme.billing.", "acme.", true),
            ("acme.", "acmes.", false),
            ("acme.a.", "acme.b.", false),
        ] {
            assert_eq!(overlap(one, other), expected, "{one} {other}");
        }
    }

    #[test]
    fn a_tool_is_run_beneath_the_prefix_of_its_provider_alone() {
        let native = |name: &str| ExecutionBinding::Native { name: name.to_owned() };
        let code = |native_id: &str, binding| bind("acme.", native_id, binding).map_err(|refusal| refusal.code);
        assert_eq!(code("translate", None), Ok(native("acme.translate")));
        assert_eq!(code("translate", Some(native("acme.text.v2"))), Ok(native("acme.text.v2")));
        assert_eq!(code("a", Some(native("acme.text.list_tools"))), Ok(native("acme.text.list_tools")));
        let shell = ExecutionBinding::Shell { shell: None };
        assert_eq!(code("a", Some(shell)), Err(RefusalCode::Unsupported));
        for other in ["other.translate", "acme.", "acme", "native.echo", "acme.list_tools"] {
            assert_eq!(code("a", Some(native(other))), Err(RefusalCode::WrongIdentity), "{other}");
        }
        assert_eq!(code("list_tools", None), Err(RefusalCode::WrongIdentity));
    }

    #[test]
    fn a_name_is_what_is_beneath_the_prefix() {
        for (name, expected) in [("acme.text.v2", "text.v2"), ("text", "text"), ("acme.", "acme."), ("acme", "acme")] {
            assert_eq!(own_name("acme.", name), expected);
        }
    }
}
