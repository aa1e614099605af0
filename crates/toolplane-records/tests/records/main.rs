//! What every record looks like as JSON: golden files, and the standard's own table of field types.

mod golden;
mod samples;
mod table;
mod values;
