//! What every record looks like as JSON: golden files, and the standard's own table of field types.

#[cfg(test)]
mod golden;
#[cfg(test)]
mod samples;
#[cfg(test)]
mod schemas;
#[cfg(test)]
mod table;
#[cfg(test)]
mod values;
