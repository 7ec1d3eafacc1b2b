// Builds an engine with its recall tools, and two sessions to tell it of.
import type { AgentMessage, PluginSubagents } from "@clew/plugin-sdk/core";
import { onTestFinished } from "vitest";
import { engineOn } from "../engine.ts";
import { createStores } from "../stores.ts";
import { researchBy } from "../tools/by-session.ts";
import type { Complete } from "../tools/expand-query.ts";
import { createGrants } from "../tools/grants.ts";
import { createReach } from "../tools/reach.ts";
import { recallTools } from "../tools/tools.ts";
import { withIds } from "./stored.ts";
import { temporaryFolder } from "./temporary-folder.ts";

export const session = { sessionId: "s1", sessionKey: "agent:main:main" };
export const otherSession = { sessionId: "s2", sessionKey: "agent:main:other" };

/** Where the sessions work. */
export const WORKSPACE = "/home/me/project";

/** An engine with its tools, as a host has them. */
export function setUpRecall(
  databasePath?: string,
  complete?: Complete,
  compress = false,
  searchMs?: number,
  subagent?: PluginSubagents,
) {
  const reach = createReach();
  const clock = { ms: 0 };
  const grants = createGrants(() => clock.ms);
  const parts = { reach, complete, searchMs, research: researchBy({ subagent, grants }) };
  const stores = createStores(temporaryFolder(), { databasePath, compress });
  const onStored = reach.noteStored;
  const engine = engineOn(reach.watching(stores, WORKSPACE), { grants, onStored });
  onTestFinished(() => engine.dispose?.());
  const tell = (messages: readonly AgentMessage[], of = session, prefix = "e") =>
    engine.ingestBatch?.({ ...of, messages: withIds(messages, prefix) });
  const call = async (name: string, args: object, of = session) => {
    const tool = recallTools({ ...parts, grants }).find((one) => one.name === name)!;
    const made = tool.of(of);
    if (made === null) return "(not offered)";
    const { content } = await made.execute("call", args);
    return content.map(({ text }) => text).join("");
  };
  return { engine, tell, call, clock, stores };
}

/** What a page quotes, each text exactly, as a careful reader takes it out. */
export function quotedIn(page: string): string[] {
  const texts: string[] = [];
  for (let rest = page; ; ) {
    const [opener, mark] = /^<stored ([0-9a-f]+)>\n/m.exec(rest) ?? [];
    if (opener === undefined) return texts;
    const begun = rest.slice(rest.search(/^<stored [0-9a-f]+>\n/m) + opener.length);
    const end = begun.indexOf(`\n</stored ${mark}>`);
    texts.push(begun.slice(0, end));
    rest = begun.slice(end + `\n</stored ${mark}>`.length);
  }
}

/** What a page says itself. */
export function saidIn(page: string): string {
  return quotedIn(page).reduce(
    (rest) => rest.replace(/<stored ([0-9a-f]+)>\n[\s\S]*?\n<\/stored \1>/, () => "[…]"),
    page,
  );
}
