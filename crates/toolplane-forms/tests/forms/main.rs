//! Every form of every kind of call: golden files, and back.

#[cfg(test)]
mod contracts;
#[cfg(test)]
mod golden;
#[cfg(test)]
mod read_back;
#[cfg(test)]
mod samples;
#[cfg(test)]
mod shapes;
