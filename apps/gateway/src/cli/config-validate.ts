// Runs `clew config validate`, which says whether settings are right.
import { resolve } from "node:path";
import { ContextEngineError } from "@clew/plugin-sdk/core";
import type { Environment } from "../config/environment.ts";
import { checkConfigText, readConfigText } from "../config/load.ts";
import type { Config } from "../config/schema.ts";
import {
  refusedAtStart,
  repeatedForService,
  unsetVariables,
  variablesOfService,
} from "../doctor/unset-variables.ts";
import { fileNotFound } from "../file-not-found.ts";
import { EXIT } from "../terminal/exit-codes.ts";
import { printable } from "../terminal/output.ts";
import type { Shell } from "../terminal/shell.ts";
import { counted } from "../text/number.ts";
import { mistakenNames } from "./mistaken-names.ts";

/**
 * Exit code 1 for what a start would refuse; what it only warns of is no mistake, nor is a variable
 * that another file than this home's names: it is for another place.
 */
export async function configValidate(
  given: string | undefined,
  { json = false }: { json?: boolean },
  { environment, output }: Shell,
): Promise<number> {
  const file = given === undefined ? environment.configFile : resolve(given);
  const text = await readConfigText(file);
  if (text === null && given !== undefined) throw fileNotFound(file);
  const { warnings, config, ...checked } = check(text ?? "{}", file);
  let { problem } = checked;
  if (config !== null) {
    const refused = refusedHere(config, environment);
    if (file === environment.configFile) {
      problem = refused.problem;
      warnings.push(...refused.ofService, ...repeatedForService(environment));
    } else warnings.push(...refusedAtStart(config, environment));
    warnings.push(...unsetVariables(config, environment), ...mistakenNames(config, environment));
  }
  if (json) output.json({ file, isValid: problem === null, problem, warnings });
  else {
    for (const warning of warnings) output.line(printable(`warning: ${warning}`));
    output.line(printable(problem ?? describeRight(file, text === null, warnings.length)));
  }
  return problem === null ? EXIT.done : EXIT.failed;
}

/** Both as sentences; what the variables of a service are enough for is no problem. */
function refusedHere(
  config: Config,
  environment: Environment,
): { problem: string | null; ofService: string[] } {
  const refused = refusedAtStart(config, environment);
  const ofService = refusedAtStart(config, variablesOfService(environment));
  if (refused.length === 0 || ofService.length === 0)
    return { problem: null, ofService: refused.map((each) => `${each} It is set for a service.`) };
  return { problem: refused.join("\n"), ofService: [] };
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
