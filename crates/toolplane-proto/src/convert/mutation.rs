//! Input mutations.

use toolplane_records::mutation as records;

use crate::convert::word::Word as _;
use crate::convert::{ConvertError, field, word};
use crate::v1;

impl From<&records::InputMutation> for v1::InputMutation {
    fn from(record: &records::InputMutation) -> Self {
        Self {
            schema_version: record.schema_version.to_string(),
            mutation_id: record.mutation_id.clone(),
            invocation_id: record.invocation_id.to_string(),
            source_type: record.source_type.number(),
            source_ref: record.source_ref.clone(),
            from_input_ref: record.from_input_ref.clone(),
            to_input_ref: record.to_input_ref.clone(),
            changed_fields: record.changed_fields.clone(),
            reason: record.reason.clone(),
            created_at: field::instant(record.created_at),
        }
    }
}

impl TryFrom<v1::InputMutation> for records::InputMutation {
    type Error = ConvertError;

    fn try_from(message: v1::InputMutation) -> Result<Self, ConvertError> {
        Ok(Self {
            schema_version: field::version(&message.schema_version),
            mutation_id: message.mutation_id,
            invocation_id: field::id("invocation_id", &message.invocation_id)?,
            source_type: word::closed("source_type", message.source_type)?,
            source_ref: message.source_ref,
            from_input_ref: message.from_input_ref,
            to_input_ref: message.to_input_ref,
            changed_fields: message.changed_fields,
            reason: message.reason,
            created_at: field::time("created_at", message.created_at)?,
        })
    }
}
