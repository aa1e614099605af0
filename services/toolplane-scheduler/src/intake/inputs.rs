//! The four inputs of one call: what the model gave, what people and hooks may see, what rules look at, what the executor
//! gets. Equal bytes are one payload, and every change is one record.

use toolplane_catalog::{SensitiveFields, changed_fields};
use toolplane_cleaning::sent;
use toolplane_records::ids::InvocationId;
use toolplane_records::invocation::InputRefs;
use toolplane_records::mutation::InputMutation;
use toolplane_records::payload::{JsonPayload, PayloadRef};
use toolplane_records::time::Timestamp;
use toolplane_records::vocabulary::MutationSource;

use crate::storage::keys::payload_uri;

/// The inputs of a call while they are being made. The model's is never touched.
#[derive(Clone, Debug)]
pub(crate) struct Inputs {
    id: InvocationId,
    model: JsonPayload,
    /// The model's input with the declared defaults.
    completed: JsonPayload,
    /// What the executor gets in the present state.
    call: JsonPayload,
    mutations: Vec<InputMutation>,
    /// Every distinct input there was.
    payloads: Vec<JsonPayload>,
}

/// Who changed an input, and why.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Author<'a> {
    pub(crate) source: MutationSource,
    pub(crate) source_ref: &'a str,
    pub(crate) reason: &'a str,
}

impl Inputs {
    /// The inputs of a call of which only the model's is known.
    pub(crate) fn of_model(id: &InvocationId, model: JsonPayload) -> Self {
        Self {
            id: id.clone(),
            completed: model.clone(),
            call: model.clone(),
            payloads: vec![model.clone()],
            mutations: Vec::new(),
            model,
        }
    }

    /// The inputs of a call that was accepted before, about to be changed: nothing of what is stored is stored again.
    pub(crate) fn of_call(id: &InvocationId, call: JsonPayload) -> Self {
        Self { payloads: Vec::new(), ..Self::of_model(id, call) }
    }

    /// What the executor gets in the present state.
    pub(crate) fn call(&self) -> &JsonPayload {
        &self.call
    }

    /// Adds declared defaults for fields the caller left out.
    pub(crate) fn complete(&mut self, completed: JsonPayload, added: Vec<String>, now: Timestamp) {
        let author = Author {
            source: MutationSource::Runtime,
            source_ref: "input_contract.defaults",
            reason: "declared defaults for fields the caller left out",
        };
        self.completed = completed.clone();
        self.replace(completed, added, author, now);
    }

    /// Puts `input` in place of what the executor would get; false when that changes nothing.
    pub(crate) fn change(
        &mut self,
        input: JsonPayload,
        sensitive: &SensitiveFields,
        author: Author<'_>,
        now: Timestamp,
    ) -> bool {
        // Another spelling of the same input is the same input.
        let changed = changed_fields(&self.call, &input, sensitive);
        if changed.is_empty() {
            return false;
        }
        self.replace(input, changed, author, now);
        true
    }

    fn replace(&mut self, input: JsonPayload, changed_fields: Vec<String>, author: Author<'_>, now: Timestamp) {
        let id = &self.id;
        let (from, to) = (self.call.digest(), input.digest());
        self.mutations.push(InputMutation {
            schema_version: toolplane_records::schema_version(),
            mutation_id: format!("{id}:m{}", uuid::Uuid::now_v7().simple()),
            invocation_id: id.clone(),
            source_type: author.source,
            source_ref: author.source_ref.to_owned(),
            from_input_ref: payload_uri(id, &from),
            to_input_ref: payload_uri(id, &to),
            changed_fields,
            reason: author.reason.to_owned(),
            created_at: now,
        });
        self.call = input.clone();
        let _replaced = self.keep(input, None);
    }

    /// Keeps a payload; its reference is `known` where that is about the same bytes.
    fn keep(&mut self, payload: JsonPayload, known: Option<&PayloadRef>) -> PayloadRef {
        let known = known.filter(|known| known.digest == payload.digest()).cloned();
        let reference = known.unwrap_or_else(|| payload_ref(&self.id, &payload));
        if self.payloads.iter().all(|kept| kept.digest() != reference.digest) {
            self.payloads.push(payload);
        }
        reference
    }

    /// What rules, classifiers and people who are asked see, and the pointers of what is hidden from them.
    pub(crate) fn permission(&self, sensitive: &SensitiveFields) -> (JsonPayload, Vec<String>) {
        sensitive.redact(&self.call).unwrap_or_else(|| (self.call.clone(), Vec::new()))
    }

    /// What is kept of it for everybody to read: of credentials the caller sent there is nothing in it either.
    fn shown(&self, sensitive: &SensitiveFields) -> JsonPayload {
        sent::shown(&self.permission(sensitive).0)
    }

    /// The four inputs by reference, all of them kept.
    pub(crate) fn refs(&mut self, sensitive: &SensitiveFields) -> InputRefs {
        let permission = self.shown(sensitive);
        // Of most calls nothing but defaults was changed, and looking for credentials is what costs most here.
        let observable = match self.completed == self.call {
            true => permission.clone(),
            false => {
                sent::shown(&sensitive.redact(&self.completed).map_or_else(|| self.completed.clone(), |(copy, _)| copy))
            }
        };
        let model = payload_ref(&self.id, &self.model);
        InputRefs {
            observable: Some(self.keep(observable, Some(&model))),
            permission: Some(self.keep(permission, Some(&model))),
            call: Some(self.keep(self.call.clone(), Some(&model))),
            model,
        }
    }

