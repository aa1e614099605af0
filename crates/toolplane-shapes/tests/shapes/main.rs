//! Tools in every shape, from outside.

mod golden;
mod properties;
mod published;
mod samples;
