//! Reads JSON objects field by field, treating fields of a wrong type as missing.

use std::{borrow::Cow, fmt, marker::PhantomData};

use serde::de::{
    Deserialize, DeserializeSeed, Deserializer, Error, IgnoredAny, MapAccess, SeqAccess, Visitor,
};

/// An object of which some fields are read. Others are skipped, and the last one of a name counts.
pub(super) trait Fields<'a>: Default {
    /// Reads the value of a field, which must be taken from `map`.
    fn read<M: MapAccess<'a>>(&mut self, name: &str, map: &mut M) -> Result<(), M::Error>;

    /// A text came instead of the object.
    fn read_text(&mut self, _text: Cow<'a, str>) {}

    /// Whether it counts in a list.
    fn is_wanted(&self) -> bool;
}

/// Skips a field.
pub(super) fn skip<'a, M: MapAccess<'a>>(map: &mut M) -> Result<(), M::Error> {
    map.next_value::<IgnoredAny>().map(drop)
}

/// Ignores numbers and literals.
macro_rules! no_object {
    () => {
        fn visit_unit<E: Error>(self) -> Result<(), E> {
            Ok(())
        }

        fn visit_bool<E: Error>(self, _: bool) -> Result<(), E> {
            Ok(())
        }

        fn visit_i64<E: Error>(self, _: i64) -> Result<(), E> {
            Ok(())
        }

        fn visit_u64<E: Error>(self, _: u64) -> Result<(), E> {
            Ok(())
        }

        fn visit_f64<E: Error>(self, _: f64) -> Result<(), E> {
            Ok(())
        }
    };
}

/// Reads an object, or the first wanted one of a list. Anything else leaves it empty.
pub(super) struct Place<'t, T>(pub(super) &'t mut T);

impl<'a, T: Fields<'a>> DeserializeSeed<'a> for Place<'_, T> {
    type Value = ();

    fn deserialize<D: Deserializer<'a>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'a, T: Fields<'a>> Visitor<'a> for Place<'_, T> {
    type Value = ();

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("any value")
    }

    fn visit_map<M: MapAccess<'a>>(self, mut map: M) -> Result<(), M::Error> {
        while let Some(Name(name)) = map.next_key::<Name<'a>>()? {
            self.0.read(&name, &mut map)?;
        }
        Ok(())
    }

    fn visit_seq<S: SeqAccess<'a>>(self, mut list: S) -> Result<(), S::Error> {
        while list.next_element_seed(Place(&mut *self.0))?.is_some() {
            if self.0.is_wanted() {
                while list.next_element::<IgnoredAny>()?.is_some() {}
                break;
            }
            *self.0 = T::default();
        }
        Ok(())
    }

    fn visit_borrowed_str<E: Error>(self, text: &'a str) -> Result<(), E> {
        self.0.read_text(Cow::Borrowed(text));
        Ok(())
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<(), E> {
        self.0.read_text(Cow::Owned(text.replace('\0', "\u{FFFD}")));
        Ok(())
    }

    no_object!();
}

/// The objects of a list, or a single one; each is passed to a closure.
pub(super) struct Each<T, F>(F, PhantomData<T>);

impl<T, F: FnMut(T)> Each<T, F> {
    pub(super) fn new(found: F) -> Self {
        Self(found, PhantomData)
    }
}

impl<'a, T: Fields<'a>, F: FnMut(T)> DeserializeSeed<'a> for Each<T, F> {
    type Value = ();

    fn deserialize<D: Deserializer<'a>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'a, T: Fields<'a>, F: FnMut(T)> Visitor<'a> for Each<T, F> {
    type Value = ();

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("any value")
    }

    fn visit_map<M: MapAccess<'a>>(mut self, map: M) -> Result<(), M::Error> {
        let mut item = T::default();
        Place(&mut item).visit_map(map)?;
        (self.0)(item);
        Ok(())
    }

    fn visit_seq<S: SeqAccess<'a>>(mut self, mut list: S) -> Result<(), S::Error> {
        loop {
            let mut item = T::default();
            if list.next_element_seed(Place(&mut item))?.is_none() {
                return Ok(());
            }
            if item.is_wanted() {
                (self.0)(item);
            }
        }
    }

    fn visit_str<E: Error>(self, _: &str) -> Result<(), E> {
        Ok(())
    }

    no_object!();
}

/// A key, borrowed if it has no escapes.
struct Name<'a>(Cow<'a, str>);

impl<'a> Deserialize<'a> for Name<'a> {
    fn deserialize<D: Deserializer<'a>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_str(NameVisitor)
    }
}

struct NameVisitor;

impl<'a> Visitor<'a> for NameVisitor {
    type Value = Name<'a>;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("a key")
    }

    fn visit_borrowed_str<E: Error>(self, name: &'a str) -> Result<Name<'a>, E> {
        Ok(Name(Cow::Borrowed(name)))
    }

    fn visit_str<E: Error>(self, name: &str) -> Result<Name<'a>, E> {
        Ok(Name(Cow::Owned(name.to_owned())))
    }
}