    /// The references of an accepted call after a change: what was observed of the model's words stays what it was.
    pub(crate) fn refs_after(&mut self, before: &InputRefs, sensitive: &SensitiveFields) -> InputRefs {
        let permission = self.shown(sensitive);
        InputRefs {
            model: before.model.clone(),
            observable: before.observable.clone(),
            permission: Some(self.keep(permission, None)),
            call: Some(self.keep(self.call.clone(), None)),
        }
    }

    /// Every distinct payload to be stored, and the changes.
    pub(crate) fn into_parts(self) -> (Vec<JsonPayload>, Vec<InputMutation>) {
        (self.payloads, self.mutations)
    }
}

/// The reference under which `payload` is kept for the call `id`.
pub(crate) fn payload_ref(id: &InvocationId, payload: &JsonPayload) -> PayloadRef {
    PayloadRef {
        uri: payload_uri(id, &payload.digest()).into(),
        media_type: "application/json".into(),
        digest: payload.digest(),
        size_bytes: payload.size(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    const BY_HOOK: Author<'_> = Author { source: MutationSource::Hook, source_ref: "h", reason: "why" };

    fn at() -> Timestamp {
        Timestamp::from_millis(1_700_000_000_000)
    }

    fn inputs(model: serde_json::Value) -> Inputs {
        Inputs::of_model(&InvocationId::from_trusted("inv_1"), JsonPayload::of(&model))
    }

    #[test]
    fn an_untouched_input_is_one_payload() {
        let mut same = inputs(json!({ "a": 1 }));
        let refs = same.refs(&SensitiveFields::default());
        let digests = [refs.observable, refs.permission, refs.call].map(|one| one.unwrap().digest);
        assert_eq!(digests, [refs.model.digest; 3]);
        assert_eq!(same.into_parts().0.len(), 1);
    }

    /// Defaults, a hook and a sensitive field: four different inputs, each with its own digest.
    #[test]
    fn four_inputs_are_kept_apart() {
        let sensitive = SensitiveFields::new(&["/key".to_owned()]);
        let mut four = inputs(json!({ "key": "s3cret", "path": "a" }));
        let completed = JsonPayload::of(&json!({ "key": "s3cret", "path": "a", "depth": 1 }));
        four.complete(completed, vec!["/depth".to_owned()], at());
        let after = JsonPayload::of(&json!({ "key": "s3cret", "path": "b", "depth": 1 }));
        assert!(four.change(after, &sensitive, BY_HOOK, at()));
        let refs = four.refs(&sensitive);
        let (observable, permission, call) = (refs.observable.unwrap(), refs.permission.unwrap(), refs.call.unwrap());
        let digests =
            std::collections::BTreeSet::from([refs.model.digest, observable.digest, permission.digest, call.digest]);
        assert_eq!(digests.len(), 4);
        let (payloads, mutations) = four.into_parts();
        let text = |reference: &PayloadRef| {
            payloads.iter().find(|payload| payload.digest() == reference.digest).unwrap().text().to_owned()
        };
        assert!(!text(&observable).contains("s3cret") && text(&observable).contains("\"path\":\"a\""));
        assert!(!text(&permission).contains("s3cret") && text(&permission).contains("\"path\":\"b\""));
        assert!(text(&call).contains("s3cret"));
        assert_eq!(mutations.iter().map(|one| one.changed_fields.clone()).collect::<Vec<_>>(), [["/depth"], ["/path"]]);
        assert_eq!(
            mutations[0].to_input_ref, mutations[1].from_input_ref,
            "one change goes on where the last one ended"
        );
        assert_eq!(mutations[1].to_input_ref, call.uri);
        assert_eq!(payloads.len(), 5, "the input between the two changes is kept too");
    }

    /// What runs has the credential, what everybody may read has not.
    #[test]
    fn a_credential_is_in_what_runs_alone() {
        let mut sent = inputs(json!({ "command": "curl -H 'Authorization: Bearer abcd1234efgh5678abcd' x" }));
        let refs = sent.refs(&SensitiveFields::default());
        let (payloads, _) = sent.into_parts();
        let text = |reference: &Option<PayloadRef>| {
            let digest = reference.as_ref().unwrap().digest;
            payloads.iter().find(|payload| payload.digest() == digest).unwrap().text().to_owned()
        };
        assert!(text(&refs.call).contains("abcd1234efgh5678"));
        for copy in [&refs.observable, &refs.permission] {
            assert!(!text(copy).contains("abcd1234efgh5678") && text(copy).contains("[redacted "), "{}", text(copy));
        }
    }

    #[test]
    fn another_spelling_is_no_change() {
        let mut same = inputs(json!({ "a": 1, "b": 2 }));
        let spelled = JsonPayload::from_checked(&b"{ \"b\": 2, \"a\": 1 }"[..]);
        assert!(!same.change(spelled, &SensitiveFields::default(), BY_HOOK, at()));
        assert!(same.into_parts().1.is_empty());
    }
}
