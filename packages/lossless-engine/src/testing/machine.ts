// Puts an engine with its tools on a machine, whose database is gone or stays when it ends.
import type { AgentMessage, EngineRows, RuntimeContext } from "@clew/plugin-sdk/core";
import { onTestFinished } from "vitest";
import { type EngineParts, engineOn, type LosslessEngine } from "../engine.ts";
import type { EngineSettings } from "../settings.ts";
import { createStores, type Stores } from "../stores.ts";
import { createGrants } from "../tools/grants.ts";
import { createReach } from "../tools/reach.ts";
import { recallTools } from "../tools/tools.ts";
import { temporaryFolder } from "./temporary-folder.ts";

export interface Machine {
  readonly engine: LosslessEngine;
  readonly stores: Stores;
  readonly agentDir: string;
  /** What a recall tool answers in a session. */
  call(name: string, args: object, session: { sessionId: string }): Promise<string>;
}

export function startMachine(
  sharedRows: EngineRows | undefined,
  {
    agentDir = temporaryFolder(),
    ...settings
  }: EngineSettings & Pick<EngineParts, "onUnusable"> & { agentDir?: string } = {},
): Machine {
  const [reach, grants] = [createReach(), createGrants()];
  const stores = createStores(agentDir, settings);
  const watched = reach.watching(stores, "/home/me/project", sharedRows);
  const engine = engineOn(watched, { ...settings, grants, onStored: reach.noteStored, sharedRows });
  onTestFinished(() => engine.dispose?.());
  return {
    ...{ engine, stores, agentDir },
    async call(name, args, session) {
      const tool = recallTools({ reach, grants }).find((each) => each.name === name)!;
      const made = tool.of(session);
      if (made === null) return "(not offered)";
      const { content } = await made.execute("call", args);
      return content.map(({ text }) => text).join("");
    },
  };
}

/** What is seen of a session: a view under each budget, and what tools answer. */
export async function seenOf(
  { engine, call }: Machine,
  {
    session,
    messages,
    budgets = [6_000, 12_000],
  }: {
    session: { sessionId: string; sessionKey: string };
    messages: readonly AgentMessage[];
    budgets?: readonly number[];
  },
): Promise<string[]> {
  const seen: string[] = [];
  for (const tokenBudget of budgets) {
    const view = await engine.assemble({ ...session, messages: [...messages], tokenBudget });
    seen.push(JSON.stringify(view));
  }
  for (const [name, args] of ASKED) seen.push(await call(name, args, session));
  return seen;
}

const ASKED: readonly (readonly [string, object])[] = [
  ["lcm_grep", { pattern: "lantern", mode: "full_text" }],
  ["lcm_grep", { pattern: "lamp \\d+", mode: "regex", limit: 200 }],
  ["lcm_grep", { pattern: "harbour", scope: "summaries" }],
  ["lcm_grep", { pattern: "storm lantern", sort: "relevance" }],
  ["lcm_describe", { id: "past" }],
  ["lcm_describe", { id: "#1-#1000000" }],
  ...Array.from({ length: 6 }, (_, at) => ["lcm_describe", { id: `sum_${at + 1}` }] as const),
];

/** Where a host says that work may take long, with a model that says the same of everything. */
export function behindReply(calls: string[]): RuntimeContext {
  return {
    allowDeferredCompactionExecution: true,
    llm: {
      complete: async ({ messages: [asked] }: { messages: { content: string }[] }) => {
        calls.push(asked!.content);
        return {
          ...{ provider: "p", model: "m" },
          text: "The person asked to mend a harbour light, and its lamp burns again.",
        };
      },
    },
  } as unknown as RuntimeContext;
}
