// Which sessions an evaluation makes for itself.
import type { ReplaySource } from "../script.ts";
import { generateCoding } from "./coding.ts";
import { ENGLISH, OTHER_LANGUAGES } from "./languages.ts";
import { generateSupport } from "./support.ts";

/** Long enough that there are old things to go back to in the largest window. */
const CODING_TOKENS = 320_000;
const OTHER_TOKENS = 90_000;

/** `coding`: how many long ones; 0 = nothing at all. The same seed gives the same sessions. */
export function* generateSessions(seed: number, coding: number): Generator<ReplaySource> {
  if (coding === 0) return;
  for (let at = 1; at <= coding; at++) {
    const name = `${ENGLISH.name}-generated-${at}`;
    yield generateCoding({ name, seed: seed + at, language: ENGLISH, tokens: CODING_TOKENS });
  }
  yield generateSupport("support-generated", seed + 101, OTHER_TOKENS);
  for (const [at, language] of OTHER_LANGUAGES.entries()) {
    const name = `${language.name}-generated`;
    yield generateCoding({ name, seed: seed + 201 + at, language, tokens: OTHER_TOKENS });
  }
}
