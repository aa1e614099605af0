//! What the scope of a surface holds calls, searches and loads to: the session, task or whatever else it was made for.
//!
//! All of it is judged from the surface and from what is said of the call; nothing is looked up. What a caller says of its session, task and so on is
//! taken as it is said: a scope keeps contexts apart, and permissions are for rules.

use std::collections::BTreeMap;

use toolplane_records::short_text;
use toolplane_records::vocabulary::SurfaceScope;

use super::choosing::ChoosingFault;
use super::selection::{Unmatched, similar};

/// What a surface may be for, as its `runtime_refs` name it (`session:ID`). Another word before a colon means nothing here.
const FORMS: [&str; 6] = [SESSION, "task", "turn", "request", "workspace", AGENT];
const SESSION: &str = "session";
const AGENT: &str = "agent";
/// What a call says of the role of its agent (`role:NAME`).
const ROLE: &str = "role";
/// Longest `agent:ID`, in bytes: an agent may be the actor of a credential, whom no ref has to name, and these have up to 256 characters.
const MAX_AGENT_BYTES: usize = 4 * short_text::MAX_BYTES;

/// The one table of scopes: what a surface of this scope may name, the narrowest first. Whatever it names of them is held; one of a narrower context
/// belongs to a narrower scope.
const fn forms(scope: SurfaceScope) -> &'static [&'static str] {
    match scope {
        SurfaceScope::ModelRequest => &["request", "turn", "task", SESSION, "workspace"],
        SurfaceScope::Turn => &["turn", "task", SESSION, "workspace"],
        SurfaceScope::Task => &["task", SESSION, "workspace"],
        SurfaceScope::Session => &[SESSION, "workspace"],
        SurfaceScope::PeerAgent => &[AGENT, SESSION, "workspace"],
        SurfaceScope::Workspace => &["workspace"],
        // For whoever has the role, or for any caller of the tenant.
        SurfaceScope::Role | SurfaceScope::Tenant | SurfaceScope::Skill => &[],
    }
}

/// What the scope of a surface holds calls to.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ScopeRules {
    /// `session:ID` and the like. Of each form that is among them a call has to name one.
    refs: Vec<String>,
    /// The role that whoever calls has to have; any when empty.
    role: String,
}

/// What is said of a call, a search or a load.
#[derive(Clone, Debug, Default)]
pub struct ScopeFacts<'a> {
    /// The session it belongs to; `session:ID` among `refs` counts without it.
    pub session: Option<&'a str>,
    /// Who asks.
    pub agent: Option<&'a str>,
    /// `agent` is proven: `agent:ID` among `refs` does not count.
    pub is_proven: bool,
    /// What else it belongs to.
    pub refs: Vec<&'a str>,
    /// The roles that credentials give, each with whether whoever asks has it. Other roles count as they are said (`role:NAME` among `refs`).
    pub roles: Vec<(&'a str, bool)>,
}

/// Why something is outside the scope of a surface. It says nothing of what the surface names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OutOfScope {
    /// What the surface is for: `session`, `task`, ..., or `role`.
    pub form: String,
    /// What of that was said; nothing where nothing was.
    pub said: Option<String>,
    /// Only the credential of whoever asks can say it.
    pub by_credential: bool,
}

