//! How long what a call leaves is kept.

use toolplane_records::keeping as records;
use toolplane_records::vocabulary::UnknownWord;

use crate::convert::{ConvertError, field, word};
use crate::v1;

impl From<&records::CallKeeping> for v1::CallKeeping {
    fn from(record: &records::CallKeeping) -> Self {
        Self {
            risk_level: word::optional_number(record.risk_level),
            data_sensitivity: record.data_sensitivity.to_string(),
            retention_hint: record.retention_hint.to_string(),
            removed: field::outs(&record.removed),
        }
    }
}

impl TryFrom<v1::CallKeeping> for records::CallKeeping {
    type Error = ConvertError;

    fn try_from(message: v1::CallKeeping) -> Result<Self, ConvertError> {
        Ok(Self {
            risk_level: word::optional_closed("risk_level", message.risk_level)?,
            data_sensitivity: message.data_sensitivity.into(),
            retention_hint: message.retention_hint.into(),
            removed: field::list("removed", message.removed)?,
        })
    }
}

impl From<&records::RemovedRecords> for v1::RemovedRecords {
    fn from(record: &records::RemovedRecords) -> Self {
        Self { class: record.class.to_string(), at: field::instant(record.at) }
    }
}

impl TryFrom<v1::RemovedRecords> for records::RemovedRecords {
    type Error = ConvertError;

    fn try_from(message: v1::RemovedRecords) -> Result<Self, ConvertError> {
        Ok(Self {
            class: message
                .class
                .parse()
                .map_err(|unknown: UnknownWord| ConvertError::new("class", unknown.to_string()))?,
            at: field::time("at", message.at)?,
        })
    }
}
