//! One call, one opinion.

use std::collections::BTreeSet;

use cedar_policy::{AuthorizationError, Entities, Request, Response};
use toolplane_policy::{CallFacts, LookedAt, OrgPolicy, OrgVerdict};
use toolplane_records::payload::Digest;
use toolplane_records::vocabulary::Behavior;

use crate::context;
use crate::fault::told;
use crate::load::action_of;
use crate::policies::CedarPolicies;
use crate::request;

/// Most errors that are told.
const MAX_ERRORS: usize = 20;

impl OrgPolicy for CedarPolicies {
    fn decide(&self, call: &CallFacts) -> OrgVerdict {
        if self.is_empty() {
            return OrgVerdict::default();
        }
        match self.answers(call) {
            Ok(answers) => self.fold(&answers),
            // Nothing was evaluated, so a policy that forbids may have been missed.
            Err(error) => OrgVerdict {
                behavior: Behavior::Ask,
                reason: "the call cannot be described to the policies".to_owned(),
                errors: vec![error],
                ..OrgVerdict::default()
            },
        }
    }

    fn looks_at(&self) -> LookedAt {
        LookedAt {
            input: self.wanted.has_any(&["arguments", "input", "commands", "paths", "urls"]),
            session: self.wanted.has("session"),
            surface: self.wanted.has_any(&["surface", "surface_policies"]),
            // Cedar has no clock.
            time: false,
        }
    }

    fn digest(&self) -> Digest {
        self.digest_of_all()
    }
}

impl CedarPolicies {
    /// The answer of every slice of policies that can be about the call.
    fn answers(&self, call: &CallFacts) -> Result<Vec<Response>, String> {
        let resource = request::resource(call);
        let Some(tool) = resource.first() else { return Ok(Vec::new()) };
        let slices: Vec<_> = self.slices.of(&resource).collect();
        if slices.is_empty() {
            return Ok(Vec::new());
        }
        let trusted = !self.settings.is_untrusted(&call.tool.namespace);
        let (context, named) = context::of(call, &self.wanted).map_err(|error| told(&*error))?;
        let action = action_of(&self.actions, &call.tool.full_name);
        let mut entities = request::entities(call, &resource, trusted, &self.wanted).map_err(|error| told(&*error))?;
        entities.extend(named);
        entities.extend(self.actions.get(&action).into_iter().flatten().cloned());
        let entities = Entities::from_entities(entities, None).map_err(|error| told(&error))?;
        let request = Request::new(request::principal(call), action, tool.clone(), context, None)
            .map_err(|error| told(&error))?;
        Ok(slices.into_iter().map(|slice| self.authorizer.is_authorized(&request, slice, &entities)).collect())
    }

    /// Deny before ask before allow. A policy that failed counts as the question it may have been, unless it only allows.
    fn fold(&self, answers: &[Response]) -> OrgVerdict {
        let mut by: [BTreeSet<&str>; 3] = Default::default();
        let [denies, asks, allows] = &mut by;
        let mut errors = Vec::new();
        for answer in answers {
            for id in answer.diagnostics().reason().map(AsRef::<str>::as_ref) {
                let Some((id, meaning)) = self.meanings.get_key_value(id) else { continue };
                let group = match (&meaning.ask, meaning.forbids) {
                    (Some(_), _) => &mut *asks,
                    (None, true) => &mut *denies,
                    (None, false) => &mut *allows,
                };
                group.insert(id);
            }
            for AuthorizationError::PolicyEvaluationError(error) in answer.diagnostics().errors() {
                if errors.len() < MAX_ERRORS {
                    errors.push(told(error));
                }
                let Some((id, meaning)) = self.meanings.get_key_value(AsRef::<str>::as_ref(error.policy_id())) else {
                    continue;
                };
                if meaning.forbids || meaning.ask.is_some() {
                    asks.insert(id);
                }
            }
        }
        let behaviors = [Behavior::Deny, Behavior::Ask, Behavior::Allow];
        let found = behaviors.into_iter().zip(&by).find(|(_, ids)| !ids.is_empty());
        let Some((behavior, ids)) = found else { return OrgVerdict { errors, ..OrgVerdict::default() } };
        OrgVerdict {
            behavior,
            reason: self.reason(behavior, ids),
            policy_ids: ids.iter().map(|id| (*id).to_owned()).collect(),
            errors,
        }
    }

    /// What the first of the policies says of itself.
    fn reason(&self, behavior: Behavior, ids: &BTreeSet<&str>) -> String {
        let told = ids.iter().filter_map(|id| self.meanings.get(*id)).find_map(|meaning| {
            let ask = meaning.ask.as_deref().filter(|why| behavior == Behavior::Ask && !why.is_empty());
            ask.or(Some(meaning.reason.as_str()).filter(|why| !why.is_empty()))
        });
        told.unwrap_or_default().to_owned()
    }
}
