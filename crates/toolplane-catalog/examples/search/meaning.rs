//! A model in a folder beside the words, in `bench ranking`.

use toolplane_catalog::catalog::CatalogEntry;
use toolplane_catalog::search::{Nearest, told};
use toolplane_meaning::{Embedder, Quantised, Vectors};
use toolplane_records::ids::ToolId;

/// Texts that are embedded at a time.
const AT_ONCE: usize = 64;

/// The tools of a set as a model understands them.
#[derive(Debug)]
pub(crate) struct Understood<'m> {
    model: &'m dyn Embedder,
    vectors: Vectors<ToolId>,
}

/// One question to them.
#[derive(Debug)]
pub(crate) struct Asked<'u, 'm> {
    understood: &'u Understood<'m>,
    vector: Quantised,
}

#[cfg(feature = "model")]
pub(crate) fn open(folder: &str) -> Box<dyn Embedder> {
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    let model = toolplane_meaning::FolderModel::open(std::path::Path::new(folder), threads as u32);
    Box::new(model.unwrap_or_else(|fault| panic!("{folder}: {fault}")))
}

#[cfg(not(feature = "model"))]
pub(crate) fn open(folder: &str) -> Box<dyn Embedder> {
    panic!("{folder}: models need the feature `model`")
}

impl<'m> Understood<'m> {
    pub(crate) fn of(model: &'m dyn Embedder, tools: &[CatalogEntry]) -> Self {
        let mut vectors = Vectors::new(model.dimension());
        for tools in tools.chunks(AT_ONCE) {
            let texts: Vec<String> = tools.iter().map(|entry| told(&entry.tool)).collect();
            for (entry, vector) in tools.iter().zip(embedded(model, &texts)) {
                vectors.insert(entry.tool_id().clone(), &vector);
            }
        }
        Self { model, vectors }
    }

    pub(crate) fn ask(&self, question: &str) -> Asked<'_, 'm> {
        let vector = embedded(self.model, &[question.to_owned()]).remove(0);
        Asked { understood: self, vector }
    }
}

impl Nearest for Asked<'_, '_> {
    fn nearest(&self, most: usize, fits: &mut dyn FnMut(&ToolId) -> bool) -> Vec<ToolId> {
        let near = self.understood.vectors.nearest(&self.vector, most, -1.0, fits);
        near.into_iter().map(|near| near.key).collect()
    }
}

fn embedded(model: &dyn Embedder, texts: &[String]) -> Vec<Quantised> {
    let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
    let vectors = model.embed(&texts).expect("vectors");
    vectors.iter().map(|vector| Quantised::of(vector).expect("a direction")).collect()
}
