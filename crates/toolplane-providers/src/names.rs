//! What a tool is called here, made from what its provider calls it.
//!
//! Our names have fewer characters than those of others, so the rest is spelled out: `_x2f_` for `/`. A name leads back to what it was
//! made from ([`native_of`]), so no two tools ever get the same one. What would be too long keeps its beginning and gets 24 digits of
//! its SHA-256 behind it; which tool that is says its record.
//!
//! The id of a tool holds the id of its provider: a tool that another provider copies, or that is renamed, is another tool.

use std::borrow::Cow;

use toolplane_records::ids::{InterfaceId, ProfileId, ProviderId, ToolId};
use toolplane_records::payload::Digest;
use toolplane_records::provider::{TOOL_ID_PREFIX, ToolRefusal, provider_of};
use toolplane_records::visible::excerpt;
use toolplane_records::vocabulary::RefusalCode;

/// Most characters of a tool's name; leaves room for the namespace within 128.
pub const MAX_NAME: usize = 96;
/// Most characters of what a provider calls a tool.
pub const MAX_NATIVE: usize = 400;
/// Most characters of a provider's id.
pub const MAX_PROVIDER_ID: usize = 48;

/// Between the beginning of a name that would be too long and the digits behind it.
const SHORTENED: &str = "_h";
const DIGITS: usize = 24;
const MAX_SHORTENED: usize = MAX_NAME - SHORTENED.len() - DIGITS;

/// Everything one tool of a provider is called.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ToolNames {
    /// Its id.
    pub tool_id: ToolId,
    /// Its name within the namespace of the provider.
    pub name: String,
    /// The id of its interface.
    pub interface_id: InterfaceId,
    /// The id of its execution profile.
    pub execution_profile_id: ProfileId,
    /// The id of its permission profile.
    pub permission_profile_id: ProfileId,
}

impl ToolNames {
    /// What the tool is called that `provider` calls `native_id`.
    ///
    /// # Errors
    ///
    /// [`RefusalCode::InvalidName`] when `native_id` is empty or has more than [`MAX_NATIVE`] characters, or the provider's id leaves no
    /// room for a name.
    pub fn of(provider: &ProviderId, native_id: &str) -> Result<Self, ToolRefusal> {
        let name = name_of(native_id)?;
        let base = format!("{TOOL_ID_PREFIX}{provider}/{name}");
        let no_room = |_| refused(format!("the id of the provider has more than {MAX_PROVIDER_ID} characters"));
        Ok(Self {
            tool_id: ToolId::parse(&base).map_err(no_room)?,
            interface_id: InterfaceId::parse(&format!("{base}:interface")).map_err(no_room)?,
            execution_profile_id: ProfileId::parse(&format!("{base}:execution")).map_err(no_room)?,
            permission_profile_id: ProfileId::parse(&format!("{base}:permission")).map_err(no_room)?,
            name,
        })
    }
}

/// The provider and the name in the id of a tool; nothing when it is no tool of a provider.
pub fn of_tool_id(tool_id: &ToolId) -> Option<(ProviderId, &str)> {
    let (provider, name) = provider_of(tool_id)?;
    ProviderId::parse(provider).ok().map(|provider| (provider, name))
}

/// The id of the provider's tool of that name; nothing when no tool can have it.
pub fn tool_id(provider: &ProviderId, name: &str) -> Option<ToolId> {
    ToolId::parse(&format!("{TOOL_ID_PREFIX}{provider}/{name}")).ok()
}

/// Why a text cannot be the id of a new provider: 1 to [`MAX_PROVIDER_ID`] characters of `A-Z a-z 0-9 _ . -` can.
pub fn check_provider_id(text: &str) -> Result<(), String> {
    if text.is_empty() || text.len() > MAX_PROVIDER_ID {
        return Err(format!("must have 1 to {MAX_PROVIDER_ID} characters"));
    }
    match text.chars().find(|c| !(c.is_ascii_alphanumeric() || matches!(c, '_' | '.' | '-'))) {
        Some(wrong) => Err(format!("contains {wrong:?}; only letters, digits and `_.-` are allowed")),
        None => Ok(()),
    }
}

