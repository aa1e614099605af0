//! Goes through the outputs of one ending and decides about each.

use toolplane_records::SmolStr;
use toolplane_records::payload::{JsonPayload, PayloadRef};
use toolplane_records::persistence::ResultPersistence;
use toolplane_records::refs::ArtifactRef;
use toolplane_records::result::ContentBlock;
use toolplane_records::time::Timestamp;
use toolplane_records::vocabulary::PersistenceStrategy;

use super::{
    ANSWER, ARTIFACT, Body, Decided, HALF_PREVIEW, Handling, Keep, Loss, OutputBounds, Outputs, STRUCTURED, Whole,
};
use crate::decide::{self, DecisionIds, LargeOutput, PersistencePolicy, needs_store};
use crate::preview::PreviewLimits;
use crate::render::{Channel, OutputBody, render};

/// Goes through the outputs of one ending.
#[derive(Debug)]
pub struct Keeper<K> {
    keep: K,
    ids: DecisionIds,
    bounds: OutputBounds,
    handling: Handling,
    now: Timestamp,
    /// Bytes that may still be shown.
    budget: u64,
    names: Vec<String>,
    outputs: Outputs,
}

impl<K: Keep> Keeper<K> {
    /// Nothing is shown yet. Each decision gets the same `ids`.
    pub fn new(keep: K, ids: DecisionIds, bounds: OutputBounds, handling: Handling, now: Timestamp) -> Self {
        let budget = bounds.all_bytes;
        Self { keep, ids, bounds, handling, now, budget, names: Vec::new(), outputs: Outputs::default() }
    }

    /// Shows a block that is decided about already, of which `bytes` count as shown.
    pub fn decided(&mut self, block: ContentBlock, bytes: u64) {
        self.budget = self.budget.saturating_sub(bytes);
        self.outputs.content.push(block);
    }

    /// Shows a block, whole when it is small, else as a preview of what is kept. Of a text that is only a view, the `whole` is
    /// kept however little it is.
    pub async fn show(&mut self, block: ContentBlock, whole: Option<Whole>) {
        let (name, channel, text) = match &block {
            ContentBlock::Text { .. } if whole.as_ref().is_some_and(Whole::is_media) => {
                return self.media(block, whole).await;
            }
            ContentBlock::EmbeddedResource { .. } => return self.resource(block, whole).await,
            ContentBlock::Text { text } => (ANSWER, Channel::Answer, text),
            ContentBlock::Diff { text, .. } => ("diff", Channel::Answer, text),
            ContentBlock::Log { text, stream } => {
                let name = if stream.is_empty() { "log" } else { stream.as_str() };
                (name, Channel::Log(stream.clone()), text)
            }
            _ => return self.outputs.content.push(block),
        };
        if text.is_empty() {
            return self.outputs.content.push(ContentBlock::Empty);
        }
        let policy = self.policy(LargeOutput::PreviewAndPersist);
        // Of an output in a file the text is no more than its two ends.
        let in_file = whole.as_ref().and_then(Whole::file).is_some();
        let fits = !in_file && fits(text, &policy) && !self.handling.previewed;
        if fits && whole.as_ref().is_none_or(|whole| whole.is_shown) {
            return self.decided(within(block.clone(), self.budget), text.len() as u64);
        }
        let whole = whole.unwrap_or_else(|| Whole::text(text));
        let name = self.name(name);
        // A text that fits is shown whole, also where it is only a view of what is kept.
        let limits = match fits {
            true => PreviewLimits { head_bytes: text.len(), tail_bytes: 0 },
            false => preview_limits(&policy),
        };
        // What is previewed is kept also where it would fit.
        let inline = if self.handling.previewed { 0 } else { policy.max_inline_bytes };
        let kept = PersistencePolicy { max_inline_bytes: inline, ..policy };
        let (mut decision, payload) = self.decide(&kept, &name, &whole).await;
        decision.original_size_bytes = whole.total_bytes;
        let sampled = whole.file().map(|file| file.sample.clone().within(limits).finish());
        let body = match &sampled {
            Some(sampled) => OutputBody::Sampled(sampled),
            None if whole.is_shown => OutputBody::Text(text),
            None => OutputBody::View(text),
        };
        let end = match (&whole.end, &payload) {
            (Some(end), Some(_)) => {
                self.keep.keep(&format!("{name}-end"), &whole.media_type, Body::Held(end.clone())).await
            }
            _ => None,
        };
        let rendered = render(decision, body, &channel, payload, limits);
        self.note(name, &whole.body, rendered.persistence);
        self.outputs.content.extend(rendered.content);
        // Of an output with a gap, what is referred to as the whole is its beginning: the text says so.
        self.outputs.content.extend(end.map(|payload| ContentBlock::File { payload }));
    }

