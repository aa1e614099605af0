//! Resources: what calls keep of their outputs, and nothing else.

use bytes::{Bytes, BytesMut};
use serde::Deserialize;
use serde_json::json;
use tonic::{Code, Status};
use toolplane_forms::mcp::{ADDRESSES as BEGIN, resource_contents};
use toolplane_forms::object::array;
use toolplane_proto::v1;
use toolplane_proto::v1::read_payload_request::Selector;
use toolplane_records::visible::excerpt;
use toolplane_runtime::status::describe;

use crate::mcp::exchange::Exchange;
use crate::mcp::fault::Fault;
use crate::mcp::reply::Reply;
use crate::upstream::Upstream;

/// Most bytes that are read at a time.
const MOST: u64 = 1 << 20;
/// What is kept never changes: how long a client may go by it, in milliseconds.
const KEPT_FOR: u64 = 3_600_000;

/// What an address names.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Wanted {
    invocation: String,
    digest: String,
    offset: u64,
    limit: Option<u64>,
}

/// What is wrong with an address.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Wrong {
    /// It names nothing of ours.
    Nothing,
    /// This field of it, which breaks a rule.
    Field(String),
}

fn read_uri(uri: &str) -> Result<Wanted, Wrong> {
    let rest = uri.strip_prefix(BEGIN).ok_or(Wrong::Nothing)?;
    let (path, query) = rest.split_once('?').unwrap_or((rest, ""));
    let (invocation, hex) = path.split_once("/payloads/").ok_or(Wrong::Nothing)?;
    let is_digest = hex.len() == 64 && hex.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'));
    if invocation.is_empty() || !is_digest {
        return Err(Wrong::Nothing);
    }
    let mut wanted =
        Wanted { invocation: invocation.to_owned(), digest: format!("sha256:{hex}"), offset: 0, limit: None };
    let rule = |rule: &str| Wrong::Field(rule.to_owned());
    for part in query.split('&').filter(|part| !part.is_empty()) {
        match part.split_once('=').unwrap_or((part, "")) {
            ("offset", value) => {
                let offset = value.parse().map_err(|_| rule("`offset` must be a number of bytes, 0 or more"))?;
                wanted.offset = offset;
            }
            ("limit", value) => {
                let limit = value.parse().ok().filter(|limit| *limit > 0);
                wanted.limit = Some(limit.ok_or_else(|| rule("`limit` must be a number of bytes, 1 or more"))?);
            }
            (other, _) => {
                let other = excerpt(other, 40);
                return Err(Wrong::Field(format!(
                    "`{other}` is no field of the address of a resource: it has `offset` and `limit`"
                )));
            }
        }
    }
    Ok(wanted)
}

/// All the bytes of something that a call keeps, which are `size`.
pub(crate) async fn whole(
    upstream: &Upstream,
    invocation: &str,
    selector: Selector,
    size: u64,
) -> Result<Bytes, Status> {
    read_part(upstream, invocation, selector, 0, size).await.map(|part| part.bytes)
}

struct Read {
    bytes: Bytes,
    media_type: String,
    total: u64,
}

async fn read_part(
    upstream: &Upstream,
    invocation: &str,
    selector: Selector,
    offset: u64,
    limit: u64,
) -> Result<Read, Status> {
    let request = v1::ReadPayloadRequest {
        invocation_id: invocation.to_owned(),
        selector: Some(selector),
        offset,
        // One more than wanted shows that there is more; and 0 would be all of it.
        limit: limit.saturating_add(1),
    };
    let mut parts = upstream.invocations().read_payload(request).await?.into_inner();
    let mut read = Read { bytes: Bytes::new(), media_type: String::new(), total: 0 };
    let mut bytes = BytesMut::new();
    while let Some(part) = parts.message().await? {
        bytes.extend_from_slice(&part.data);
        read.media_type = part.media_type;
        read.total = part.total_size_bytes;
    }
    bytes.truncate(usize::try_from(limit).unwrap_or(usize::MAX));
    read.bytes = bytes.freeze();
    Ok(read)
}

/// Whether the bytes are there, and the first one that is wanted lies beyond them.
fn names_offset(status: &Status) -> bool {
    describe(status).violations.iter().any(|violation| violation.field == "offset")
}

