//! A partial result, read: what of it may go into the log of the call.

use prost::Message;
use toolplane_lifecycle::ReportedPartial;
use toolplane_proto::convert::field;
use toolplane_proto::v1;
use toolplane_records::partial::{MAX_PARTIAL_BYTES, MAX_PARTIAL_RESULTS, MAX_RESUME_BYTES};
use toolplane_records::result::ContentBlock;

use crate::plan::PlannedOutput;

/// Why a partial result is not taken.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Unfit {
    pub(super) field: &'static str,
    pub(super) rule: String,
}

/// Reads what a worker reports of a call whose tool declares `declared`; `clean` takes out what may not be shown.
pub(super) fn read(
    reported: v1::PartialReported,
    declared: &PlannedOutput,
    clean: impl FnOnce(&mut Vec<v1::ContentBlock>),
) -> Result<ReportedPartial, Unfit> {
    let unfit = |field, rule: String| Err(Unfit { field, rule });
    if !declared.supports_partial_results {
        return unfit("", "the tool's execution profile must declare `supports_partial_results`".to_owned());
    }
    let v1::PartialReported { mut content, append, resume_token, .. } = reported;
    let bytes: usize = content.iter().map(Message::encoded_len).sum();
    if bytes > MAX_PARTIAL_BYTES {
        return unfit("content", format!("must have at most {MAX_PARTIAL_BYTES} bytes, and has {bytes}"));
    }
    if content.is_empty() && resume_token.is_none() {
        return unfit("content", "must be given".to_owned());
    }
    if resume_token.as_ref().is_some_and(|token| token.len() > MAX_RESUME_BYTES) {
        return unfit("resume_token", format!("must have at most {MAX_RESUME_BYTES} bytes"));
    }
    if resume_token.is_some() && !declared.supports_resume {
        return unfit("resume_token", "the tool's execution profile must declare `supports_resume`".to_owned());
    }
    clean(&mut content);
    let content: Vec<ContentBlock> = match field::list("content", content) {
        Ok(content) => content,
        Err(error) => return Err(Unfit { field: "content", rule: error.to_string() }),
    };
    if content.iter().any(|block| block.payload().is_some()) {
        return unfit("content", "must hold nothing that is kept elsewhere".to_owned());
    }
    Ok(ReportedPartial { content, append, resume_token })
}

/// There are as many already as a call may have.
pub(super) fn too_many() -> Unfit {
    Unfit { field: "", rule: format!("a call may show at most {MAX_PARTIAL_RESULTS} partial results") }
}

#[cfg(test)]
mod tests {
    use toolplane_proto::v1::content_block::Block;

    use super::*;

    fn text(text: &str) -> v1::ContentBlock {
        v1::ContentBlock { block: Some(Block::Text(v1::TextBlock { text: text.to_owned() })) }
    }

    fn reported(content: Vec<v1::ContentBlock>, resume_token: Option<&str>) -> v1::PartialReported {
        v1::PartialReported { lease: None, content, append: true, resume_token: resume_token.map(str::to_owned) }
    }

    #[test]
    fn what_is_not_declared_or_too_large_is_refused_by_its_field() {
        let declared = PlannedOutput { supports_partial_results: true, ..PlannedOutput::default() };
        let kept = v1::ContentBlock { block: Some(Block::File(v1::PayloadRef::default())) };
        let sha = format!("sha256:{}", "0".repeat(64));
        let kept_well = v1::PayloadRef { uri: "objects/x".into(), digest: sha, ..Default::default() };
        let kept_well = v1::ContentBlock { block: Some(Block::File(kept_well)) };
        for (given, declared, field) in [
            (reported(vec![text("a")], None), PlannedOutput::default(), ""),
            (reported(vec![], None), declared.clone(), "content"),
            (reported(vec![text(&"a".repeat(MAX_PARTIAL_BYTES))], None), declared.clone(), "content"),
            (reported(vec![kept], None), declared.clone(), "content"),
            (reported(vec![kept_well], None), declared.clone(), "content"),
            (reported(vec![text("a")], Some("row 1")), declared.clone(), "resume_token"),
        ] {
            assert_eq!(read(given, &declared, |_| {}).unwrap_err().field, field);
        }
        let resumes = PlannedOutput { supports_resume: true, ..declared };
        let long = "x".repeat(MAX_RESUME_BYTES + 1);
        assert_eq!(read(reported(vec![], Some(&long)), &resumes, |_| {}).unwrap_err().field, "resume_token");
        let taken = read(reported(vec![text("a")], Some("row 1")), &resumes, |blocks| blocks[0] = text("b")).unwrap();
        assert_eq!(taken.content, [ContentBlock::Text { text: "b".into() }], "what is stored was cleaned");
        assert_eq!(taken.resume_token.as_deref(), Some("row 1"));
    }
}
