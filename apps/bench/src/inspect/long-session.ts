// Writes a session of any length with a report of each of its model calls.
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { ModelCallReport, ReportItem, TurnReport } from "@clew/engine-core";
import type { TranscriptEntry } from "@clew/plugin-sdk/transcript";
import { messageOf } from "../../../gateway/src/inspect/stored-message.ts";
import { openReportLog } from "../../../gateway/src/reports/report-log.ts";
import { contentHash } from "../../../gateway/src/text/content-hash.ts";

/** Turns until the next compaction; as many messages are shown at most, and half are kept. */
const TURNS_PER_COMPACTION = 200;

const START = Date.UTC(2026, 0, 1);
const at = (index: number) => new Date(START + index * 1000).toISOString();
const text = (index: number) =>
  `Message ${index}: the file src/module-${index % 97}.ts was read, and line ${index} of it looked at for a while.`;

/** Turns of a question and an answer, compacted now and then, under the short name "main". */
export async function writeLongSession(home: string, messages: number): Promise<void> {
  const agent = join(home, "agents/main");
  await mkdir(join(agent, "sessions"), { recursive: true });
  const log = openReportLog(join(agent, "reports"), "long", { maxBytes: 2 ** 40 });
  const lines: TranscriptEntry[] = [];
  const hashes = new Map<string, string>();
  let view: string[] = [];
  let sent: string[] = [];
  const add = (id: string, fields: object) => {
    const place = { id, parentId: lines.at(-1)?.id ?? null, timestamp: at(lines.length) };
    const entry = { ...fields, ...place } as TranscriptEntry;
    lines.push(entry);
    view.push(id);
    hashes.set(id, contentHash(JSON.stringify(messageOf(entry))));
  };
  for (let turn = 0; turn < messages / 2; turn++) {
    if (turn > 0 && turn % TURNS_PER_COMPACTION === 0) {
      const kept = view.slice(-TURNS_PER_COMPACTION);
      const summary = `Turns before ${turn}: files were read.`;
      view = [];
      add(`c${turn}`, {
        ...{ type: "compaction", summary, firstKeptEntryId: kept[0], tokensBefore: 9000 },
      });
      view.push(...kept);
    }
    add(`u${turn}`, fieldsOf("user", 2 * turn));
    const kept = sharedLength(sent, view);
    const items = view.slice(kept).map((id) => itemOf(id, hashes.get(id)!));
    await log.append(reportOf(turn, { kept, items, tokens: 30 * items.length }), {});
    sent = view.slice();
    add(`a${turn}`, fieldsOf("assistant", 2 * turn + 1));
  }
  await log.close();
  const header = { type: "session", version: 3, id: "long", timestamp: at(0), cwd: home };
  await writeFile(
    join(agent, "sessions/long.jsonl"),
    `${[header, ...lines].map((line) => JSON.stringify(line)).join("\n")}\n`,
  );
  await writeFile(
    join(agent, "sessions/sessions.json"),
    JSON.stringify({ "agent:main:main": { sessionId: "long" } }),
  );
}

const fieldsOf = (role: "user" | "assistant", index: number) => ({
  type: "message",
  message: {
    ...{ role, timestamp: START + index * 1000, content: [{ type: "text", text: text(index) }] },
    ...(role === "assistant" && { stopReason: "stop" }),
  },
});

function sharedLength(one: readonly string[], other: readonly string[]): number {
  const end = one.findIndex((id, index) => other[index] !== id);
  return end < 0 ? one.length : end;
}

const itemOf = (entryId: string, hash: string): ReportItem => ({
  source: { kind: "entry", entryId },
  ...{ role: "user", code: "history", reason: "history", tokens: 30, hash },
});

function reportOf(turn: number, messages: ModelCallReport["messages"]): TurnReport {
  const call: ModelCallReport = {
    ...{ index: turn, durationMs: 900, system: [], tools: [], retries: 0, policyChanges: [] },
    ...{ usage: null, stopReason: "stop", error: null, requestHash: `request-${turn}` },
    ...{ leafId: `u${turn}`, messages },
  };
  return {
    ...{ v: 1, turnId: `t${turn}`, sessionId: "long", sessionKey: "agent:main:main" },
    ...{ startedAt: at(2 * turn), durationMs: 1000, hostMs: 10, outcome: "completed" },
    ...{ reason: null, lifecycle: "eager", engineCalls: [], budget: null, historyChanges: [] },
    model: { requested: "offline/echo", resolved: "offline/echo", api: "offline" },
    engine: {
      ...{ configured: null, ran: "legacy", infoId: "legacy", name: "Legacy", source: "default" },
      ...{ ownsCompaction: false, degraded: null, projection: null },
    },
    ...{ promptEntryId: `u${turn}`, replyEntryId: `a${turn}`, toolCalls: [], compactions: [] },
    modelCalls: [call],
  };
}