impl ScopeRules {
    /// Reads what is said with the request for a surface.
    ///
    /// # Errors
    ///
    /// The first ref that no call can name, or that a surface of this scope cannot be for, with those it can; a role that no call can name.
    pub fn read(scope: SurfaceScope, runtime_refs: &[String], role: &str) -> Result<Self, ChoosingFault> {
        let known = forms(scope);
        for (index, text) in runtime_refs.iter().enumerate() {
            if text.trim().is_empty() {
                let (field, rule) = (format!("runtime_refs[{index}]"), "must not be empty".to_owned());
                return Err(ChoosingFault { field, rule });
            }
            if let Some(rule) = broken_ref(text) {
                return Err(ChoosingFault { field: format!("runtime_refs[{index}]"), rule });
            }
            let Some((form, id)) = form_of(text) else { continue };
            let rule = match known {
                _ if known.contains(&form) && !id.trim().is_empty() => continue,
                _ if known.contains(&form) => format!("must say which {} it is: `{form}:ID`", word(form)),
                [] => format!("says `{form}:`, and a surface of the scope `{scope}` is for none; it has no such refs"),
                known => {
                    format!("says `{form}:`; a surface of the scope `{scope}` knows `{}:`", known.join(":`, `"))
                }
            };
            return Err(ChoosingFault { field: format!("runtime_refs[{index}]"), rule });
        }
        // It is said as `role:NAME`.
        let most = short_text::MAX_BYTES - ROLE.len() - 1;
        match short_text::broken_rule(role, most).filter(|_| scope == SurfaceScope::Role) {
            Some(rule) => Err(ChoosingFault { field: ROLE.to_owned(), rule }),
            None => Ok(Self::stored(scope, runtime_refs, role)),
        }
    }

    /// The same of what is stored. Earlier versions took any ref and held nothing: what the scope does not know says nothing.
    pub fn stored(scope: SurfaceScope, runtime_refs: &[String], role: &str) -> Self {
        let known = forms(scope);
        let is_held = |text: &&String| form_of(text).is_some_and(|(form, id)| known.contains(&form) && !id.is_empty());
        let role = if scope == SurfaceScope::Role { role } else { "" };
        Self { refs: runtime_refs.iter().filter(is_held).cloned().collect(), role: role.to_owned() }
    }

    /// The rules another process tells ([`refs`](Self::refs), [`role`](Self::role)); a form that is not known here is held, too.
    pub fn told(refs: Vec<String>, role: String) -> Self {
        Self { refs, role }
    }

    /// What calls have to name.
    pub fn refs(&self) -> &[String] {
        &self.refs
    }

    /// The role they have to have; any when empty.
    pub fn role(&self) -> &str {
        &self.role
    }

    /// Whether nothing is held.
    pub fn is_silent(&self) -> bool {
        self.refs.is_empty() && self.role.is_empty()
    }

    /// Why something is outside the scope.
    pub fn refuses(&self, facts: &ScopeFacts<'_>) -> Option<OutOfScope> {
        if !self.role.is_empty() && !facts.has_role(&self.role) {
            let by_credential = facts.roles.iter().any(|(known, _)| *known == self.role);
            let said = facts.named(ROLE).next().map(str::to_owned);
            return Some(OutOfScope { form: ROLE.to_owned(), said, by_credential });
        }
        let pairs = || self.refs.iter().filter_map(|text| text.split_once(':'));
        let outside = |form: &str| {
            let fits = |said: &str| {
                // A session may be called `session:ID` where it is called by itself.
                let bare = said.strip_prefix(form).and_then(|rest| rest.strip_prefix(':'));
                pairs().any(|(held, id)| held == form && (said == id || bare == Some(id)))
            };
            (!facts.said(form).any(fits)).then(|| facts.said(form).next().map(str::to_owned))
        };
        pairs().find_map(|(form, _)| {
            let said = outside(form)?;
            Some(OutOfScope { form: form.to_owned(), said, by_credential: form == AGENT && facts.is_proven })
        })
    }
}

impl<'a> ScopeFacts<'a> {
    /// What is said of a form.
    fn said(&self, form: &str) -> impl Iterator<Item = &'a str> {
        let (own, refs_count) = match form {
            SESSION => (self.session, self.session.is_none()),
            AGENT => (self.agent, !self.is_proven),
            _ => (None, true),
        };
        own.into_iter().chain(self.named(form).filter(move |_| refs_count))
    }

    /// The ids of a form among the refs.
    fn named(&self, form: &str) -> impl Iterator<Item = &'a str> {
        let ids = self.refs.iter().filter_map(|text| text.split_once(':')).filter(|(found, _)| *found == form);
        ids.map(|(_, id)| id).collect::<Vec<_>>().into_iter()
    }

    fn has_role(&self, role: &str) -> bool {
        match self.roles.iter().find(|(known, _)| *known == role) {
            Some((_, has)) => *has,
            None => self.named(ROLE).any(|said| said == role),
        }
    }
}

