//! A model in a folder: weights, what splits texts into tokens, and what the model is built like, as they are published for
//! sentence encoders of the BERT family. Everything is read when it is opened; nothing is ever downloaded.

mod folder;
#[cfg(test)]
mod tests;

use std::path::Path;

use candle_core::{DType, Device, Tensor};
use candle_nn::VarBuilder;
use candle_transformers::models::bert::BertModel;
use rayon::{ThreadPool, ThreadPoolBuilder};
use tokenizers::{Encoding, Tokenizer};

use crate::embedder::{EmbedError, Embedder, ModelId};
use folder::{Folder, Pooling};

pub use folder::ModelFault;

/// Texts that go through the model together. More are hardly faster, and a question waits for those that are on their way.
const AT_ONCE: usize = 4;

/// A model that was read from a folder.
pub struct FolderModel {
    model: ModelId,
    dimension: usize,
    tokenizer: Tokenizer,
    bert: BertModel,
    pooling: Pooling,
    /// All that is computed is computed here: without it, it would take every processor.
    threads: ThreadPool,
}

impl std::fmt::Debug for FolderModel {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("FolderModel").field("model", &self.model).field("dimension", &self.dimension).finish()
    }
}

impl FolderModel {
    /// Reads a folder with `config.json`, `tokenizer.json` and `model.safetensors`, and, where they are there,
    /// `sentence_bert_config.json` and `1_Pooling/config.json`. It will compute with so many threads of its
    /// own, and at least one.
    ///
    /// # Errors
    ///
    /// What is missing, cannot be read, or is of a kind that is not known here.
    pub fn open(path: &Path, threads: u32) -> Result<Self, ModelFault> {
        let Folder { config, tokenizer, weights, pooling, revision } = Folder::read(path)?;
        let tensors = VarBuilder::from_buffered_safetensors(weights, DType::F32, &Device::Cpu)
            .map_err(|error| ModelFault::new("model.safetensors", error))?;
        let bert = BertModel::load(tensors, &config).map_err(|error| ModelFault::new("model.safetensors", error))?;
        let name = path.file_name().map_or_else(|| "model".into(), |name| name.to_string_lossy());
        let threads =
            ThreadPoolBuilder::new().num_threads(threads.max(1) as usize).thread_name(|at| format!("meaning-{at}"));
        let threads = threads.build().map_err(|error| ModelFault::new("threads", error))?;
        let (model, dimension) = (ModelId::new(&name, &revision), config.hidden_size);
        let model = Self { model, dimension, tokenizer, bert, pooling, threads };
        // Weights and tokens that do not fit each other are noticed now and not with the first question.
        model.embed(&["do they fit"]).map_err(|error| ModelFault::new("model.safetensors", error))?;
        Ok(model)
    }

    fn batch(&self, encodings: &[&Encoding]) -> candle_core::Result<Vec<Vec<f32>>> {
        let longest = encodings.iter().map(|encoding| encoding.len()).max().unwrap_or_default();
        let (mut ids, mut mask) = (Vec::new(), Vec::new());
        for encoding in encodings {
            let padding = longest - encoding.len();
            ids.extend_from_slice(encoding.get_ids());
            ids.extend(std::iter::repeat_n(0_u32, padding));
            mask.extend(std::iter::repeat_n(1_f32, encoding.len()).chain(std::iter::repeat_n(0_f32, padding)));
        }
        let shape = (encodings.len(), longest);
        let ids = Tensor::from_vec(ids, shape, &Device::Cpu)?;
        let mask = Tensor::from_vec(mask, shape, &Device::Cpu)?;
        let hidden = self.bert.forward(&ids, &ids.zeros_like()?, Some(&mask))?;
        let pooled = match self.pooling {
            Pooling::First => hidden.narrow(1, 0, 1)?.squeeze(1)?,
            Pooling::Mean => {
                let kept = hidden.broadcast_mul(&mask.unsqueeze(2)?)?.sum(1)?;
                kept.broadcast_div(&mask.sum_keepdim(1)?)?
            }
        };
        let lengths = pooled.sqr()?.sum_keepdim(1)?.sqrt()?.clamp(1e-12, f32::MAX)?;
        pooled.broadcast_div(&lengths)?.to_vec2()
    }
}

impl Embedder for FolderModel {
    fn model(&self) -> &ModelId {
        &self.model
    }

    fn dimension(&self) -> usize {
        self.dimension
    }

    fn embed(&self, texts: &[&str]) -> Result<Vec<Vec<f32>>, EmbedError> {
        let fault = |error: String| EmbedError(format!("`{}` failed: {error}", self.model));
        let mut encodings = Vec::with_capacity(texts.len());
        for text in texts {
            encodings.push(self.tokenizer.encode(*text, true).map_err(|error| fault(error.to_string()))?);
        }
        let mut vectors = vec![vec![0.0; self.dimension]; texts.len()];
        // Of one length as far as may be: a batch takes as long as its longest text.
        let mut order: Vec<usize> = (0..encodings.len()).filter(|at| !encodings[*at].is_empty()).collect();
        order.sort_by_key(|at| encodings[*at].len());
        for places in order.chunks(AT_ONCE) {
            let batch: Vec<&Encoding> = places.iter().map(|at| &encodings[*at]).collect();
            // A turn for each batch: whoever asks meanwhile is next.
            let made = self.threads.install(|| self.batch(&batch)).map_err(|error| fault(error.to_string()))?;
            places.iter().zip(made).for_each(|(at, vector)| vectors[*at] = vector);
        }
        Ok(vectors)
    }
}