/// The name of the tool that its provider calls `native_id`: 1 to [`MAX_NAME`] characters that the catalogue takes.
///
/// # Errors
///
/// [`RefusalCode::InvalidName`] when `native_id` is empty or has more than [`MAX_NATIVE`] characters.
pub fn name_of(native_id: &str) -> Result<String, ToolRefusal> {
    if native_id.is_empty() {
        return Err(refused("has no name"));
    }
    if native_id.chars().nth(MAX_NATIVE).is_some() {
        let shown = excerpt(native_id, 40);
        return Err(refused(format!("`{shown}`: a name may have {MAX_NATIVE} characters")));
    }
    let spelled = spelled(native_id);
    // What only looks shortened is shortened too, so that it is no other one's name.
    if spelled.len() > MAX_NAME || looks_shortened(&spelled) {
        let digits = Digest::of(native_id.as_bytes()).hex();
        let mut start = spelled.into_owned();
        start.truncate(MAX_SHORTENED);
        // The catalogue takes no dot before another one, or at the end.
        return Ok(format!("{}{SHORTENED}{}", start, &digits[..DIGITS]));
    }
    Ok(spelled.into_owned())
}

/// What a provider calls the tool of this name; nothing when the name was shortened, or is not one that [`name_of`] makes.
pub fn native_of(name: &str) -> Option<String> {
    let mut native = String::with_capacity(name.len());
    let mut rest = name;
    while let Some(c) = rest.chars().next() {
        match escape_at(rest) {
            Some((spelled, length)) => {
                native.push(spelled);
                rest = &rest[length..];
            }
            None => {
                native.push(c);
                rest = &rest[c.len_utf8()..];
            }
        }
    }
    (name_of(&native).as_deref() == Ok(name)).then_some(native)
}

fn refused(reason: impl Into<String>) -> ToolRefusal {
    ToolRefusal { code: RefusalCode::InvalidName, reason: reason.into() }
}

fn looks_shortened(spelled: &str) -> bool {
    let digits = |text: &str| text.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'));
    spelled.len() == MAX_NAME
        && spelled.get(MAX_SHORTENED..).and_then(|end| end.strip_prefix(SHORTENED)).is_some_and(digits)
}

/// Every character that a name cannot have, spelled out; and what would be taken for one that is.
fn spelled(native: &str) -> Cow<'_, str> {
    let mut out: Option<String> = None;
    let mut before = '.';
    for (at, c) in native.char_indices() {
        let after = &native[at + c.len_utf8()..];
        let plain = match c {
            '.' => before != '.' && !after.is_empty(),
            '_' => !would_be_an_escape(after),
            c => is_plain(c),
        };
        before = if plain { c } else { '_' };
        match (plain, &mut out) {
            (true, None) => {}
            (true, Some(out)) => out.push(c),
            (false, out) => {
                let out = out.get_or_insert_with(|| native[..at].to_owned());
                out.push_str(&format!("_x{:x}_", u32::from(c)));
            }
        }
    }
    out.map_or(Cow::Borrowed(native), Cow::Owned)
}

fn is_plain(c: char) -> bool {
    c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.')
}

