// The three questions of `clew init`, and what their answers mean.
import { PROVIDERS, providerAt } from "@clew/plugin-sdk/host";
import { beginsLikeKey, looksLikeKey } from "../../credentials/looks-like-key.ts";
import { didYouMean } from "../../text/nearest.ts";
import type { LocalServer } from "./local-servers.ts";

/** Writes a question and gives the line that is typed; undefined = the input is over. */
export type Ask = (question: string) => Promise<string | undefined>;

export interface ModelChoice {
  /** "provider/model". */
  name: string;
  about: string;
}

/** Models of each server that are shown; the others can be typed. */
const SHOWN = 8;

/** Pure. What can be chosen by its number, the offline model last. */
export function modelChoices(
  servers: readonly LocalServer[],
  keyed: readonly { provider: string; variable: string }[],
): ModelChoice[] {
  return [
    ...servers.flatMap(({ provider, models, baseUrl }) =>
      models.slice(0, SHOWN).map((model) => ({
        ...{ name: `${provider}/${model}`, about: `on this machine, ${baseUrl}` },
      })),
    ),
    ...keyed.flatMap(({ provider, variable }) => {
      const model = PROVIDERS.find(({ id }) => id === provider)?.models?.[0]?.id;
      return model === undefined
        ? []
        : [{ name: `${provider}/${model}`, about: `with the key in ${variable}` }];
    }),
    { name: "offline/offline", about: "no key and no network; answers from what it was shown" },
  ];
}

/** What an answer to the first question means. */
export type ModelAnswer =
  | { model: string }
  /** The address of a model server of one's own. */
  | { address: string }
  | { problem: string };

/** Pure. `own`: providers that are named only here. */
export function readModel(
  typed: string,
  choices: readonly ModelChoice[],
  own: readonly string[] = [],
): ModelAnswer {
  const answer = typed.trim() === "" ? "1" : typed.trim();
  const address = readAddress(answer);
  if (address !== undefined) return address;
  const chosen = /^\d+$/.test(answer) ? choices[Number(answer) - 1]?.name : answer;
  if (chosen === undefined) return { problem: `There is no ${answer} in the list.` };
  const [provider = "", ...rest] = chosen.split("/");
  if (rest.join("/") === "" || /\s/.test(chosen))
    return {
      problem:
        'Type a number of the list, a name such as "anthropic/claude-opus-4-6", or an address such as http://HOST:PORT/v1.',
    };
  const known = [...PROVIDERS.flatMap(({ id, aliases = [] }) => [id, ...aliases]), ...own];
  return known.includes(provider)
    ? { model: chosen }
    : {
        problem: `No provider is called "${provider}".${didYouMean(provider, known)} For a server of your own type its address, such as http://HOST:PORT/v1, or start with --look-at ${provider}=ADDRESS.`,
      };
}

/** A host that says that it is one: by its port, or by being this machine or a number. */
const BARE_HOST =
  /^(?:(?:localhost|\d{1,3}(?:\.\d{1,3}){3}|\[[\da-f:]+\])(?::\d+)?|[\w-]+(?:\.[\w-]+)*:\d{2,5})(?:\/\S*)?$/i;

/** Pure. Undefined: it is not meant to be one. */
export function readAddress(typed: string): { address: string } | { problem: string } | undefined {
  const answer = BARE_HOST.test(typed.trim()) ? `http://${typed.trim()}` : typed.trim();
  if (!/^https?:\/\//i.test(answer)) return undefined;
  return URL.canParse(answer) && !/\s/.test(answer)
    ? { address: answer.replace(/\/+$/, "") }
    : { problem: `${answer} is no address; one looks like http://HOST:PORT/v1.` };
}

/** Pure. A model of one server, by its number, its name there, or "provider/name". */
export function readModelOf(
  provider: string,
  typed: string,
  models: readonly string[],
): { model: string } | { problem: string } {
  const answer = typed.trim() === "" ? "1" : typed.trim();
  const named = answer.startsWith(`${provider}/`) ? answer.slice(provider.length + 1) : answer;
  const chosen = /^\d+$/.test(named) ? models[Number(named) - 1] : named;
  if (chosen === undefined) return { problem: `There is no ${named} in the list.` };
  if (beginsLikeKey(chosen) && !models.includes(chosen))
    return { problem: "That looks like a key; type the number or the name of a model." };
  return /\s/.test(chosen)
    ? { problem: "A name of a model has no spaces." }
    : { model: `${provider}/${chosen}` };
}

/** Pure. What a server at an address is called: a known one's name, or "own", "own-2", … */
export function nameServer(address: string, taken: readonly string[]): string {
  const usual = PROVIDERS.find(({ baseUrl }) => baseUrl === address);
  const known = (usual ?? providerAt(address))?.id;
  if (known !== undefined) return known;
  const free = (count: number): string => {
    const name = count === 1 ? "own" : `own-${count}`;
    return taken.includes(name) ? free(count + 1) : name;
  };
  return free(1);
}

export type KeyAnswer = { variable: string } | { command: string } | { problem: string };

/** Pure. What the name of a variable is typed with, and the name itself. */
export const bareWord = (typed: string): string => typed.trim().replace(/^["'$]?\{?|[}"']$/g, "");

/**
 * Pure. A name of a variable, or a command line; a key itself is neither stored nor shown.
 * `isKnown`: a variable or a program has that name. `usual`: a variable that could hold it.
 */
export function readKey(
  typed: string,
  { isKnown, usual }: { isKnown: boolean; usual: string },
): KeyAnswer {
  if (!isKnown && holdsKey(typed))
    return {
      problem: `That looks like a key itself; put it into a variable, e.g. export ${usual}=…, and name that.`,
    };
  return /^\$?\{?[A-Za-z_]\w*\}?$/.test(typed.trim())
    ? { variable: typed.trim().replace(/[${}]/g, "") }
    : { command: typed.trim() };
}

function holdsKey(typed: string): boolean {
  const text = typed.trim().replace(/^bearer\s+/i, "");
  if (/^(?:export\s+)?\w+=\S+$/.test(text)) return true;
  const words = text.split(/\s+/).map(bareWord);
  return words.length === 1
    ? looksLikeKey(words[0]!)
    : words.some((word) => beginsLikeKey(word) && looksLikeKey(word));
}

/** Pure. Lossless or legacy; undefined: what was typed is no answer. */
export function readEngine(typed: string): "lossless" | "legacy" | undefined {
  const named = typed.trim().toLowerCase();
  if (named === "lossless" || named === "legacy") return named;
  if (/^(?:y(?:es)?)?$/.test(named)) return "lossless";
  return /^no?$/.test(named) ? "legacy" : undefined;
}
