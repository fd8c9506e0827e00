//! The network and its tokens: one text becomes one vector.

use std::{
    fmt::Display,
    fs,
    path::Path,
    sync::{Mutex, PoisonError},
};

use ort::{
    environment::Environment,
    session::{Session, SessionInputValue, builder::GraphOptimizationLevel},
    value::Tensor,
};
use tokenizers::Tokenizer;

use crate::{Files, Unusable, network::fused};

/// What the model was made for, with the two that stand around a text.
const MAX_TOKENS: usize = 256;
/// A text that has more is read in so many parts at most, and the rest is left out.
const MAX_PARTS: usize = 16;
/// More of a text never matters: no token has so many bytes on average.
const MAX_BYTES: usize = MAX_PARTS * MAX_TOKENS * 16;

/// A process has one, with the library it was loaded from first.
static ENVIRONMENT: Mutex<Option<Environment>> = Mutex::new(None);

/// The network and its tokens.
pub(crate) struct Model {
    session: Session,
    tokenizer: Tokenizer,
    /// The tokens before and after each text.
    around: [u32; 2],
    inputs: Vec<String>,
}

impl Model {
    /// So many, each with a network of its own.
    pub(crate) fn load(files: &Files, count: usize) -> Result<Vec<Self>, Unusable> {
        let network = fs::read(&files.network).map_err(|why| unusable(&files.network, why))?;
        let network = fused(&network).unwrap_or(network);
        (0..count).map(|_| Self::with(files, &network)).collect()
    }

    fn with(files: &Files, network: &[u8]) -> Result<Self, Unusable> {
        let environment = environment(&files.library)?;
        let session =
            session(&environment, network).map_err(|why| unusable(&files.network, why))?;
        let inputs = session
            .inputs()
            .iter()
            .map(|input| input.name().to_owned())
            .collect();
        let mut tokenizer = Tokenizer::from_file(&files.tokenizer)
            .map_err(|why| unusable(&files.tokenizer, why))?;
        tokenizer
            .with_truncation(None)
            .map_err(|why| unusable(&files.tokenizer, why))?;
        tokenizer.with_padding(None);
        let around = tokenizer
            .encode_fast("", true)
            .map_err(|why| unusable(&files.tokenizer, why))?;
        let around = around.get_ids().try_into().map_err(|_| {
            unusable(
                &files.tokenizer,
                "a text does not begin with one token and end with another",
            )
        })?;
        Ok(Self {
            session,
            tokenizer,
            around,
            inputs,
        })
    }

    /// The direction of a text. One that is too long at once is read in parts of like length, and has the mean of theirs:
    /// what a long question is about may stand at its end.
    pub(crate) fn vector(&mut self, text: &str) -> Result<Vec<f32>, Unusable> {
        let text = text
            .get(..text.floor_char_boundary(MAX_BYTES))
            .unwrap_or(text);
        let tokens = self.tokenizer.encode_fast(text, false).map_err(no_vector)?;
        let tokens = tokens.get_ids();
        let count = tokens.len().div_ceil(MAX_TOKENS - 2).max(1);
        let parts: Vec<&[u32]> = tokens
            .chunks(tokens.len().div_ceil(count).max(1))
            .take(MAX_PARTS)
            .collect();
        if parts.len() < 2 {
            return self.of_part(tokens);
        }
        let mut vectors = Vec::new();
        for part in &parts {
            vectors.extend(self.of_part(part)?);
        }
        mean(&vectors, vectors.len() / parts.len())
            .ok_or_else(|| no_vector("its parts have no direction together"))
    }

    /// The mean of what the network makes of the tokens, with length 1.
    fn of_part(&mut self, tokens: &[u32]) -> Result<Vec<f32>, Unusable> {
        let [before, after] = self.around;
        let ids = std::iter::once(before)
            .chain(tokens.iter().copied())
            .chain([after]);
        let ids: Vec<i64> = ids.map(i64::from).collect();
        let count = ids.len();
        let tensor = |numbers: Vec<i64>| -> Result<SessionInputValue<'static>, Unusable> {
            Ok(Tensor::from_array(([1, count], numbers))
                .map_err(no_vector)?
                .into())
        };
        let inputs = self.inputs.iter().map(|name| {
            let numbers = match name.as_str() {
                "input_ids" => ids.clone(),
                "attention_mask" => vec![1; count],
                "token_type_ids" => vec![0; count],
                other => return Err(no_vector(format!("it wants {other}"))),
            };
            Ok((name.clone(), tensor(numbers)?))
        });
        let inputs: Vec<_> = inputs.collect::<Result<_, Unusable>>()?;
        let outputs = self.session.run(inputs).map_err(no_vector)?;
        let (_, output) = outputs
            .iter()
            .next()
            .ok_or_else(|| no_vector("it has no output"))?;
        let (shape, numbers) = output.try_extract_tensor::<f32>().map_err(no_vector)?;
        let length = shape
            .last()
            .and_then(|length| usize::try_from(*length).ok())
            .unwrap_or(0);
        if length == 0 || numbers.len() != length * count {
            return Err(no_vector(
                "its output has another shape than all-MiniLM-L6-v2's",
            ));
        }
        mean(numbers, length).ok_or_else(|| no_vector("its output is no number"))
    }
}

/// The direction of the mean of vectors of this length, one after another.
fn mean(numbers: &[f32], length: usize) -> Option<Vec<f32>> {
    let mut sum = vec![0.0_f32; length];
    for vector in numbers.chunks_exact(length) {
        for (sum, number) in sum.iter_mut().zip(vector) {
            *sum += number;
        }
    }
    let norm = sum.iter().map(|number| number * number).sum::<f32>().sqrt();
    (norm.is_finite() && norm > 0.0).then(|| sum.iter().map(|number| number / norm).collect())
}

fn environment(library: &Path) -> Result<Environment, Unusable> {
    let mut known = ENVIRONMENT.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(environment) = &*known {
        return Ok(environment.clone());
    }
    let loaded = ort::init_from(library).map_err(|why| unusable(library, why))?;
    let built = loaded.with_name("glasshouse").with_telemetry(false).build();
    let environment = built.map_err(|why| unusable(library, why))?;
    *known = Some(environment.clone());
    Ok(environment)
}

/// A network that computes on the thread that asks it.
fn session(environment: &Environment, network: &[u8]) -> Result<Session, ort::Error> {
    Session::builder(environment)?
        .with_intra_threads(1)?
        .with_inter_threads(1)?
        .with_optimization_level(GraphOptimizationLevel::All)?
        // Texts have many lengths, and a plan of the memory would be kept for each.
        .with_memory_pattern(false)?
        // In one step, sum and norm take longer than one after the other.
        .with_disabled_optimizers("SkipLayerNormFusion")?
        .commit_from_memory(network)
}

fn unusable(file: &Path, why: impl Display) -> Unusable {
    Unusable::File {
        file: file.to_owned(),
        why: why.to_string(),
    }
}

fn no_vector(why: impl Display) -> Unusable {
    Unusable::NoVector(why.to_string())
}
