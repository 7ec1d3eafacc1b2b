// Keeps beside a session's reports what a shadow engine would have made of its calls.
import { readdir, readFile, stat } from "node:fs/promises";
import { dirname, join } from "node:path";
import { makeOwnFolder } from "../home/no-links.ts";
import { appendOwn } from "../home/own-writes.ts";
import { fromJson, toJson } from "../own-json.ts";
import { agentPaths, fileOf } from "../sessions/paths.ts";
import type { PlayedPoint } from "./shapes.ts";

/** A call as it was made, and as the shadow would have made it. */
export interface ShadowedCall {
  made: PlayedPoint;
  /** Null: the shadow did not get to it. */
  shadow: PlayedPoint | null;
}

/** One turn. */
export interface ShadowLine {
  v: 2;
  /** ISO 8601. */
  at: string;
  engine: string;
  /** The entry that began the turn; null = the process ended, and another one began anew. */
  promptEntryId: string | null;
  calls: ShadowedCall[];
  /** For people: why it is not compared, or what went wrong; null = nothing. */
  trouble: string | null;
  /** How long it took, in a process of its own. */
  ms: number;
}

const shadowFolder = (home: string, agentId: string): string =>
  join(agentPaths(home, agentId).reports, "shadow");

export const shadowFile = (home: string, agentId: string, sessionId: string): string =>
  fileOf(shadowFolder(home, agentId), sessionId);

export async function appendShadowLine(file: string, line: ShadowLine): Promise<void> {
  await makeOwnFolder(dirname(dirname(file)), dirname(file));
  await appendOwn(file, `${toJson(line)}\n`);
}

/** Oldest first; lines that are torn or of another version are left out. */
export async function readShadowLines(file: string): Promise<ShadowLine[]> {
  const text = await readFile(file, "utf8").catch(() => "");
  return text.split("\n").flatMap((line): ShadowLine[] => {
    try {
      const parsed = fromJson(line) as ShadowLine;
      return parsed.v === 2 && Array.isArray(parsed.calls) ? [parsed] : [];
    } catch {
      return [];
    }
  });
}

/** Of the session that was shadowed last; empty when none was. */
export async function readNewestShadow(home: string, agentId: string): Promise<ShadowLine[]> {
  const folder = shadowFolder(home, agentId);
  const names = (await readdir(folder).catch(() => [])).filter((name) => name.endsWith(".jsonl"));
  const dated = await Promise.all(
    names.map(async (name) => {
      const file = join(folder, name);
      return { file, time: (await stat(file).catch(() => null))?.mtimeMs ?? 0 };
    }),
  );
  const newest = dated.toSorted((a, b) => b.time - a.time)[0];
  return newest === undefined ? [] : readShadowLines(newest.file);
}

/** Pure. Of the engine's lines each turn's newest: what was begun anew is there twice. */
export function newestLines(lines: readonly ShadowLine[], engine: string): ShadowLine[] {
  const own = lines.filter((line) => line.engine === engine);
  const newest = new Map(own.map((line) => [line.promptEntryId, line]));
  return own.filter(
    (line) => line.promptEntryId === null || newest.get(line.promptEntryId) === line,
  );
}

interface Pair {
  made: number;
  shadow: number;
}

/** Sums over the calls that both made. */
export interface ShadowSummary {
  engine: string;
  turns: number;
  calls: number;
  tokens: Pair;
  /**
   * US dollars, both by what a prompt cache is expected to give back, whatever was billed, and
   * without summaries, which a shadow asks nobody for; null = not known.
   */
  dollars: Pair | null;
  /** Needed names that were in the request, of all that were needed. */
  evidence: Pair & { needed: number };
  engineMs: Pair;
  troubles: { count: number; last: { at: string; text: string } | null };
}

/** Pure; of the engine of the newest line. Null: there are no lines. */
export function summarizeShadow(lines: readonly ShadowLine[]): ShadowSummary | null {
  const engine = lines.at(-1)?.engine;
  if (engine === undefined) return null;
  const own = newestLines(lines, engine);
  const both = own
    .flatMap(({ calls }) => calls)
    .flatMap(({ made, shadow }) => (shadow === null ? [] : [{ made, shadow }]));
  const pair = (value: (point: PlayedPoint) => number): Pair => ({
    made: both.reduce((sum, call) => sum + value(call.made), 0),
    shadow: both.reduce((sum, call) => sum + value(call.shadow), 0),
  });
  const isPriced = both.every(({ made, shadow }) => made.cost !== null && shadow.cost !== null);
  const troubled = own.filter(({ trouble }) => trouble !== null);
  const last = troubled.at(-1);
  return {
    engine,
    turns: own.filter(({ calls }) => calls.length > 0).length,
    calls: both.length,
    tokens: pair(({ tokens }) => tokens.total),
    dollars:
      isPriced && both.length > 0 ? pair(({ cost }) => cost!.total - cost!.summariser) : null,
    evidence: {
      ...pair(({ evidence }) => evidence.present),
      needed: pair(({ evidence }) => evidence.needed).shadow,
    },
    engineMs: pair(({ engineMs }) => engineMs),
    troubles: {
      count: troubled.length,
      last: last === undefined ? null : { at: last.at, text: last.trouble! },
    },
  };
}
