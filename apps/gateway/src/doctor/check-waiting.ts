// Finds messages that waited for their turn, in files that are not whole.
import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { counted } from "../text/number.ts";
import { halfWritten, UNREADABLE } from "../waiting/waiting-files.ts";
import type { Finding } from "./finding.ts";

export async function checkWaiting(folder: string, agentId: string): Promise<Finding[]> {
  const subject = `sessions of ${agentId}`;
  const names = (await readdir(folder).catch(() => [])).filter((name) => name.endsWith(UNREADABLE));
  const unreadable = names.sort().map((name) => join(folder, name));
  return [
    ...tellUnreadable(unreadable, subject),
    ...tellHalfWritten(await halfWritten(folder), subject),
  ];
}

function tellUnreadable(files: readonly string[], subject: string): Finding[] {
  if (files.length === 0) return [];
  const text = `${counted(files.length, "file")} of messages that waited could not be read, so their turns did not begin: ${files.join(", ")}; send what they say again, and delete them`;
  return [{ level: "warning", code: "waiting-unreadable", subject, text }];
}

function tellHalfWritten(files: readonly string[], subject: string): Finding[] {
  if (files.length === 0) return [];
  const text = `${counted(files.length, "file")} of messages that were not acknowledged ${files.length === 1 ? "was" : "were"} half written when a process was killed: ${files.join(", ")}; the next start of the gateway takes ${files.length === 1 ? "it" : "them"} away`;
  return [{ level: "note", code: "waiting-half-written", subject, text }];
}
