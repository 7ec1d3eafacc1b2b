// Tells a shell which words may stand where the cursor is, from what the home holds.
import { setTimeout as after } from "node:timers/promises";
import { agentIds } from "../../config/agent.ts";
import { settingRows } from "../../config/docs.ts";
import type { Environment } from "../../config/environment.ts";
import { loadConfig } from "../../config/load.ts";
import { silentLog } from "../../log/silent.ts";
import { listModels } from "../../models/list-models.ts";
import { createModelRests } from "../../models/model-rests.ts";
import { bundledIds, bundledPlugins } from "../../plugins/find/bundled.ts";
import { discoverPlugins } from "../../plugins/find/discover.ts";
import { readRecords } from "../../plugins/find/records.ts";
import { shortName } from "../../sessions/keys.ts";
import { EXIT } from "../../terminal/exit-codes.ts";
import { printable } from "../../terminal/output.ts";
import type { Shell } from "../../terminal/shell.ts";
import { storedSessions } from "../stored-sessions.ts";
import type { Candidates, Named } from "./plan-completion.ts";

/** Says that the shell's own completion of paths is wanted, too. */
export const FILES_MARK = ":files";

const MOST = 200;

/** One a line. What cannot be read is not offered: nobody reads a complaint while they type. */
export async function printWords(
  { words, named, files }: Candidates,
  begun: string,
  { environment, output }: Shell,
): Promise<number> {
  const found = await Promise.all(
    named.map((kind) => inTime(SOURCES[kind](environment)).catch((): string[] => [])),
  );
  const fitting = [...new Set([...words, ...found.flat()])].filter(
    (word) => word.startsWith(begun) && /^\S+$/.test(word),
  );
  for (const word of fitting.slice(0, MOST)) output.line(printable(word));
  if (files) output.line(FILES_MARK);
  return EXIT.done;
}

/** Whoever pressed a key does not wait for a database that does not answer. */
const PATIENCE_MS = 1_500;

function inTime(words: Promise<string[]>): Promise<string[]> {
  const known = new AbortController();
  const patience = after(PATIENCE_MS, [], { signal: known.signal }).catch(() => []);
  return Promise.race([words, patience]).finally(() => known.abort());
}

const configOf = async ({ configFile }: Environment) => (await loadConfig(configFile)).config;

const SOURCES: Readonly<Record<Named, (environment: Environment) => Promise<string[]>>> = {
  session: async (environment) =>
    (await (await storedSessions(environment)).sessions.list()).flatMap(({ key, label = "" }) => [
      ...[shortName(key), label, key],
    ]),
  async model(environment) {
    const rests = createModelRests({ home: environment.home, log: silentLog }).all();
    const config = await configOf(environment);
    const models = listModels({ config, environment, rests, now: Date.now() });
    return models.map(({ name }) => name).filter((name) => !name.endsWith("*"));
  },
  engine: async ({ home }) => [
    ...["legacy", ...bundledIds()],
    ...Object.keys(readRecords(home).engines),
  ],
  async plugin(environment) {
    const { home } = environment;
    const { plugins } = await configOf(environment);
    const records = readRecords(home);
    const found = discoverPlugins({ home, plugins, records, bundled: bundledPlugins() });
    return found.map(({ id }) => id);
  },
  // What people name themselves is where the key stops that can be completed.
  setting: async () => settingRows().map(({ name }) => name.replace(/(?:\.<id>|\[\]).*$/, "")),
  agent: async (environment) => agentIds(await configOf(environment)),
  job: async (environment) =>
    (await (await storedSessions(environment)).jobs.jobs()).map(({ id }) => id),
};
