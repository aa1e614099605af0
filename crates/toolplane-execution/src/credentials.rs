//! The credentials of a worker, as adapters use them: named by a binding, got at the last moment, and put where the binding says.

use std::collections::BTreeMap;
use std::hash::{Hash, Hasher};
use std::sync::Arc;

use parking_lot::RwLock;
use reqwest::header::HeaderMap;
use toolplane_catalog::values::invalid_binding;
use toolplane_credentials::{Broker, Credential, Injection, Mask, ProxyHeader, Request, put_into_request};
use toolplane_records::codes;
use toolplane_records::credential::CredentialUse;
use toolplane_records::error::ToolError;
use toolplane_sandbox::{PrivateFiles, SandboxSpec};
use url::Url;

use crate::call::Call;
use crate::failure::nothing_done;

/// Where adapters get credentials, and the mask of outputs. Its broker is exchanged when the configuration is read again.
#[derive(Debug, Default)]
pub struct CredentialSource(RwLock<Option<Arc<Broker>>>);

/// Credentials in hand for one call, each at its place. Keep it until the last output of what got them: as long as it is held, what is
/// in it is masked, whatever is rotated meanwhile.
#[derive(Debug, Default)]
pub struct Injections {
    broker: Option<Arc<Broker>>,
    credentials: Vec<Credential>,
    placed: Vec<Injection>,
}

/// What a program is given of the credentials of a call. Nothing of it may be told; equal hashes are of equal values at equal places.
#[derive(Default, Hash)]
pub(crate) struct RunCredentials {
    variables: BTreeMap<String, String>,
    files: PrivateFiles,
    /// What the proxy of its sandbox puts into its requests.
    pub(crate) proxied: Vec<ProxyHeader>,
}

/// What goes into the requests of a call. Nothing of it may be told; equal hashes are of equal values at equal places.
#[derive(Clone, Debug, Default)]
pub(crate) struct RequestCredentials(Arc<[Injection]>);

// === impl CredentialSource ===

impl CredentialSource {
    /// The credentials of this broker.
    pub fn new(broker: Arc<Broker>) -> Self {
        Self(RwLock::new(Some(broker)))
    }

    /// The broker in force; none where no credentials are configured.
    pub fn broker(&self) -> Option<Arc<Broker>> {
        self.0.read().clone()
    }

    /// Puts another broker in force, for calls that begin from now on.
    pub fn replace(&self, broker: Arc<Broker>) {
        *self.0.write() = Some(broker);
    }

    /// The mask of everything in use, for one output.
    pub fn mask(&self) -> Mask {
        self.0.read().as_ref().map(|broker| broker.mask()).unwrap_or_default()
    }

    /// Gets the credentials of `uses` for `call`, each at its place. Nothing is sent or started before this has succeeded.
    ///
    /// # Errors
    ///
    /// What the call lacks, with its code (`credential.missing`, `credential.out_of_scope`, `credential.unreadable`,
    /// `credential.refused`, `credential.unavailable`, `credential.unfit`) and the assurance that nothing was done.
    pub async fn place(&self, call: &Call, uses: &[CredentialUse]) -> Result<Injections, ToolError> {
        let broker = match (self.broker(), uses.first()) {
            (broker, None) => return Ok(Injections { broker, ..Injections::default() }),
            (Some(broker), _) => broker,
            (None, Some(first)) => {
                let name = first.credential.clone();
                return Err(toolplane_credentials::CredentialError::Unknown { name }.to_tool_error());
            }
        };
        let (mut credentials, mut placed) = (Vec::new(), Vec::new());
        for used in uses {
            let request = Request {
                name: &used.credential,
                provider: call.origin.provider(),
                tool: &call.origin.tool,
                tenant: &call.origin.tenant,
                actor: call.origin.actor.as_deref(),
            };
            let credential = broker.credential(&request).await.map_err(|error| error.to_tool_error())?;
            let injection = credential.place(&used.placement, used.field.as_deref());
            placed.push(injection.map_err(|error| error.to_tool_error())?);
            credentials.push(credential);
        }
        Ok(Injections { broker: Some(broker), credentials, placed })
    }
}

// === impl Injections ===

