// What stands in for the proof of a call that another model made.

/**
 * Gemini refuses a call without a proof, but for this word:
 * https://ai.google.dev/gemini-api/docs/thought-signatures
 */
export const STAND_IN_SIGNATURE = "skip_thought_signature_validator";
