// Runs `clew logs`, which shows what the log of this home says.
import { constants } from "node:fs";
import { lstat, readFile } from "node:fs/promises";
import { setTimeout as sleep } from "node:timers/promises";
import { isRecord } from "@clew/plugin-sdk/host";
import { logFile } from "../../log/log.ts";
import { logFiles } from "../../log/rotating-file.ts";
import { requireSessionName } from "../../sessions/name-errors.ts";
import { EXIT } from "../../terminal/exit-codes.ts";
import type { Output } from "../../terminal/output.ts";
import type { Shell } from "../../terminal/shell.ts";
import { visible } from "../../text/visible.ts";
import { listenForStop } from "../stop.ts";
import { followFile } from "./follow-file.ts";

export interface LogsOptions {
  follow?: boolean;
  lines: number;
  level?: "info" | "warn" | "error";
  session?: string;
  grep?: string;
  json?: boolean;
}

const LOOK_MS = 300;

export async function logs(
  { follow = false, lines, json = false, ...wanted }: LogsOptions,
  { environment, output }: Shell,
): Promise<number> {
  const file = logFile(environment.home);
  const isWanted = filterOf(wanted);
  const show = (line: string) => showLine(line, { json, output });
  const following = follow ? followFile(file) : undefined;
  const found = (await readLines(logFiles(file))).filter(isWanted).slice(-lines);
  if (await isLink(file))
    output.note(
      `warning: ${file} is a link, through which Clew neither writes nor reads its log; remove it, and restart the gateway.`,
    );
  else if (found.length === 0 && !json)
    output.note(`No such line is in ${file} or the older files beside it.`);
  for (const line of found) show(line);
  if (following === undefined) return EXIT.done;
  let isOver = false;
  const ending = listenForStop().ending.then(() => {
    isOver = true;
  });
  while (!isOver) {
    for (const line of following.next()) if (isWanted(line)) show(line);
    await Promise.race([sleep(LOOK_MS), ending]);
  }
  return EXIT.cancelled;
}

/** The gateway writes none of its log through a link, so what stands behind one is no log. */
const NO_LINK = constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0);

const isLink = (file: string): Promise<boolean> =>
  lstat(file).then(
    (found) => found.isSymbolicLink(),
    () => false,
  );

async function readLines(files: readonly string[]): Promise<string[]> {
  const lines: string[] = [];
  for (const file of files) {
    const text = await readFile(file, { encoding: "utf8", flag: NO_LINK }).catch(() => "");
    for (const line of text.split("\n")) if (line !== "") lines.push(line);
  }
  return lines;
}

const RANKS: Readonly<Record<string, number>> = { info: 0, warn: 1, error: 2 };

/** Throws SESSION_NAME_INVALID. */
function filterOf({ level = "info", session, grep }: Omit<LogsOptions, "lines">) {
  const key = session === undefined ? undefined : requireSessionName(session, "main").key;
  const text = grep?.toLowerCase();
  return (line: string): boolean => {
    if (text !== undefined && !line.toLowerCase().includes(text)) return false;
    const entry = parse(line);
    if (entry === undefined) return level === "info" && key === undefined;
    const rank = RANKS[String(entry.level)] ?? 0;
    const isOfSession =
      key === undefined || entry.sessionKey === key || String(entry.msg).includes(key);
    return rank >= RANKS[level]! && isOfSession;
  };
}

function parse(line: string): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(line);
    return isRecord(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

function showLine(line: string, { json, output }: { json: boolean; output: Output }): void {
  const entry = parse(line);
  if (entry === undefined) {
    // Half a line, left by a process that was killed, is no JSON.
    if (!json) output.line(visible(line));
    return;
  }
  if (json) {
    output.line(line);
    return;
  }
  const { time, level, pid, msg, ...fields } = entry;
  const more = Object.entries(fields).map(([name, value]) => `${name}=${JSON.stringify(value)}`);
  const at = String(time).slice(0, 19).replace("T", " ");
  const text = [at, String(level).padEnd(5), `[${pid}]`, String(msg), ...more].join(" ");
  output.line(visible(text));
}
