// Reads Clew's home, settings file and provider keys from the environment.
import { readFileSync } from "node:fs";
import { homedir } from "node:os";
import { findProvider } from "@clew/plugin-sdk/host";
import { callersFolder } from "./callers-folder.ts";
import { planCommandEnvironment } from "./command-environment.ts";
import { planNpmEnvironment, readOwnNpmrc } from "./npm-environment.ts";
import { type Places, readPlaces } from "./places.ts";

export interface Environment extends Places {
  /** The key of a provider by the usual name (OPENAI_API_KEY …); undefined when there is none. */
  providerKey(providerId: string): string | undefined;
  /** One variable, for `${NAME}`. */
  variable(name: string): string | undefined;
  /** What commands of agents are given; `named` are the operator's. */
  forCommands(given: {
    settings: unknown;
    named: readonly string[];
  }): Readonly<Record<string, string>>;
  /** The person's own folder, where other programs keep their logins. */
  userHome: string;
  /** The text of a small file; undefined when it cannot be read. */
  readText(file: string): string | undefined;
}

/** The variables that may hold a provider's key, the first that is set wins. */
export const keyNames = (providerId: string): readonly string[] =>
  findProvider(providerId)?.needsKey ?? [
    `${providerId.toUpperCase().replace(/[^A-Z0-9]/g, "_")}_API_KEY`,
  ];

/** Blank variables count as unset. */
export function readEnvironment(
  variables: Readonly<Record<string, string | undefined>> = process.env,
): Environment {
  const variable = (name: string) => variables[name]?.trim() || undefined;
  return {
    ...readPlaces(variables),
    variable,
    userHome: variable("HOME") ?? homedir(),
    readText,
    forCommands: (given) => planCommandEnvironment(variables, given),
    providerKey: (id) =>
      keyNames(id)
        .map(variable)
        .find((value) => value !== undefined),
  };
}

/** What npm is given when it fetches plugins. */
export const variablesForNpm = (): Record<string, string> =>
  planNpmEnvironment(process.env, readOwnNpmrc(process.env));

/** Which the paths on this process's command line are relative to. */
export const ownFolder = (): string => callersFolder(process.env, process.cwd());

function readText(file: string): string | undefined {
  try {
    return readFileSync(file, "utf8");
  } catch {
    return undefined;
  }
}

const VARIABLE = /\$\{([A-Za-z_][A-Za-z0-9_]*)\}/g;

/** `text` with every `${NAME}` replaced, or the names that are not set. */
export function expandVariables(
  text: string,
  environment: Pick<Environment, "variable">,
): { text: string } | { missing: string[] } {
  const missing: string[] = [];
  const expanded = text.replace(VARIABLE, (_, name: string) => {
    const value = environment.variable(name);
    if (value === undefined) missing.push(name);
    return value ?? "";
  });
  return missing.length > 0 ? { missing } : { text: expanded };
}
