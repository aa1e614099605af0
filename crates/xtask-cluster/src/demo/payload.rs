//! The large result: what the caller gets at once, and the rest by range.

use sha2::{Digest as _, Sha256};
use toolplane_proto::v1;
use toolplane_proto::v1::content_block::Block;
use toolplane_proto::v1::read_payload_request::Selector;
use toolplane_testkit::Problem;
use toolplane_testkit::clients::Clients;

use super::timeline::Timeline;

/// Shows preview and reference, reads a part and then everything, and proves the digest.
pub(crate) async fn fetch_back(
    result: &v1::ToolResult,
    clients: &Clients,
    timeline: &mut Timeline,
) -> Result<(), Problem> {
    let kept = result.content.iter().find_map(|block| match &block.block {
        Some(Block::PersistedOutputRef(kept)) => Some(kept.clone()),
        _ => None,
    });
    let Some(kept) = kept else {
        timeline.did("payload", "nothing was kept by reference: the command did not run, see above");
        return Ok(());
    };
    let preview: usize = result.content.iter().map(inline_bytes).sum();
    timeline.did(
        "payload",
        &format!("preview of {preview} bytes inline; {} bytes kept as {}", kept.size_bytes, kept.digest),
    );

    let middle = kept.size_bytes / 2;
    let (part, _) = read(&result.invocation_id, &kept, middle, 160, clients).await?;
    let text = String::from_utf8_lossy(&part);
    timeline.did("range", &format!("160 bytes from offset {middle}: {:?}", text.lines().nth(1).unwrap_or_default()));

    let (whole, sha256) = read(&result.invocation_id, &kept, 0, 0, clients).await?;
    let digest = Sha256::digest(&whole);
    let proved = digest.as_slice() == sha256 && kept.digest == format!("sha256:{}", hex::encode(digest));
    if !proved || whole.len() as u64 != kept.size_bytes {
        return Err(Problem::Missing("the bytes that the reference promises: their digest differs".to_owned()));
    }
    timeline.did("fetch", &format!("all {} bytes back, digest verified", whole.len()));
    Ok(())
}

fn inline_bytes(block: &v1::ContentBlock) -> usize {
    match &block.block {
        Some(Block::Text(text)) => text.text.len(),
        Some(Block::Log(log)) => log.text.len(),
        _ => 0,
    }
}

async fn read(
    invocation_id: &str,
    kept: &v1::PayloadRef,
    offset: u64,
    limit: u64,
    clients: &Clients,
) -> Result<(Vec<u8>, Vec<u8>), Problem> {
    let selector = Some(Selector::Uri(kept.uri.clone()));
    let request = v1::ReadPayloadRequest { invocation_id: invocation_id.to_owned(), selector, offset, limit };
    let mut stream = clients.invocations().read_payload(request).await?.into_inner();
    let (mut bytes, mut sha256) = (Vec::new(), Vec::new());
    while let Some(part) = stream.message().await? {
        bytes.extend_from_slice(&part.data);
        sha256 = part.sha256.to_vec();
    }
    Ok((bytes, sha256))
}
