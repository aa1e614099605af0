//! Prints the JSON Schemas of the standard's records as one object, by file name; `cargo xtask gen` keeps them below `schemas/records`.

fn main() {
    let schemas = toolplane_records::schema::all();
    let files: serde_json::Map<String, serde_json::Value> =
        schemas.into_iter().map(|(name, schema)| (format!("{name}.schema.json"), schema.into())).collect();
    print!("{}", serde_json::Value::Object(files));
}
