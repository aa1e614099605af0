//! Which names lead to which tool.

use std::collections::{BTreeMap, HashMap, HashSet};

use toolplane_records::error::FieldViolation;
use toolplane_records::ids::ToolId;

use crate::registration::Registration;
use crate::violations::Violations;

/// The names of registered tools.
#[derive(Debug, Default)]
pub(super) struct ToolNames {
    /// Names only one tool may have: ids, full names, and aliases, the one of the rule and those that are declared.
    own: HashMap<String, ToolId>,
    /// Names without their namespace, which tools may share. The tools are in order; mostly it is one.
    bare: HashMap<String, Vec<ToolId>>,
    /// The same of tools whose declared names hold their namespaces. They lead where no other name does, and are nobody's: they keep no
    /// tool from being registered.
    rest: HashMap<String, Vec<ToolId>>,
}

impl ToolNames {
    pub(super) fn own(&self, name: &str) -> Option<&ToolId> {
        self.own.get(name)
    }

    pub(super) fn bare(&self, name: &str) -> &[ToolId] {
        self.bare.get(name).map_or(&[], Vec::as_slice)
    }

    /// The tools a name without its namespace leads to.
    pub(super) fn called(&self, name: &str) -> &[ToolId] {
        match self.bare(name) {
            [] => self.rest.get(name).map_or(&[], Vec::as_slice),
            some => some,
        }
    }

    pub(super) fn insert(&mut self, registration: &Registration, own: OwnNames) {
        let tool_id = &registration.declaration.tool_id;
        for (name, _) in own {
            self.own.insert(name, tool_id.clone());
        }
        put_in(&mut self.bare, registration.declaration.name.clone(), tool_id);
        if let Some(rest) = rest_of(registration) {
            put_in(&mut self.rest, rest, tool_id);
        }
    }

    /// Takes away the names that `registration` brought.
    pub(super) fn remove(&mut self, registration: &Registration) {
        let tool_id = &registration.declaration.tool_id;
        for (name, _) in own_names(registration) {
            if self.own.get(&name) == Some(tool_id) {
                self.own.remove(&name);
            }
        }
        take_out(&mut self.bare, &registration.declaration.name, tool_id);
        if let Some(rest) = rest_of(registration) {
            take_out(&mut self.rest, &rest, tool_id);
        }
    }
}

fn put_in(names: &mut HashMap<String, Vec<ToolId>>, name: String, tool_id: &ToolId) {
    let owners = names.entry(name).or_insert_with(|| Vec::with_capacity(1));
    if let Err(place) = owners.binary_search(tool_id) {
        owners.insert(place, tool_id.clone());
    }
}

fn take_out(names: &mut HashMap<String, Vec<ToolId>>, name: &str, tool_id: &ToolId) {
    if let Some(owners) = names.get_mut(name) {
        if let Ok(place) = owners.binary_search(tool_id) {
            owners.remove(place);
        }
        if owners.is_empty() {
            names.remove(name);
        }
    }
}

/// The bare name of a tool whose declared name holds its namespace.
fn rest_of(registration: &Registration) -> Option<String> {
    Some(registration.bare_name()).filter(|bare| *bare != registration.declaration.name)
}

/// Names as they would be while a set of registrations is being judged.
#[derive(Debug)]
pub(super) struct Claims<'a> {
    names: &'a ToolNames,
    /// Tools whose registered names no longer count because they are registered anew.
    released: HashSet<ToolId>,
    own: BTreeMap<String, ToolId>,
    bare: BTreeMap<String, ToolId>,
}

impl<'a> Claims<'a> {
    pub(super) fn over(names: &'a ToolNames) -> Self {
        Self { names, released: HashSet::new(), own: BTreeMap::new(), bare: BTreeMap::new() }
    }

    pub(super) fn release(&mut self, tool_id: &ToolId) {
        self.released.insert(tool_id.clone());
    }

    /// Takes the names of `registration`, reporting those another tool has.
    pub(super) fn claim(&mut self, registration: &Registration) -> Vec<FieldViolation> {
        let declaration = &registration.declaration;
        let tool_id = &declaration.tool_id;
        let names = own_names(registration);
        let taken = self.taken(registration, &names);
        self.own.extend(names.into_iter().map(|(name, _)| (name, tool_id.clone())));
        self.bare.entry(declaration.name.clone()).or_insert_with(|| tool_id.clone());
        taken
    }

    /// The names of `registration` that another tool has; these are its own ones.
    pub(super) fn taken(&self, registration: &Registration, names: &OwnNames) -> Vec<FieldViolation> {
        let mut faults = Violations::default();
        let declaration = &registration.declaration;
        let tool_id = &declaration.tool_id;
        for (name, field) in names {
            let holder = self.holder_of_own(name, tool_id).or_else(|| self.holder_of_bare(name, tool_id));
            if let Some(holder) = holder {
                faults.add(field, format!("`{name}` already leads to the tool `{holder}`"));
            }
        }
        if let Some(holder) = self.holder_of_own(&declaration.name, tool_id) {
            faults.add("declaration.name", format!("`{}` already leads to the tool `{holder}`", declaration.name));
        }
        faults.into_vec()
    }

    fn holder_of_own(&self, name: &str, except: &ToolId) -> Option<&ToolId> {
        let registered = self.names.own.get(name).filter(|holder| !self.released.contains(*holder));
        registered.or_else(|| self.own.get(name)).filter(|holder| *holder != except)
    }

    /// A name that leads to one tool alone must not shadow the bare name of another.
    fn holder_of_bare(&self, name: &str, except: &ToolId) -> Option<&ToolId> {
        let registered = self.names.bare(name).iter().filter(|holder| !self.released.contains(*holder));
        registered.chain(self.bare.get(name)).find(|holder| *holder != except)
    }
}

/// Names only one tool may have, each with the field it comes from.
pub(super) type OwnNames = Vec<(String, String)>;

/// The names only this tool may have.
pub(crate) fn own_names(registration: &Registration) -> OwnNames {
    let declaration = &registration.declaration;
    let mut names = vec![
        (declaration.tool_id.as_str().to_owned(), "declaration.tool_id".to_owned()),
        (declaration.full_name(), "declaration.name".to_owned()),
        (registration.alias(), "declaration.name".to_owned()),
        // Of a name that is too long for an alias, too: two that differ only in dots and underscores are one to those who read it.
        (declaration.full_name().replace('.', "__"), "declaration.name".to_owned()),
    ];
    let alias =
        |field: &'static str| move |(index, alias): (usize, &String)| (alias.clone(), format!("{field}[{index}]"));
    names.extend(declaration.aliases.iter().enumerate().map(alias("declaration.aliases")));
    let interface = registration.interface.iter().flat_map(|interface| &interface.aliases);
    names.extend(interface.enumerate().map(alias("interface.aliases")));
    let mut seen = HashSet::new();
    names.retain(|(name, _)| seen.insert(name.clone()));
    names
}