    /// Keeps a picture, sound or film, and shows it as one. Where it is not kept, the text stands for it.
    async fn media(&mut self, text: ContentBlock, whole: Option<Whole>) {
        let Some(whole) = whole else { return self.outputs.content.push(text) };
        match self.keep_whole(ANSWER, &whole).await {
            Some(payload) => self.outputs.content.push(ContentBlock::kept(payload, String::new())),
            None => self.outputs.content.push(text),
        }
    }

    /// Shows a resource that came with the result: its text where it is small, else by reference.
    async fn resource(&mut self, block: ContentBlock, whole: Option<Whole>) {
        let ContentBlock::EmbeddedResource { uri, media_type, text, payload } = block else { return };
        let policy = self.policy(LargeOutput::RefOnly);
        let shown = text.as_ref().filter(|text| fits(text, &policy) && !self.handling.previewed);
        let shown = shown.map(|text| text.len() as u64);
        if payload.is_some() || (shown.is_some() && whole.as_ref().is_none_or(|whole| whole.is_shown)) {
            return self.decided(ContentBlock::EmbeddedResource { uri, media_type, text, payload }, shown.unwrap_or(0));
        }
        let whole = whole.or_else(|| text.as_deref().map(Whole::text));
        let Some(whole) = whole else {
            return self.decided(ContentBlock::EmbeddedResource { uri, media_type, text, payload }, 0);
        };
        let payload = self.keep_whole("resource", &whole).await;
        self.outputs.content.push(ContentBlock::EmbeddedResource { uri, media_type, text: None, payload });
    }

    /// Keeps a file that a tool has left, and refers to it by its `path`. Where it is not kept, there is nothing to refer to.
    pub async fn artifact(&mut self, path: &str, whole: &Whole) {
        let Some(payload) = self.keep_for(Some(decide::REASON_ARTIFACT), ARTIFACT, whole).await else { return };
        let artifact = ArtifactRef {
            artifact_id: path.to_owned(),
            uri: payload.uri.to_string(),
            media_type: payload.media_type.to_string(),
            digest: Some(payload.digest),
            version: String::new(),
            relation: "produced_by".to_owned(),
            payload: Some(payload),
        };
        self.outputs.content.push(ContentBlock::ArtifactRef { artifact });
    }

    /// A file that a tool has left at `path` is there no more.
    pub fn lost(&mut self, path: &str) {
        let output = format!("`{path}`");
        self.outputs.loss.get_or_insert(Loss { output, too_large: false });
    }

    /// Keeps an output of which nothing is shown beside it.
    async fn keep_whole(&mut self, name: &str, whole: &Whole) -> Option<PayloadRef> {
        self.keep_for(None, name, whole).await
    }

    /// The same, for a reason that is given.
    async fn keep_for(&mut self, reason: Option<&'static str>, name: &str, whole: &Whole) -> Option<PayloadRef> {
        let policy = PersistencePolicy { max_inline_bytes: 0, ..self.policy(LargeOutput::RefOnly) };
        let name = self.name(name);
        let (mut decision, payload) = self.decide(&policy, &name, whole).await;
        if let Some(reason) = reason.filter(|_| decision.strategy == PersistenceStrategy::RefOnly) {
            decision.reason = SmolStr::new_static(reason);
        }
        decision.original_size_bytes = whole.total_bytes;
        kept_or_dropped(&mut decision, payload.as_ref());
        self.note(name, &whole.body, decision);
        payload
    }

