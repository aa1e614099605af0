//! Tools in every shape, from outside.

#[cfg(test)]
mod golden;
#[cfg(test)]
mod properties;
#[cfg(test)]
mod published;
#[cfg(test)]
mod samples;
