// Any character but half a surrogate pair; fast-check's own "binary" takes a second to set up.
import fc from "fast-check";

export const anyCodePoint = fc
  .nat(0x10ffff)
  .map((code) => String.fromCodePoint(code).toWellFormed());
