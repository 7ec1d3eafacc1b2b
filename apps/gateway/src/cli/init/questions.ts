// The three questions of `clew init`, and what their answers mean.
import { PROVIDERS, providerAt } from "@clew/plugin-sdk/host";
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
  if (/^https?:\/\//i.test(answer))
    return URL.canParse(answer) && !/\s/.test(answer)
      ? { address: answer.replace(/\/+$/, "") }
      : { problem: `${answer} is no address; one looks like http://HOST:PORT/v1.` };
  const chosen = /^\d+$/.test(answer) ? choices[Number(answer) - 1]?.name : answer;
  if (chosen === undefined) return { problem: `There is no ${answer} in the list.` };
  const [provider = "", ...rest] = chosen.split("/");
  if (rest.join("/") === "" || /\s/.test(chosen))
    return { problem: 'Type a number of the list, or a name such as "anthropic/claude-opus-4-6".' };
  const known = [...PROVIDERS.flatMap(({ id, aliases = [] }) => [id, ...aliases]), ...own];
  return known.includes(provider)
    ? { model: chosen }
    : {
        problem: `No provider is called "${provider}".${didYouMean(provider, known)} For a server of your own type its address, such as http://HOST:PORT/v1, or start with --look-at ${provider}=ADDRESS.`,
      };
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

/** Pure. A name of a variable, or a command line. */
export const readKey = (typed: string): { variable: string } | { command: string } =>
  /^\$?\{?[A-Za-z_]\w*\}?$/.test(typed.trim())
    ? { variable: typed.trim().replace(/[${}]/g, "") }
    : { command: typed.trim() };

/** Pure. */
export const isYes = (typed: string): boolean => /^(?:y(?:es)?)?$/i.test(typed.trim());