/// `resources/read`: the whole, where it is small enough, or a part of it.
pub(crate) async fn read(x: &Exchange, params: &Bytes) -> Result<Reply, Fault> {
    #[derive(Deserialize)]
    struct Params {
        uri: String,
    }
    let said: Params = serde_json::from_slice(params).map_err(|_| Fault::params("`uri` is missing"))?;
    let missing = || Fault::no_resource(&said.uri, x.client.version);
    let wanted = match read_uri(&said.uri) {
        Ok(wanted) => wanted,
        Err(Wrong::Nothing) => return Err(missing()),
        Err(Wrong::Field(rule)) => return Err(Fault::params(rule).with(json!({ "uri": said.uri }))),
    };
    let limit = wanted.limit.unwrap_or(MOST).min(MOST);
    let selector = Selector::Digest(wanted.digest.clone());
    let read = match read_part(&x.upstream, &wanted.invocation, selector, wanted.offset, limit).await {
        Ok(read) => read,
        Err(status) if names_offset(&status) => {
            return Err(Fault::params(status.message()).with(json!({ "uri": said.uri })));
        }
        Err(status) if matches!(status.code(), Code::NotFound | Code::InvalidArgument | Code::OutOfRange) => {
            return Err(missing());
        }
        Err(status) => return Err(status.into()),
    };
    let is_all = wanted.offset == 0 && read.total <= limit;
    if wanted.limit.is_none() && wanted.offset == 0 && !is_all {
        let rule = format!(
            "the resource has {} bytes, and at most {MOST} are read at a time: add `?offset=0&limit={MOST}`",
            read.total
        );
        return Err(Fault::params(rule).with(json!({ "uri": said.uri, "size": read.total })));
    }
    let meta = json!({ "toolplane/offset": wanted.offset, "toolplane/total_size": read.total });
    let contents = resource_contents(&said.uri, &read.media_type, &read.bytes).with("_meta", &meta);
    Ok(Reply::new().raw("contents", &array(&[contents])).kept_for(KEPT_FOR, x.client.version))
}

/// `resources/list`: kept outputs are named by the results they belong to, and are not listed.
pub(crate) fn list(x: &Exchange) -> Reply {
    Reply::new().raw("resources", "[]").kept_for(KEPT_FOR, x.client.version)
}

/// `resources/templates/list`.
pub(crate) fn templates(x: &Exchange) -> Reply {
    let template = json!([{
        "uriTemplate": format!("{BEGIN}{{invocation_id}}/payloads/{{digest}}{{?offset,limit}}"),
        "name": "kept output",
        "title": "Output that a call keeps",
        "description": "Bytes of the output of a call, by the links in its result; a part of them with `offset` and `limit`.",
    }]);
    Reply::new().value("resourceTemplates", &template).kept_for(KEPT_FOR, x.client.version)
}

#[cfg(test)]
mod tests {
    use toolplane_forms::mcp::address;
    use toolplane_records::ids::InvocationId;

    use super::*;

    #[test]
    fn an_address_says_which_bytes() {
        let digest = format!("sha256:{}", "0f".repeat(32));
        let address = address(&InvocationId::from_trusted("inv_1"), &digest.parse().unwrap());
        let wanted =
            |offset, limit| Ok(Wanted { invocation: "inv_1".to_owned(), digest: digest.clone(), offset, limit });
        assert_eq!(read_uri(&address), wanted(0, None));
        assert_eq!(read_uri(&format!("{address}?offset=5&limit=7")), wanted(5, Some(7)));
        for wrong in [
            "",
            "toolplane://invocations/",
            "toolplane://invocations/inv_1/payloads/xyz",
            "file:///etc/passwd",
            &format!("{address}/more"),
        ] {
            assert_eq!(read_uri(wrong), Err(Wrong::Nothing), "{wrong}");
        }
        for (query, field) in [
            ("limit=0", "`limit`"),
            ("limit=all", "`limit`"),
            ("offset=-1", "`offset`"),
            ("offset", "`offset`"),
            ("x=1", "`x`"),
        ] {
            let wrong = read_uri(&format!("{address}?{query}"));
            assert!(matches!(&wrong, Err(Wrong::Field(rule)) if rule.starts_with(field)), "{query}: {wrong:?}");
        }
    }
}
