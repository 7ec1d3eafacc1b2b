// Tells a gateway's session the facts of a plan and asks about them.
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createSessionState } from "@clew/engine-core";
import type { ExactCounter } from "@clew/plugin-sdk/tokens";
import { textOf } from "@clew/plugin-sdk/transcript";
import { composeHost } from "../../../gateway/src/compose.ts";
import { readEnvironment } from "../../../gateway/src/config/environment.ts";
import { checkConfigText } from "../../../gateway/src/config/load.ts";
import { silentLog } from "../../../gateway/src/log/silent.ts";
import { startPlugins } from "../../../gateway/src/plugins/start.ts";
import { createSessionStore } from "../../../gateway/src/sessions/store.ts";
import type { FactKind, FactPlan, FactQuestion } from "./facts.ts";

export interface AskRequest {
  plan: FactPlan;
  /** Of the gateway; as in its file. */
  config: Record<string, unknown>;
  /** Of the gateway that the facts are told to, before a restart. Absent: there is no restart. */
  toldTo?: Record<string, unknown> | undefined;
  counter: ExactCounter;
  signal: AbortSignal;
  onProgress: (done: number) => void;
}

/** How one question went. */
export interface Asked {
  kind: FactKind;
  question: string;
  answer: string;
  /** What tools gave back, with the calls that asked for it. */
  given: string;
  isRight: boolean;
  /** True: what was asked for stood in what tools gave back, whatever the model made of it. */
  isFound: boolean;
  /** Calls of tools before the answer, and exact tokens of what they gave back. */
  calls: number;
  tokens: number;
}

/** One session of a gateway, talked to without its server. */
async function openSession(home: string, config: Record<string, unknown>, signal: AbortSignal) {
  const environment = readEnvironment({ CLEW_HOME: home });
  const loaded = checkConfigText(JSON.stringify(config), "clew.json");
  const plugins = await startPlugins({ environment, loaded, log: silentLog });
  const host = composeHost({ environment, loaded, log: silentLog, plugins });
  const session = await createSessionStore({ home }).open({ key: "facts", cwd: home });
  let state = createSessionState();
  return {
    branch: () => session.branch(),
    async say(content: string, timestamp: number) {
      signal.throwIfAborted();
      const prompt = { content, timestamp };
      const { error } = await host.answer({ transcript: session, state, prompt, signal });
      if (error !== null)
        throw new Error(`"${content.slice(0, 60)}" was not answered: ${error.message}`);
    },
    /** Goes on behind the first `keep` entries, as if what came after had not been said. */
    async leaveTo(keep: number) {
      const branch = session.branch();
      const parentId = branch[keep - 1]!.id;
      const left = { type: "custom" as const, customType: "bench-left-branch", data: {} };
      const timestamp = branch.at(-1)!.timestamp;
      const entry = { ...left, id: session.compaction.nextId(), parentId, timestamp };
      await session.compaction.graft({ keep, leafId: branch.at(-1)!.id, entries: [entry] });
      state = createSessionState();
    },
    async close() {
      await session.close();
      await plugins.close();
      await host.close();
    },
  };
}

/** The agent's own model answers, and every tool is really run. */
export async function askFacts(request: AskRequest): Promise<Asked[]> {
  const { plan, counter, signal, onProgress, config, toldTo = config } = request;
  const home = await mkdtemp(join(tmpdir(), "clew-facts-"));
  let session = await openSession(home, toldTo, signal);
  try {
    for (const [at, { text, timestamp }] of plan.turns.entries()) {
      await session.say(text, timestamp);
      onProgress(at + 1);
      if (plan.detour?.after !== at + 1) continue;
      const keep = session.branch().length;
      for (const { text, timestamp } of plan.detour.turns) await session.say(text, timestamp);
      await session.leaveTo(keep);
    }
    if (request.toldTo !== undefined) {
      await session.close();
      session = await openSession(home, config, signal);
    }
    const asked: Asked[] = [];
    const last = plan.turns.at(-1)?.timestamp ?? 0;
    for (const question of plan.questions) {
      const before = session.branch().length;
      await session.say(question.text, last + 1000 * (asked.length + 1));
      const messages = session
        .branch()
        .slice(before)
        .flatMap((entry) => (entry.type === "message" ? [entry.message] : []));
      const results = messages.filter(({ role }) => role === "toolResult");
      const given = results.map(textOf).join("\n");
      const answer = textOf(messages.findLast(({ role }) => role === "assistant")!);
      const cost = { calls: results.length, tokens: counter.count(given) };
      asked.push(judge(question, { answer, given }, cost));
      onProgress(plan.turns.length + asked.length);
    }
    return asked;
  } finally {
    await session.close();
    await rm(home, { recursive: true, force: true });
  }
}

/** Pure. */
export function judge(
  { kind, text, expected, wrong }: FactQuestion,
  { answer, given }: { answer: string; given: string },
  cost: { calls: number; tokens: number },
): Asked {
  const isFound = given.includes(expected);
  const isRight = answer.includes(expected) && !wrong.some((other) => answer.includes(other));
  return { kind, question: text, answer, given, isRight, isFound, ...cost };
}