impl Injections {
    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.credentials.is_empty()
    }

    /// Everything at its place, for adapters that put it there themselves.
    pub fn placed(&self) -> &[Injection] {
        &self.placed
    }

    /// Puts headers, cookies and parameters into a request, in place of what it has under these names.
    ///
    /// # Errors
    ///
    /// `exec.invalid_binding` when the request has cookies that are no text.
    pub fn put_into_request(&self, headers: &mut HeaderMap, url: &mut Url) -> Result<(), ToolError> {
        put(&self.placed, headers, url)
    }

    /// What a program is given of them.
    ///
    /// # Errors
    ///
    /// `credential.unfit` when a variable has a value that is no text, and when a place is none of a program.
    pub(crate) fn of_run(&self) -> Result<RunCredentials, ToolError> {
        let mut given = RunCredentials::default();
        for injection in &self.placed {
            match injection {
                Injection::Env { name, value } => {
                    let text = value.reveal_text().ok_or_else(|| unfit(name))?;
                    given.variables.insert(name.clone(), text.to_owned());
                }
                Injection::File { name, content } => given.files.insert(name, content.reveal()),
                Injection::Proxy(header) => given.proxied.push(header.clone()),
                Injection::Header { name, .. } => return Err(unfit(name.as_str())),
                Injection::Query { name, .. } | Injection::Cookie { name, .. } => return Err(unfit(name)),
            }
        }
        Ok(given)
    }

    /// What goes into requests of them.
    ///
    /// # Errors
    ///
    /// `credential.unfit` when a place is none of a request.
    pub(crate) fn of_requests(&self) -> Result<RequestCredentials, ToolError> {
        for injection in &self.placed {
            match injection {
                Injection::Header { .. } | Injection::Query { .. } | Injection::Cookie { .. } => {}
                Injection::Env { name, .. } | Injection::File { name, .. } => return Err(unfit(name)),
                Injection::Proxy(_) => return Err(unfit("the proxy")),
            }
        }
        Ok(RequestCredentials(self.placed.as_slice().into()))
    }

    /// The other side refused them (status 401): each is looked for again before its next use.
    pub fn refused(&self) {
        for credential in &self.credentials {
            if let Some(broker) = &self.broker {
                broker.refused(credential);
            }
        }
    }

    /// Whether one of them has another value than in `earlier`, which was got for the same uses.
    pub fn differs_from(&self, earlier: &Self) -> bool {
        let generations = |all: &Self| all.credentials.iter().map(Credential::generation).collect::<Vec<_>>();
        generations(self) != generations(earlier)
    }
}

// === impl RunCredentials ===

impl RunCredentials {
    /// Adds variables and files to what a program is given. A variable that is there under the same name gives way.
    pub(crate) fn put_into(&self, spec: &mut SandboxSpec) {
        for (name, value) in &self.variables {
            spec.declared_env.insert(name.clone());
            spec.env.insert(name.clone(), value.clone());
        }
        spec.private_files = self.files.clone();
    }
}

// === impl RequestCredentials ===

impl RequestCredentials {
    /// As [`Injections::put_into_request`], with the same errors.
    pub(crate) fn put_into(&self, headers: &mut HeaderMap, url: &mut Url) -> Result<(), ToolError> {
        put(&self.0, headers, url)
    }
}

impl Hash for RequestCredentials {
    fn hash<H: Hasher>(&self, state: &mut H) {
        for injection in &*self.0 {
            match injection {
                Injection::Header { name, value } => ("header", name.as_str(), value.as_bytes()).hash(state),
                Injection::Query { name, value } => ("query", name, value.reveal()).hash(state),
                Injection::Cookie { name, value } => ("cookie", name, value.reveal()).hash(state),
                // None of these goes into a request.
                Injection::Env { .. } | Injection::File { .. } | Injection::Proxy(_) => {}
            }
        }
    }
}

fn put(placed: &[Injection], headers: &mut HeaderMap, url: &mut Url) -> Result<(), ToolError> {
    put_into_request(placed, headers, url).map_err(|rule| nothing_done(*invalid_binding(rule.to_string())))
}

/// A credential that does not fit the place `name`.
pub(crate) fn unfit(name: &str) -> ToolError {
    let message = format!("a credential cannot be put there: `{name}` takes no such value");
    nothing_done(ToolError::of(codes::CREDENTIAL_UNFIT, message))
}
