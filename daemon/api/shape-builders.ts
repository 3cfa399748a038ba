// The builders of TypeBox that shapes are made of. Its own `Type` has every one, and a start would load them all.

export {
  Array,
  Boolean,
  Integer,
  Literal,
  Null,
  Number,
  Object,
  Omit,
  Optional,
  Record,
  String,
  Tuple,
  Union,
  Unknown,
  Unsafe,
} from '@sinclair/typebox'
