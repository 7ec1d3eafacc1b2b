// Which settings hold secrets, by their names, and what these are.
import { isRecord, secretsInAddress } from "@clew/plugin-sdk/host";
import { type Environment, expandVariables } from "./environment.ts";
import { STORAGE_URL_VARIABLE } from "./storage.ts";

/** Token counts, session keys and the like are none. */
const SECRET_NAME =
  /(api|access|private|secret|signing|encryption)[-_]?key$|token$|secret$|passw(or)?d$|passphrase$|^headers$|^credentials?$/i;

export const isSecretName = (name: string): boolean => SECRET_NAME.test(name);

/** Shorter ones would be found in words that are none. */
const LEAST_CHARS = 8;

/** Pure. What settings with such names say, with variables replaced. */
export function secretsIn(settings: unknown, environment: Pick<Environment, "variable">): string[] {
  const found = new Set<string>();
  const takeAddress = (text: string) => {
    for (const secret of secretsInAddress(text))
      if (secret.length >= LEAST_CHARS) found.add(secret);
  };
  const take = (value: unknown, isSecret: boolean) => {
    if (Array.isArray(value)) for (const each of value) take(each, isSecret);
    else if (isRecord(value))
      for (const [name, child] of Object.entries(value))
        take(child, isSecret || isSecretName(name));
    else if (typeof value === "string") {
      const expanded = expandVariables(value, environment);
      const text = "text" in expanded ? expanded.text : value;
      takeAddress(text);
      if (!isSecret) return;
      // A header may begin with the kind of its key.
      const bare = text.replace(/^(Bearer|Basic|Token) +/i, "");
      if (bare.length >= LEAST_CHARS) found.add(bare);
    }
  };
  take(settings, false);
  takeAddress(environment.variable(STORAGE_URL_VARIABLE) ?? "");
  return [...found];
}
