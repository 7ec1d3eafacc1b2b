// Makes pending again what an engine took after the moment its data went back to.
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { basename, join } from "node:path";
import { createDeliveryLedger } from "@clew/engine-core";
import { appendNow } from "./append-now.ts";
import { type DeliveryLine, formatDeliveryLine, parseDeliveryLines } from "./delivery-lines.ts";
import { agentPaths } from "./paths.ts";

export interface LostDeliveries {
  engines: readonly string[];
  /** ISO 8601: what was taken from then on is lost. */
  since: string;
}

export interface OfferedAgain {
  messages: number;
  sessions: number;
}

interface RecordFile {
  /** The session's id. */
  session: string;
  lines: readonly DeliveryLine[];
}

/** While nobody has a session open. Messages keep their ids, so what an engine has it drops. */
export function offerAgain(home: string, lost: LostDeliveries): OfferedAgain {
  const total = { messages: 0, sessions: 0 };
  if (lost.engines.length === 0) return total;
  const at = new Date().toISOString();
  for (const agentId of namesIn(join(home, "agents"))) {
    const { outbox } = agentPaths(home, agentId);
    const files = namesIn(outbox)
      .filter((name) => name.endsWith(".jsonl"))
      .map((name) => ({
        session: basename(name, ".jsonl"),
        ...parseDeliveryLines(readFileSync(join(outbox, name))),
      }));
    for (const { session, lines } of planOfferAgain(files, lost)) {
      const text = lines.map((line) => formatDeliveryLine({ ...line, at })).join("");
      appendNow(join(outbox, `${session}.jsonl`), text);
      total.sessions++;
      for (const { change } of lines)
        if (change.kind === "lost") total.messages += change.ids.length;
    }
  }
  return total;
}

/**
 * Pure. What an engine found at its first sight of a session stays known: it was given that by no
 * delivery, and a bootstrap looks for it anew. A session that moved to another file since took its
 * record along, and what the earlier file told before counts there, too.
 */
export function planOfferAgain(
  files: readonly RecordFile[],
  { engines, since }: LostDeliveries,
): RecordFile[] {
  return files.flatMap(({ session, lines }) => {
    const lost = engines.flatMap((engineId): DeliveryLine[] => {
      const record = createDeliveryLedger({ earlier: lines }).read(engineId);
      if (record === undefined) return [];
      const kept = keptOf(files, engineId, record.root, since);
      const ids = [...record.acknowledged].filter((id) => !kept.has(id));
      return ids.length === 0 ? [] : [{ engineId, change: { kind: "lost", ids } }];
    });
    return lost.length === 0 ? [] : [{ session, lines: lost }];
  });
}

function keptOf(
  files: readonly RecordFile[],
  engineId: string,
  root: string,
  since: string,
): ReadonlySet<string> {
  const kept = files.flatMap(({ session, lines }) => {
    const remembered = lines.filter(
      ({ at, change }) =>
        at === undefined || at < since || (change.kind === "seen" && change.root === session),
    );
    const record = createDeliveryLedger({ earlier: remembered }).read(engineId);
    return record === undefined || record.root !== root ? [] : [...record.acknowledged];
  });
  return new Set(kept);
}

const namesIn = (folder: string): string[] =>
  existsSync(folder) ? readdirSync(folder).sort() : [];
