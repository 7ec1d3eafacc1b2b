// Takes what is forgotten out of reports, which tell of their calls as before.
import { randomBytes } from "node:crypto";
import { readFile } from "node:fs/promises";
import type { ReportItem, TurnReport } from "@clew/engine-core";
import { writeOwn } from "../home/own-writes.ts";
import { fromJson, toJson } from "../own-json.ts";
import { REPORTS_START, readReports } from "../reports/read-reports.ts";
import { reportFiles } from "../reports/report-files.ts";
import { packedLines, plainLines } from "../reports/report-lines.ts";
import { createRequestProof, requestHashOf } from "../reports/request-proof.ts";
import { FORGOTTEN, FORGOTTEN_HASH } from "../text/forgotten.ts";
import type { Traces } from "./traces.ts";

/** Calls that were sent what is forgotten: they can be looked at, and not be made again. */
export interface CallsThatSent {
  readonly agentId: string;
  readonly sessionId: string;
  readonly calls: number;
  /** Names of the first and the last. */
  readonly from: string;
  readonly to: string;
}

/** Pure. One report as JSON, with none of its texts that hold it; what it counts stays. */
export function redactLine(line: string, holds: Traces): string {
  const report = parsed(line);
  if (report === undefined) return holds(line) ? UNREADABLE : line;
  const changed = (value: unknown): unknown => {
    if (typeof value === "string") return holds(toJson(value)) ? FORGOTTEN : value;
    if (typeof value !== "object" || value === null) return value;
    if (Array.isArray(value)) return value.map(changed);
    return Object.fromEntries(Object.entries(value).map(([key, each]) => [key, changed(each)]));
  };
  const left = toJson(changed(report));
  return holds(left) ? UNREADABLE : left;
}

/** A report of which nothing may be told: its turn keeps its number. */
const UNREADABLE = toJson({ v: 2 });

/**
 * Items that are one of these messages get a hash that says nothing, and so do the requests that
 * held them. `gone`: ids of entries and of their messages.
 */
export async function redactReports(
  folder: string,
  sessionId: string,
  gone: ReadonlySet<string>,
): Promise<void> {
  const redacted = createRedaction(gone);
  for (const { file } of await reportFiles(folder, sessionId)) {
    const text = plainLines(await readFile(file, "utf8"));
    const left = text.split("\n").map(redacted).join("\n");
    if (left !== text) await writeOwn(file, packedLines(left));
  }
}

function createRedaction(gone: ReadonlySet<string>): (line: string) => string {
  const proof = createRequestProof();
  const hashes = new Map<string, string>();
  let all: readonly ReportItem[] = [];
  const withoutHash = (item: ReportItem): ReportItem => {
    if (!isOneOf(item, gone) || item.hash.startsWith(FORGOTTEN_HASH)) return item;
    const hash = hashes.get(item.hash) ?? `${FORGOTTEN_HASH}${randomBytes(12).toString("hex")}`;
    hashes.set(item.hash, hash);
    return { ...item, hash };
  };
  return (line) => {
    const report = parsed(line);
    if (report === undefined) return line;
    const modelCalls = report.modelCalls.map((call) => {
      const isProven = proof.advance({ report, call }) === "proven";
      const { kept } = call.messages;
      const items = call.messages.items.map(withoutHash);
      all = [...all.slice(0, kept), ...items];
      const left = { ...call, messages: { ...call.messages, items } };
      // What could not be proven before cannot be proven now.
      return isProven ? { ...left, requestHash: requestHashOf({ report, call: left }, all) } : left;
    });
    return toJson({ ...report, modelCalls });
  };
}

/** Calls of the session that were sent one of these messages; null = none was. */
export async function callsThatSent(
  folder: string,
  { agentId, sessionId }: Pick<CallsThatSent, "agentId" | "sessionId">,
  gone: ReadonlySet<string>,
): Promise<CallsThatSent | null> {
  const calls: string[] = [];
  let all: readonly ReportItem[] = [];
  await readReports(folder, sessionId, REPORTS_START, ({ turn, report }) => {
    for (const [at, { messages }] of report.modelCalls.entries()) {
      all = [...all.slice(0, messages.kept), ...messages.items];
      if (all.some((item) => isOneOf(item, gone))) calls.push(`${turn}.${at + 1}`);
    }
  });
  const [from, to] = [calls[0], calls.at(-1)];
  if (from === undefined || to === undefined) return null;
  return { agentId, sessionId, calls: calls.length, from, to };
}

const isOneOf = ({ source, merged = [] }: ReportItem, gone: ReadonlySet<string>): boolean =>
  (source.kind === "entry" && gone.has(source.entryId)) || merged.some((id) => gone.has(id));

/** Undefined: the line is no report. */
function parsed(line: string): TurnReport | undefined {
  try {
    const report = fromJson(line) as TurnReport;
    return report.v === 1 ? report : undefined;
  } catch {
    return undefined;
  }
}
