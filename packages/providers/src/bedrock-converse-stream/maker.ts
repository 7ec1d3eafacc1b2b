// Tells whose models read their signed thinking back, and take their maker's own fields.
import type { ModelProfile } from "@clew/plugin-sdk/host";

/**
 * True for the models of the one maker whose thinking is signed behind this wire. They also take
 * the fields of the Messages wire beside the common ones, let a person speak behind results in one
 * message, and take nothing but text from a tool that failed.
 */
export const readsSigned = ({ reasoning }: ModelProfile): boolean =>
  reasoning.carrier === "signed" && reasoning.replay !== "strip";
