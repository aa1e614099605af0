//! From a document to operations.

mod answers;
mod body;
mod describe;
mod input;
mod naming;
mod overrides;
mod parameters;
mod path;
mod security;
mod selection;
mod servers;

use std::collections::{BTreeMap, HashMap};

use serde_json::{Map, Value};
use toolplane_records::operation::OperationBinding;
use toolplane_records::payload::JsonPayload;
use toolplane_records::vocabulary::{RiskLevel, ToolKind};
use url::Url;

use crate::document::Document;
use crate::error::{Fault, Refusal, shown};
pub use overrides::{Facts, Overrides};
pub use selection::{Selection, SelectionError};

/// Methods a path may have; those of `additionalOperations` come beside them.
const METHODS: [&str; 9] = ["get", "put", "post", "delete", "options", "head", "patch", "trace", "query"];

/// What the one who imports says beside the document.
#[derive(Clone, Debug, Default)]
pub struct ImportOptions {
    /// Where the document came from; relative servers are read against it.
    pub document_url: Option<Url>,
    /// The server to use in place of those the document names.
    pub server: Option<String>,
    /// Values of server variables; those that are not named have the default of the document.
    pub server_variables: BTreeMap<String, String>,
    /// The document may say that an operation is less dangerous than its method (`x-agenttool`). Otherwise it may only say that it is
    /// more.
    pub trusted: bool,
    /// What the operator says of operations, by their id in the document; it counts before what the document says.
    pub overrides: BTreeMap<String, Overrides>,
}

/// One operation as a tool.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Operation {
    /// Its id in the document: the `operationId`, or `METHOD /path`.
    pub native_id: String,
    /// Its name as a tool, one of its own in the document: letters, digits, `_` and `-`, beginning with a letter or `_`.
    pub name: String,
    /// A short title; may be empty.
    pub title: String,
    /// What it does, for models; bounded, and says what was cut.
    pub description: String,
    /// Words to find it by.
    pub search_hint: String,
    /// Its tags in the document.
    pub tags: Vec<String>,
    /// What kind of tool it is.
    pub kind: ToolKind,
    /// How dangerous it is.
    pub risk: RiskLevel,
    /// What it does to the world.
    pub facts: Facts,
    /// The document advises against it.
    pub deprecated: bool,
    /// JSON Schema of the input, an object; taken by the catalogue.
    pub input_schema: JsonPayload,
    /// JSON Schema of a successful JSON answer; none when the document has none that can be used.
    pub output_schema: Option<JsonPayload>,
    /// How its request is made.
    pub binding: OperationBinding,
    /// What of the document was left out or made wider.
    pub notes: Vec<String>,
}

impl Operation {
    /// The operation's id as a part of a tool's id: what no id may have is written `+xx`, so that two never become the same;
    /// long ones keep their beginning and get a digest.
    pub fn id_part(&self) -> String {
        naming::id_part(&self.native_id)
    }
}

/// What became of a selection.
#[derive(Clone, Debug, Default)]
pub struct Import {
    /// The operations that can be tools.
    pub operations: Vec<Operation>,
    /// The others that were selected, and why not.
    pub refused: Vec<Refusal>,
    /// How many operations were selected and left out because they say so themselves.
    pub excluded: usize,
}

/// One operation where it stands.
pub(crate) struct Found<'d> {
    /// As it is written, which tells it from others.
    pub(crate) path: &'d str,
    /// In capitals.
    pub(crate) method: String,
    pub(crate) native_id: String,
    pub(crate) item: &'d Map<String, Value>,
    pub(crate) item_place: String,
    pub(crate) members: &'d Map<String, Value>,
    pub(crate) place: String,
}

impl<'d> Found<'d> {
    pub(crate) fn tags(&self) -> impl Iterator<Item = &str> {
        self.members.get("tags").and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str)
    }

    /// The path that is asked for. Some documents tell operations apart by a fragment, which no request holds.
    pub(crate) fn asked_path(&self) -> &'d str {
        self.path.split('#').next().unwrap_or_default()
    }

    pub(crate) fn text(&self, key: &str) -> &str {
        self.members.get(key).and_then(Value::as_str).unwrap_or_default()
    }
}

/// How many operations there are.
pub(crate) fn count(document: &Document) -> usize {
    let paths = document.root().get("paths").and_then(Value::as_object);
    let items = paths.into_iter().flatten().filter_map(|(_, item)| document.follow(item, "").ok());
    items.map(|(item, _)| methods(item).count()).sum()
}

fn methods(item: &Map<String, Value>) -> impl Iterator<Item = (String, String, &Value)> {
    let plain = item.iter().filter(|(key, _)| METHODS.contains(&key.as_str()));
    let more = item.get("additionalOperations").and_then(Value::as_object).into_iter().flatten();
    let more =
        more.map(|(name, one)| (name.to_uppercase(), format!("additionalOperations/{}", pointer_token(name)), one));
    plain.map(|(key, one)| (key.to_uppercase(), key.clone(), one)).chain(more)
}

pub(crate) fn pointer_token(token: &str) -> String {
    token.replace('~', "~0").replace('/', "~1")
}

