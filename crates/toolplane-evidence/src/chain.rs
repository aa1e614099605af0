//! Writing an export: its beginning, its records, its seal.

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use toolplane_records::payload::Digest;
use toolplane_records::time::Timestamp;

use crate::key::{PublicKey, SigningKey};
use crate::line::Line;

/// What this form of export is called.
pub(crate) const FORMAT: &str = "toolplane.export/1";
/// The kind of the first line.
pub(crate) const BEGIN: &str = "begin";
/// The kind of the last line.
pub(crate) const SEAL: &str = "seal";

/// What an export is of: the record of its first line.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Begin {
    /// The form of the export.
    pub format: String,
    /// Whose records.
    pub tenant: String,
    /// Calls that ended, and deletions that were made, at or after this instant.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub from: Option<Timestamp>,
    /// And before this one.
    pub until: Timestamp,
    /// Only of this session, when given.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub session_ref: String,
    /// Only this call, when given.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub invocation_id: String,
    /// When it was made.
    pub made_at: Timestamp,
    /// Which program made it.
    pub made_by: String,
    /// The export it goes on from, when there is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub continues: Option<Head>,
}

impl Begin {
    /// Whether `other` is of the same tenant, session and call: only then does one go on from the other without leaving something out.
    pub fn is_of_the_same(&self, other: &Self) -> bool {
        let of = |begin: &Self| (begin.tenant.clone(), begin.session_ref.clone(), begin.invocation_id.clone());
        of(self) == of(other)
    }
}

/// Where an export ends: the next one begins there.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Head {
    /// Sum of the seal.
    pub sum: Digest,
    /// Until when it has everything.
    pub until: Timestamp,
}

/// The end of an export: the record of its last line.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Seal {
    /// Lines between the first and this one.
    pub records: u64,
    /// Until when the export has everything.
    pub until: Timestamp,
    /// Which key signed it: `sha256:<hex>` of the public key.
    pub key: Digest,
    /// Ed25519 signature of the message of the seal, in base64.
    pub signature: String,
}

impl Seal {
    /// What is signed: the place of the seal, what comes before it, and all it says.
    pub(crate) fn message(&self, n: u64, prev: &Digest) -> Vec<u8> {
        let Self { records, until, key, .. } = self;
        format!("{FORMAT}\nn={n}\nprev={prev}\nrecords={records}\nuntil={until}\nkey={key}\n").into_bytes()
    }

    pub(crate) fn is_signed_by(&self, key: &PublicKey, n: u64, prev: &Digest) -> bool {
        key.proves(&self.message(n, prev), &self.signature)
    }
}

/// An export that is being written. Each method gives a line, without its line break.
#[derive(Debug)]
pub struct Chain {
    n: u64,
    prev: Digest,
    until: Timestamp,
}

impl Chain {
    /// Begins an export; the first line.
    pub fn begin(begin: Begin) -> (Self, String) {
        let begin = Begin { format: FORMAT.to_owned(), ..begin };
        let prev = begin.continues.map_or(Digest::from_bytes([0; 32]), |head| head.sum);
        let mut chain = Self { n: 0, prev, until: begin.until };
        let line = chain.line(BEGIN, "", raw(&begin));
        (chain, line)
    }

    /// Adds a record. Line breaks between its tokens become spaces: a record is one line.
    pub fn add(&mut self, kind: &str, id: &str, record: Box<RawValue>) -> String {
        let record = match record.get().contains(['\n', '\r']) {
            true => RawValue::from_string(record.get().replace(['\n', '\r'], " ")).unwrap_or(record),
            false => record,
        };
        self.line(kind, id, record)
    }

    /// Ends the export; the last line, and where the next export begins.
    pub fn seal(mut self, key: &SigningKey) -> (String, Head) {
        let until = self.until;
        let mut seal = Seal { records: self.n - 1, until, key: key.public().fingerprint(), signature: String::new() };
        seal.signature = key.sign(&seal.message(self.n, &self.prev));
        let line = self.line(SEAL, "", raw(&seal));
        (line, Head { sum: self.prev, until })
    }

    fn line(&mut self, kind: &str, id: &str, record: Box<RawValue>) -> String {
        let line = Line { n: self.n, prev: self.prev, kind: kind.to_owned(), id: id.to_owned(), record };
        let (text, sum) = line.write();
        self.n += 1;
        self.prev = sum;
        text
    }
}

/// A value of this crate as JSON: texts and numbers, which always can be.
fn raw(value: &impl Serialize) -> Box<RawValue> {
    serde_json::value::to_raw_value(value).unwrap_or_else(|_| RawValue::NULL.to_owned())
}