    /// Gives structured content back when it is small and may be shown (`by_reference` says it may not); else it is kept and
    /// referred to, because half a JSON value is none.
    pub async fn structured(&mut self, value: JsonPayload, by_reference: bool) -> Option<JsonPayload> {
        let mut policy = PersistencePolicy { max_inline_chars: None, ..self.policy(LargeOutput::RefOnly) };
        if by_reference {
            policy.max_inline_bytes = 0;
        }
        if fits(value.text(), &policy) {
            return Some(value);
        }
        let name = self.name(STRUCTURED);
        let whole = Whole { media_type: "application/json".to_owned(), ..Whole::text(value.text()) };
        let (mut decision, payload) = self.decide(&policy, &name, &whole).await;
        kept_or_dropped(&mut decision, payload.as_ref());
        self.outputs.content.extend(payload.map(|payload| ContentBlock::PersistedOutputRef { payload }));
        self.note(name, &whole.body, decision);
        None
    }

    /// What happened to them.
    pub fn finish(self) -> Outputs {
        self.outputs
    }

    fn policy(&self, large: LargeOutput) -> PersistencePolicy {
        let Handling { by_reference, never_persist, .. } = self.handling;
        PersistencePolicy {
            max_inline_bytes: if by_reference { 0 } else { self.bounds.one_bytes.min(self.budget) },
            max_inline_chars: self.bounds.one_chars,
            large: if by_reference { LargeOutput::RefOnly } else { large },
            never_persist,
            max_persist_bytes: self.bounds.max_persist_bytes,
        }
    }

    /// Decides, and keeps the output when that is the decision.
    async fn decide(
        &self,
        policy: &PersistencePolicy,
        name: &str,
        whole: &Whole,
    ) -> (ResultPersistence, Option<PayloadRef>) {
        let mut decision = decide::decide(policy, &whole.facts(), self.ids.clone(), self.now);
        if let Some(reason) = self.handling.reason.filter(|_| decision.reason != decide::REASON_TOO_LARGE) {
            decision.reason = SmolStr::new_static(reason);
        }
        let payload = match needs_store(decision.strategy) {
            true => self.keep.keep(name, &whole.media_type, whole.body.clone()).await,
            false => None,
        };
        (decision, payload)
    }

    fn note(&mut self, name: String, body: &Body, decision: ResultPersistence) {
        if decision.strategy == PersistenceStrategy::DropWithReason {
            let too_large = decision.reason == decide::REASON_TOO_LARGE;
            self.outputs.loss.get_or_insert_with(|| Loss { output: body.described(&name), too_large });
        }
        self.budget = self.budget.saturating_sub(decision.preview_size_bytes.unwrap_or(0));
        self.outputs.decided.push(Decided { name, decision });
    }

    /// `name`, made different from every earlier one.
    fn name(&mut self, name: &str) -> String {
        let earlier = self.names.iter().filter(|earlier| *earlier == name).count();
        self.names.push(name.to_owned());
        if earlier == 0 { name.to_owned() } else { format!("{name}-{}", earlier + 1) }
    }
}

/// An output of which nothing is shown is either kept, and referred to, or gone.
fn kept_or_dropped(decision: &mut ResultPersistence, payload: Option<&PayloadRef>) {
    decision.persisted_ref = payload.cloned();
    if payload.is_some() {
        return;
    }
    if needs_store(decision.strategy) {
        decision.reason = SmolStr::new_static(decide::REASON_STORE_FAILED);
    }
    decision.strategy = PersistenceStrategy::DropWithReason;
}

/// A diff without the texts it is about, where those do not fit too.
fn within(mut block: ContentBlock, budget: u64) -> ContentBlock {
    if let ContentBlock::Diff { text, old_text, new_text, .. } = &mut block {
        let texts = [old_text.as_ref(), new_text.as_ref()].into_iter().flatten().map(String::len).sum::<usize>();
        if (text.len() + texts) as u64 > budget {
            (*old_text, *new_text) = (None, None);
        }
    }
    block
}

fn fits(text: &str, policy: &PersistencePolicy) -> bool {
    let bytes = text.len() as u64;
    // Characters are counted only when there can be too many of them.
    let few = |most: u64| bytes <= most || text.chars().count() as u64 <= most;
    bytes <= policy.max_inline_bytes && policy.max_inline_chars.is_none_or(few)
}

/// A preview never grows beyond what might have been shown whole.
fn preview_limits(policy: &PersistencePolicy) -> PreviewLimits {
    let bound = policy.max_inline_chars.unwrap_or(u64::MAX).min(policy.max_inline_bytes);
    let half = usize::try_from((bound / 4).min(HALF_PREVIEW)).unwrap_or_default();
    PreviewLimits { head_bytes: half, tail_bytes: half }
}
