// Checks whether something is still being forgotten, and whether what is to go can go.
import { existsSync } from "node:fs";
import type { LoadedConfig } from "../config/load.ts";
import { readJournal } from "../forget/journal.ts";
import { journalFile } from "../forget/journal-file.ts";
import { scratchRecordFile } from "../forget/scratch-place.ts";
import type { Finding } from "./finding.ts";

export async function checkForgetting(
  home: string,
  { config }: LoadedConfig,
): Promise<readonly Finding[]> {
  return [...(await checkInterrupted(home)), ...checkRetention(config)];
}

/** Null: nothing was being forgotten. Throws STORAGE_FAILED where nobody can read it. */
export async function describeInterrupted(home: string): Promise<string | null> {
  const putBack = scratchRecordFile(home);
  const isInDatabase = existsSync(putBack);
  if (!isInDatabase && (await readJournal(home)) === null) return null;
  return `Something was being forgotten when a process ended (${isInDatabase ? putBack : journalFile(home)}), and words of it may be left; run "clew lossless forget --resume", or "clew start", which ends it first.`;
}

async function checkInterrupted(home: string): Promise<Finding[]> {
  const subject = "forgetting";
  try {
    const text = await describeInterrupted(home);
    return text === null
      ? []
      : [{ level: "warning", code: "forgetting-interrupted", subject, text }];
  } catch (error) {
    const text = (error as Error).message;
    return [{ level: "failure", code: "forgetting-unreadable", subject, text }];
  }
}

/** Pure. Only the engine that keeps messages lets them go. */
export function checkRetention({ plugins }: LoadedConfig["config"]): Finding[] {
  const entry = plugins.entries?.lossless;
  const given = Object.keys(entry?.config ?? {});
  const set = ["keepDays", "keepMegabytes"].filter((key) => given.includes(key));
  if (set.length === 0) return [];
  const engine = plugins.slots?.contextEngine ?? "legacy";
  const why = whyIdle(engine, entry?.enabled);
  if (why === null) return [];
  const text = `${set.join(" and ")} of the lossless engine ${set.length === 1 ? "is" : "are"} set, and nothing that grows too old goes, as ${why}; "clew plugins enable lossless" lets it answer, and "clew lossless forget" takes what must not stay`;
  return [{ level: "warning", code: "retention-idle", subject: "retention", text }];
}

function whyIdle(engine: string, isEnabled: boolean | undefined): string | null {
  if (isEnabled === false) return "plugins.entries.lossless.enabled is false";
  return engine === "lossless" ? null : `"${engine}" answers instead`;
}
