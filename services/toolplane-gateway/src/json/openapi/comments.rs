//! The comments of the protos, by what they are about.

use std::collections::HashMap;

use prost_reflect::{
    DescriptorPool, EnumDescriptor, EnumValueDescriptor, FieldDescriptor, FileDescriptor, MessageDescriptor,
};

/// Comments by file and by path within its descriptor.
#[derive(Debug, Default)]
pub(super) struct Comments {
    found: HashMap<(String, Vec<i32>), String>,
    services: HashMap<String, String>,
    methods: HashMap<String, String>,
}

impl Comments {
    pub(super) fn of(pool: &DescriptorPool) -> Self {
        let mut comments = Self::default();
        for file in pool.files() {
            let source = file.file_descriptor_proto().source_code_info.clone().unwrap_or_default();
            for location in source.location {
                if let Some(text) = location.leading_comments.map(|text| tidy(&text)).filter(|text| !text.is_empty()) {
                    comments.found.insert((file.name().to_owned(), location.path), text);
                }
            }
        }
        for service in pool.services() {
            let text = comments.at(&service.parent_file(), service.path());
            comments.services.insert(service.name().to_owned(), text);
            for method in service.methods() {
                let text = comments.at(&service.parent_file(), method.path());
                comments.methods.insert(format!("{}/{}", service.full_name(), method.name()), text);
            }
        }
        comments
    }

    fn at(&self, file: &FileDescriptor, path: &[i32]) -> String {
        self.found.get(&(file.name().to_owned(), path.to_vec())).cloned().unwrap_or_default()
    }

    /// Of a service, by its short name.
    pub(super) fn service(&self, name: &str) -> &str {
        self.services.get(name).map_or("", String::as_str)
    }

    /// Of a method, by its full name.
    pub(super) fn method(&self, name: &str) -> &str {
        self.methods.get(name).map_or("", String::as_str)
    }

    pub(super) fn message(&self, message: &MessageDescriptor) -> String {
        self.at(&message.parent_file(), message.path())
    }

    pub(super) fn field(&self, field: &FieldDescriptor) -> String {
        self.at(&field.parent_message().parent_file(), field.path())
    }

    pub(super) fn words(&self, words: &EnumDescriptor) -> String {
        self.at(&words.parent_file(), words.path())
    }

    pub(super) fn word(&self, word: &EnumValueDescriptor) -> String {
        self.at(&word.parent_enum().parent_file(), word.path())
    }
}

/// A comment as one paragraph; an empty line begins another.
fn tidy(comment: &str) -> String {
    let paragraphs = comment.split("\n\n").map(|paragraph| {
        paragraph.lines().map(str::trim).filter(|line| !line.is_empty()).collect::<Vec<_>>().join(" ")
    });
    paragraphs.filter(|paragraph| !paragraph.is_empty()).collect::<Vec<_>>().join("\n\n")
}
