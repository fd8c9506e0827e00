//! Remembers fields that the servers of a model have refused, and leaves them out until the process ends.

use schemars::JsonSchema;
use std::{
    collections::HashMap,
    sync::{Mutex, MutexGuard, PoisonError},
};

use domain::{LeftOut, ModelParameters, Parameter, ReasoningEffort};
use provider::OptionalField;
use serde::Serialize;

use super::Pool;

/// A parameter that the servers of a model have refused since the program started.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, JsonSchema)]
pub struct RefusedParameter {
    /// The parameter.
    pub parameter: Parameter,
    /// The refused level, if it is the reasoning effort: others may be accepted.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reasoning_effort: Option<ReasoningEffort>,
}

impl Pool {
    /// The parameters that any of the servers has refused for the model of this name.
    #[must_use]
    pub fn refused_parameters(&self, model: &str) -> Vec<RefusedParameter> {
        let refused = self.refused_fields(model).into_iter();
        let refused = refused.filter_map(|RefusedField { field, effort }| {
            Some(RefusedParameter {
                parameter: field.parameter?,
                reasoning_effort: effort,
            })
        });
        let mut refused: Vec<RefusedParameter> = refused.collect();
        refused.sort_unstable();
        refused.dedup();
        refused
    }
}

/// A refused field.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct RefusedField {
    pub(super) field: &'static OptionalField,
    /// The refused level, if it is the reasoning effort: others may be accepted.
    pub(super) effort: Option<ReasoningEffort>,
}

impl RefusedField {
    pub(super) fn new(field: &'static OptionalField, set: &ModelParameters) -> Self {
        let says_effort = field.parameter == Some(Parameter::ReasoningEffort);
        Self {
            field,
            effort: set.reasoning_effort.filter(|_| says_effort),
        }
    }

    /// Whether it applies to these parameters.
    fn is_for(&self, set: &ModelParameters) -> bool {
        match self.field.parameter {
            Some(Parameter::ReasoningEffort) => set
                .reasoning_effort
                .is_some_and(|it| Some(it) == self.effort),
            Some(parameter) => set.has(parameter),
            None => false,
        }
    }
}

/// The refused fields of one server, by the model's name there.
#[derive(Debug, Default)]
pub(super) struct RefusedFields(Mutex<HashMap<String, Vec<RefusedField>>>);

impl RefusedFields {
    pub(super) fn of(&self, model: &str) -> Vec<RefusedField> {
        self.lock().get(model).cloned().unwrap_or_default()
    }

    pub(super) fn note(&self, model: &str, refused: &[RefusedField]) {
        if refused.is_empty() {
            return;
        }
        let mut all = self.lock();
        let known = all.entry(model.to_owned()).or_default();
        for new in refused {
            if !known.contains(new) {
                known.push(*new);
            }
        }
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<String, Vec<RefusedField>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The parameters without those that the model is known to refuse; `None` if all are accepted.
pub(super) fn accepted(
    set: &ModelParameters,
    unsupported: &[Parameter],
    refused: &[RefusedField],
) -> Option<(ModelParameters, Vec<LeftOut>)> {
    let refused = refused
        .iter()
        .filter(|it| it.is_for(set))
        .filter_map(|it| it.field.parameter);
    let mut not_taken: Vec<Parameter> = unsupported
        .iter()
        .copied()
        .filter(|it| set.has(*it))
        .chain(refused)
        .collect();
    not_taken.sort_unstable();
    not_taken.dedup();
    if not_taken.is_empty() {
        return None;
    }
    let left = not_taken
        .iter()
        .fold(set.clone(), |set, parameter| set.without(*parameter));
    Some((
        left,
        not_taken.into_iter().map(LeftOut::Parameter).collect(),
    ))
}

#[cfg(test)]
mod tests {
    use provider::openai::OPTIONAL_FIELDS;

    use super::*;

    fn field(parameter: Parameter) -> &'static OptionalField {
        OPTIONAL_FIELDS
            .iter()
            .find(|field| field.parameter == Some(parameter))
            .unwrap()
    }

    fn set(effort: ReasoningEffort) -> ModelParameters {
        ModelParameters {
            seed: Some(7),
            reasoning_effort: Some(effort),
            ..ModelParameters::default()
        }
    }

    #[test]
    fn a_refused_level_does_not_affect_others() {
        let low = set(ReasoningEffort::Low);
        let high = set(ReasoningEffort::High);
        let known = RefusedFields::default();
        let refused = RefusedField::new(field(Parameter::ReasoningEffort), &low);
        known.note("m", &[refused, refused]);
        assert_eq!(known.of("m"), [refused]);
        assert_eq!(known.of("n"), []);
        let (left, left_out) = accepted(&low, &[], &known.of("m")).unwrap();
        assert_eq!((left.seed, left.reasoning_effort), (Some(7), None));
        assert_eq!(left_out, [LeftOut::Parameter(Parameter::ReasoningEffort)]);
        assert_eq!(accepted(&high, &[], &known.of("m")), None);
    }

    #[test]
    fn only_set_parameters_are_left_out() {
        let refused = [RefusedField::new(
            field(Parameter::Seed),
            ModelParameters::unset(),
        )];
        let unsupported = [Parameter::Seed, Parameter::Stop];
        let (left, left_out) =
            accepted(&set(ReasoningEffort::Low), &unsupported, &refused).unwrap();
        assert_eq!(left.seed, None);
        assert_eq!(left_out, [LeftOut::Parameter(Parameter::Seed)]);
        assert_eq!(accepted(&left, &unsupported, &refused), None);
    }
}
