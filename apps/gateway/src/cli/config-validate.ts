// Runs `clew config validate`, which says whether settings are right.
import { resolve } from "node:path";
import { ContextEngineError } from "@clew/plugin-sdk/core";
import { checkConfigText, readConfigText } from "../config/load.ts";
import type { Config } from "../config/schema.ts";
import { fileNotFound } from "../file-not-found.ts";
import { EXIT } from "../terminal/exit-codes.ts";
import { printable } from "../terminal/output.ts";
import type { Shell } from "../terminal/shell.ts";
import { counted } from "../text/number.ts";
import { mistakenNames } from "./mistaken-names.ts";

/** Exit code 1 for what a start would refuse; what it only warns of is no mistake. */
export async function configValidate(
  given: string | undefined,
  { json = false }: { json?: boolean },
  { environment, output }: Shell,
): Promise<number> {
  const file = given === undefined ? environment.configFile : resolve(given);
  const text = await readConfigText(file);
  if (text === null && given !== undefined) throw fileNotFound(file);
  const { problem, warnings, config } = check(text ?? "{}", file);
  if (config !== null) warnings.push(...mistakenNames(config, environment));
  if (json) output.json({ file, isValid: problem === null, problem, warnings });
  else {
    for (const warning of warnings) output.line(printable(`warning: ${warning}`));
    output.line(printable(problem ?? describeRight(file, text === null, warnings.length)));
  }
  return problem === null ? EXIT.done : EXIT.failed;
}

interface Verdict {
  problem: string | null;
  warnings: string[];
  /** Null: there is a problem. */
  config: Config | null;
}

function check(text: string, file: string): Verdict {
  try {
    const { warnings, config } = checkConfigText(text, file);
    return { problem: null, warnings: [...warnings], config };
  } catch (error) {
    if (!ContextEngineError.is(error)) throw error;
    return { problem: error.message, warnings: [], config: null };
  }
}

function describeRight(file: string, isMissing: boolean, warnings: number): string {
  if (isMissing) return `There is no ${file}: every setting has its default.`;
  return `${file} is right${warnings === 0 ? "" : `, with ${counted(warnings, "warning")}`}.`;
}
