// Which Codex a list of scenarios is tried with.
import { existsSync } from "node:fs";

const binary = process.env.CLEW_TEST_CODEX;

/** The binary itself, not npm's launcher; undefined: none is there. */
export const REAL_CODEX = binary !== undefined && existsSync(binary) ? binary : undefined;

if (REAL_CODEX === undefined)
  console.log("CLEW_TEST_CODEX names no Codex: the real one is not tried.");

export const PROGRAMS: { program: string; binary: string | undefined }[] = [
  { program: "what stands in for Codex", binary: undefined },
  ...(REAL_CODEX === undefined ? [] : [{ program: "the real Codex", binary: REAL_CODEX }]),
];
