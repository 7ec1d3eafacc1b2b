// Finds messages that waited for their turn, in files that nobody could read.
import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { counted } from "../text/number.ts";
import { UNREADABLE } from "../waiting/waiting-files.ts";
import type { Finding } from "./finding.ts";

export async function checkWaiting(folder: string, agentId: string): Promise<Finding[]> {
  const names = (await readdir(folder).catch(() => [])).filter((name) => name.endsWith(UNREADABLE));
  if (names.length === 0) return [];
  const files = names.sort().map((name) => join(folder, name));
  const text = `${counted(files.length, "file")} of messages that waited could not be read, so their turns did not begin: ${files.join(", ")}; send what they say again, and delete them`;
  return [
    { level: "warning", code: "waiting-unreadable", subject: `sessions of ${agentId}`, text },
  ];
}