impl OutOfScope {
    /// The field of a call that says it.
    pub fn field(&self) -> &'static str {
        match self.form.as_str() {
            SESSION => "session_ref",
            AGENT => "actor_ref",
            _ => "runtime_refs",
        }
    }

    /// What is said of it; `what` was asked for, e.g. `call`.
    pub fn message(&self, what: &str) -> String {
        let form = word(&self.form);
        match (&self.said, self.by_credential) {
            (_, true) if form == ROLE => {
                format!("this surface is for a role that the credential of the {what} does not have")
            }
            (Some(said), true) => {
                format!(
                    "this surface is for another {form} than `{said}`, of whom the credential of the {what} is: use a surface of its own"
                )
            }
            (None, true) => format!("this surface is for one {form}, and the credential of the {what} is of none"),
            (Some(said), false) => {
                format!(
                    "this surface is for another {form} than `{said}`, which the {what} names: use a surface of its own"
                )
            }
            (None, false) => format!("this surface is for one {form}, and the {what} names none"),
        }
    }

    /// What the field must say.
    pub fn rule(&self) -> String {
        let (form, field) = (&self.form, self.field());
        let word = word(form);
        match field {
            _ if self.by_credential => format!("the {word} of the credential must be the one the surface is for"),
            "runtime_refs" => format!("must name the {word} the surface is for, as `{form}:ID`"),
            _ => format!("must name the {word} the surface is for"),
        }
    }

    /// What helps a call.
    pub fn cure_of_call(&self) -> String {
        let (form, field) = (&self.form, self.field());
        let option = match field {
            _ if self.by_credential => {
                let whose = if form == ROLE { "with that role" } else { "of that agent" };
                return format!("Call with a credential {whose}, or in a surface of your own.");
            }
            "session_ref" => "--session ID".to_owned(),
            "actor_ref" => "--actor ID".to_owned(),
            _ => format!("--ref {form}:ID"),
        };
        format!("Name the {} in `{field}` (`toolplane invoke {option}`), or call in a surface of your own.", word(form))
    }

    /// Where a search, a load or an unload says it.
    pub fn said_in_request(&self) -> String {
        match (self.by_credential, self.form.as_str()) {
            (true, ROLE) => "it is the roles of the credential that count".to_owned(),
            (true, _) => "it is the actor of the credential that counts".to_owned(),
            (false, form) => format!("`runtime_refs`, as `{form}:ID`"),
        }
    }
}

/// Refs that look as if calls were to be held to them, and are free text: a slip in the word before the colon, or no colon.
pub fn slipped_refs(scope: SurfaceScope, runtime_refs: &[String]) -> Vec<Unmatched> {
    let known: BTreeMap<String, &str> = forms(scope).iter().map(|form| ((*form).to_owned(), *form)).collect();
    let slipped = runtime_refs.iter().enumerate().filter_map(|(index, text)| {
        if form_of(text).is_some() {
            return None;
        }
        let said = text.split(':').next().unwrap_or_default().trim().to_lowercase();
        let meant = match known.get(&said) {
            Some(form) => vec![(*form).to_owned()],
            None => similar(&said, &known),
        };
        let form = meant.first()?;
        let message = format!("`{text}` is free text, and no call is held to it; `{form}:ID` may be meant");
        Some(Unmatched { field: format!("runtime_refs[{index}]"), message, similar: meant })
    });
    slipped.collect()
}

/// The rule of refs that a text breaks, of a surface or of what is asked of one.
pub fn broken_ref(text: &str) -> Option<String> {
    let is_agent = form_of(text).is_some_and(|(form, _)| form == AGENT);
    short_text::broken_rule(text, if is_agent { MAX_AGENT_BYTES } else { short_text::MAX_BYTES })
}

/// A form and the id behind it; nothing of a ref that is free text.
fn form_of(text: &str) -> Option<(&str, &str)> {
    text.split_once(':').filter(|(form, _)| FORMS.contains(form))
}

/// What a form is called.
fn word(form: &str) -> &str {
    if form == "request" { "request to a model" } else { form }
}
