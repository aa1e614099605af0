//! The model a configuration names.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use toolplane_meaning::{Embedder, Weights};
use toolplane_runtime::config::MeaningConfig;

use crate::error::SurfaceError;
use crate::options::MeaningOptions;

/// Reads the model of the section as a start does, and lets it go again; so a check says all that a start would.
pub(crate) fn check(config: &MeaningConfig) -> Result<(), SurfaceError> {
    read(config).map(drop)
}

/// Reads the model of the section, when it names one.
pub(crate) async fn open(config: &MeaningConfig) -> Result<Option<MeaningOptions>, SurfaceError> {
    let (section, threads) = (config.clone(), config.threads());
    let read = tokio::task::spawn_blocking(move || read(&section)).await;
    let Some(embedder) = read.unwrap_or_else(|error| Err(refused(&error)))? else { return Ok(None) };
    tracing::info!(model = %embedder.model(), %threads, "tools are found by their meaning too");
    Ok(Some(MeaningOptions {
        embedder,
        weights: Weights { words: config.words_weight, meaning: config.meaning_weight },
        least_similarity: config.least_similarity as f32 / 100.0,
        patience: Duration::from_millis(config.patience_ms.into()),
    }))
}

fn read(config: &MeaningConfig) -> Result<Option<Arc<dyn Embedder>>, SurfaceError> {
    let Some(folder) = &config.model else { return Ok(None) };
    if cfg!(feature = "embedding-model") && !folder.is_dir() {
        return Err(refused(&format!("`{}` is not a folder", folder.display())));
    }
    model(folder, config.threads()).map(Some).map_err(|reason| refused(&reason))
}

fn refused(reason: &impl ToString) -> SurfaceError {
    SurfaceError::Meaning { reason: reason.to_string() }
}

#[cfg(feature = "embedding-model")]
fn model(folder: &Path, threads: u32) -> Result<Arc<dyn Embedder>, String> {
    match toolplane_meaning::FolderModel::open(folder, threads) {
        Ok(model) => Ok(Arc::new(model)),
        Err(fault) => Err(format!("`{}`: {fault}", folder.display())),
    }
}

#[cfg(not(feature = "embedding-model"))]
fn model(folder: &Path, _: u32) -> Result<Arc<dyn Embedder>, String> {
    Err(format!("`{}` needs a build with the feature `embedding-model`", folder.display()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_that_is_no_model_is_refused_with_its_key_and_file() {
        let dir = tempfile::tempdir().unwrap();
        let empty = MeaningConfig { model: Some(dir.path().to_owned()), ..MeaningConfig::default() };
        assert!(check(&MeaningConfig::default()).is_ok());
        let told = |config: &MeaningConfig| check(config).unwrap_err().to_string();
        assert!(told(&empty).starts_with("`surface.search.meaning.model`: "), "{}", told(&empty));
        if cfg!(feature = "embedding-model") {
            assert!(told(&empty).contains("`config.json` is not in the folder"));
            let nowhere = MeaningConfig { model: Some(dir.path().join("nowhere")), ..empty };
            assert!(told(&nowhere).contains("is not a folder"));
        } else {
            assert!(told(&empty).contains("needs a build with the feature"));
        }
    }
}