/// Whether what follows an underscore makes it look like the beginning of a character that is spelled out.
fn would_be_an_escape(after: &str) -> bool {
    let Some(rest) = after.strip_prefix('x') else { return false };
    let digits = rest.bytes().take_while(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f')).count();
    // What is spelled out begins with an underscore, too; a dot may have to be.
    (1..=6).contains(&digits)
        && rest[digits..].chars().next().is_some_and(|next| !is_plain(next) || "_.".contains(next))
}

/// The character that is spelled out at the beginning of `text`, and how long that is.
fn escape_at(text: &str) -> Option<(char, usize)> {
    let rest = text.strip_prefix("_x")?;
    let digits = rest.bytes().take_while(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f')).count();
    if !(1..=6).contains(&digits) || rest.as_bytes().get(digits) != Some(&b'_') {
        return None;
    }
    let spelled = u32::from_str_radix(&rest[..digits], 16).ok().and_then(char::from_u32)?;
    Some((spelled, 2 + digits + 1))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn check(native: &str, name: &str) {
        assert_eq!(name_of(native).as_deref(), Ok(name), "{native:?}");
        assert_eq!(native_of(name).as_deref(), Some(native), "{name}");
    }

    #[test]
    fn ordinary_names_stay_and_others_are_spelled_out() {
        for same in ["search", "get_issue", "get-issue", "files.read", "getX", "get_xcode", "set_x", "_x", "a_x_", "_"]
        {
            check(same, same);
        }
        check("repos/list", "repos_x2f_list");
        check("GET /pets/{id}", "GET_x20__x2f_pets_x2f__x7b_id_x7d_");
        check(".a..b.", "_x2e_a._x2e_b_x2e_");
        check("_x2f_", "_x5f_x2f_");
        check("_x2f/", "_x5f_x2f_x2f_");
        check("__x2f_", "__x5f_x2f_");
        check("\u{5929}\u{6c14}", "_x5929__x6c14_");
        check("a\u{0}b", "a_x0_b");
        check("\u{1f980}", "_x1f980_");
    }

    #[test]
    fn what_is_too_long_is_shortened_and_never_merged() {
        let (long, other) = (format!("{}a", "n".repeat(200)), format!("{}b", "n".repeat(200)));
        let name = name_of(&long).unwrap();
        assert_eq!((name.len(), native_of(&name)), (MAX_NAME, None));
        assert_ne!(Ok(name.clone()), name_of(&other));
        // A tool that calls itself what another one's name was shortened to.
        assert_ne!(name_of(&name).unwrap(), name);
        assert_eq!(native_of(&name), None);
        let dots = format!("{}.{}", "n".repeat(MAX_SHORTENED - 1), "m".repeat(90));
        assert_eq!(name_of(&dots).unwrap().len(), MAX_NAME);
    }

    #[test]
    fn some_texts_are_no_names() {
        assert_eq!(name_of("").unwrap_err().code, RefusalCode::InvalidName);
        assert!(name_of(&"n".repeat(MAX_NATIVE)).is_ok());
        assert_eq!(name_of(&"n".repeat(MAX_NATIVE + 1)).unwrap_err().code, RefusalCode::InvalidName);
        for wrong in ["_x2f", "a/b", "_x61_", "_x0020_", "", "a..b"] {
            assert!(native_of(wrong).is_none_or(|native| native == wrong && wrong == "_x2f"), "{wrong}");
        }
    }

    #[test]
    fn the_same_tool_of_another_provider_is_another_tool() {
        let of = |provider: &str, native: &str| ToolNames::of(&ProviderId::from_trusted(provider), native).unwrap();
        assert_ne!(of("github", "search").tool_id, of("github2", "search").tool_id);
        assert_ne!(of("a", "b/c").tool_id, of("a/b", "c").tool_id);
        let names = of("a/b", "c");
        assert_eq!(of_tool_id(&names.tool_id), Some((ProviderId::from_trusted("a/b"), "c")));
        assert_eq!(of_tool_id(&ToolId::from_trusted("tool_shell")), None);
        let endless = ProviderId::from_trusted("p".repeat(256));
        assert_eq!(ToolNames::of(&endless, "a").unwrap_err().code, RefusalCode::InvalidName);
        assert_eq!(check_provider_id("git-hub_1.x"), Ok(()));
        for wrong in ["", "a/b", "a b", &"p".repeat(MAX_PROVIDER_ID + 1)] {
            assert!(check_provider_id(wrong).is_err(), "{wrong}");
        }
        let longest = of(&"p".repeat(MAX_PROVIDER_ID), &"n/".repeat(200));
        assert!(longest.permission_profile_id.as_str().len() <= toolplane_records::ids::MAX_GIVEN_ID_LEN);
    }

    /// Whether the catalogue takes a name.
    fn is_name(name: &str) -> bool {
        (1..=MAX_NAME).contains(&name.len()) && name.chars().all(is_plain) && !name.split('.').any(str::is_empty)
    }

    proptest! {
        #[test]
        fn every_name_leads_back(native in prop_oneof!["[_xX0-9a-f./]{1,40}", "\\PC{1,60}", ".{1,20}", "[a.]{1,130}"]) {
            let name = name_of(&native).unwrap();
            prop_assert!(is_name(&name), "{} of {:?}", name, native);
            match native_of(&name) {
                Some(back) => prop_assert_eq!(back, native),
                None => prop_assert_eq!(name.len(), MAX_NAME, "{} of {:?}", name, native),
            }
        }

        #[test]
        fn no_two_have_the_same(one in "[_x25e./]{1,8}", other in "[_x25e./]{1,8}") {
            prop_assert_eq!(name_of(&one) == name_of(&other), one == other);
        }

        #[test]
        fn any_text_is_the_name_of_at_most_one(text in "[_x0-9a-f.]{0,100}") {
            if let Some(native) = native_of(&text) {
                prop_assert_eq!(name_of(&native).unwrap(), text);
            }
        }
    }
}