/// Every operation of the document, and the paths that cannot be read.
fn found(document: &Document) -> (Vec<Found<'_>>, Vec<Refusal>) {
    let (mut all, mut refused) = (Vec::new(), Vec::new());
    let paths = document.root().get("paths").and_then(Value::as_object);
    for (path, item) in paths.into_iter().flatten().filter(|(path, _)| !path.starts_with("x-")) {
        let place = format!("/paths/{}", pointer_token(path));
        let (item, item_place) = match document.follow(item, &place) {
            Ok(followed) => followed,
            Err(fault) => {
                refused.push(fault.of(path));
                continue;
            }
        };
        for (method, key, operation) in methods(item) {
            let place = format!("{item_place}/{key}");
            let fallback = format!("{method} {path}");
            let Some(members) = operation.as_object() else {
                refused.push(Fault::at(place, "must be an object").of(&fallback));
                continue;
            };
            let native_id = members.get("operationId").and_then(Value::as_str).map(str::trim).unwrap_or_default();
            let native_id = if native_id.is_empty() { fallback } else { native_id.to_owned() };
            all.push(Found { path, method, native_id, item, item_place: item_place.clone(), members, place });
        }
    }
    // An id that two have is the id of neither.
    let mut uses: HashMap<String, usize> = HashMap::new();
    all.iter().for_each(|one| *uses.entry(one.native_id.clone()).or_default() += 1);
    for one in all.iter_mut().filter(|one| uses.get(&one.native_id).is_some_and(|uses| *uses > 1)) {
        one.native_id = format!("{} {}", one.method, one.path);
    }
    (all, refused)
}

pub(crate) fn import(
    document: &Document,
    selection: &Selection,
    options: &ImportOptions,
) -> Result<Import, SelectionError> {
    let (all, broken) = found(document);
    let selected = selection.of(&all)?;
    if let Some(unknown) = options.overrides.keys().find(|id| all.iter().all(|one| one.native_id != **id)) {
        return Err(SelectionError::unknown("operation", unknown));
    }
    let names = naming::names(&all, document.limits().max_name_chars);
    let (mut import, mut known) = (Import::default(), answers::Known::default());
    if selection.is_everything() {
        import.refused = broken;
    }
    for index in selected {
        let (one, name) = (&all[index], &names[index]);
        match operation(document, one, name, options, &mut known) {
            Ok(Some(operation)) => import.operations.push(operation),
            Ok(None) => import.excluded += 1,
            Err(fault) => import.refused.push(fault.of(&one.native_id)),
        }
    }
    distinct(&mut import, &names);
    Ok(import)
}

/// Names that were given by hand must not be those of others.
fn distinct(import: &mut Import, made: &[String]) {
    let mut uses: HashMap<String, usize> = HashMap::new();
    import.operations.iter().for_each(|one| *uses.entry(one.name.clone()).or_default() += 1);
    let (kept, clashing) = std::mem::take(&mut import.operations).into_iter().partition(|one| uses[&one.name] == 1);
    import.operations = kept;
    let clashing: Vec<Operation> = clashing;
    for one in clashing {
        debug_assert!(made.iter().filter(|name| **name == one.name).count() <= 1);
        let rule = format!("gives the name `{}`, which another operation has too", shown(&one.name));
        import.refused.push(Fault::at("x-agenttool/name", rule).of(&one.native_id));
    }
}

/// One operation; none when it says that it is no tool.
fn operation(
    document: &Document,
    one: &Found<'_>,
    name: &str,
    options: &ImportOptions,
    known: &mut answers::Known,
) -> Result<Option<Operation>, Fault> {
    let said = overrides::read(one, options)?;
    if said.is_excluded() {
        return Ok(None);
    }
    if matches!(one.method.as_str(), "TRACE" | "CONNECT") {
        return Err(Fault::at(&one.place, format!("has the method {}, which no tool may use", one.method)));
    }
    let facts = said.facts(&one.method);
    let server = servers::choose(document, one, options)?;
    let credentials = security::requirements(document, one)?;
    let (parameters, path, mut notes) = parameters::read(document, one, &credentials)?;
    let body = body::read(document, one)?;
    let input = input::plan(document, parameters, body)?;
    let answers = answers::read(document, one, known);
    notes.extend(input.notes);
    notes.extend(answers.notes);
    let binding = OperationBinding {
        operation: one.native_id.clone(),
        method: one.method.clone(),
        server: server.base,
        path,
        parameters: input.parameters,
        body: input.body,
        credentials,
        accept: answers.accept,
        response_schema: answers.schema.as_ref().map(|schema| schema.text().to_owned()),
        allowed_host: server.host,
        allowed_port: server.port,
        idempotent: facts.idempotent,
        max_response_bytes: None,
    };
    let deprecated = one.members.get("deprecated") == Some(&Value::Bool(true));
    let title = describe::title(said.title.as_deref().unwrap_or_else(|| one.text("summary")));
    let description = describe::description(document, one, &said, &binding, answers.pages, deprecated);
    Ok(Some(Operation {
        native_id: one.native_id.clone(),
        name: said.name.clone().unwrap_or_else(|| name.to_owned()),
        title,
        description,
        search_hint: describe::search_hint(one),
        tags: one.tags().map(str::to_owned).collect(),
        kind: said.kind.unwrap_or(ToolKind::OpenapiOperation),
        risk: said.risk(&one.method),
        facts,
        deprecated,
        input_schema: input.schema,
        output_schema: answers.schema,
        binding,
        notes,
    }))
}
