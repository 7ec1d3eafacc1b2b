// Puts files that a database keeps as they are into a home, where nothing else is.
import { lstat, mkdir, symlink, utimes } from "node:fs/promises";
import { dirname, join } from "node:path";
import type { FoundFile } from "@clew/store-postgres";
import { isSafeId } from "../../sessions/keys.ts";
import { isJobPlace } from "./job-texts.ts";
import { type Placed, placeBytes } from "./place-bytes.ts";
import { planPlace } from "./plan-place.ts";
import type { CopyOut, CopyResult } from "./result.ts";
import { isWaiting } from "./waiting-out.ts";

/** Inside of the millisecond, as seconds are rounded on their way. */
export async function setTime(file: string, ms: number): Promise<void> {
  const seconds = (Math.floor(ms) + 0.25) / 1000;
  await utimes(file, seconds, seconds).catch(() => {});
}

/** Pure. Below its agent's folders, and nowhere else. */
export function isPlace({ place, agentId }: FoundFile): boolean {
  const [agents, agent, ...path] = place.split("/");
  if (agents !== "agents" || agent !== agentId || !isSafeId(agentId)) return false;
  if (path.length < 2 || path.some((part) => part === "" || part === "." || part === ".."))
    return false;
  const [folder] = path;
  if (!["sessions", "reports", "outbox", "waiting"].includes(folder!)) return false;
  return planPlace(path).kind !== "lock";
}

interface KeptRequest extends Pick<CopyOut, "home" | "copy" | "isCheck"> {
  staging: string;
}

export async function placeKept(
  { home, copy, staging, isCheck }: KeptRequest,
  kept: FoundFile,
): Promise<Placed> {
  const file = join(home, ...kept.place.split("/"));
  if (!(await isBelowFolders(home, kept.place))) return "other";
  if (kept.kind === "file") {
    const placed = await placeBytes({ file, wanted: copy.bytesOf(kept), staging, isCheck });
    if (placed === "written" && !isCheck) await setTime(file, kept.changedAt);
    return placed === "longer" ? "other" : placed;
  }
  const found = await lstat(file).catch(() => undefined);
  if (kept.kind === "folder") {
    if (found !== undefined) return found.isDirectory() ? "same" : "other";
    if (!isCheck) await mkdir(file, { recursive: true, mode: 0o700 });
    return "written";
  }
  // Where a link leads is looked at by those who made it.
  if (found !== undefined) return found.isSymbolicLink() ? "same" : "other";
  const pieces: Uint8Array[] = [];
  for await (const piece of copy.bytesOf(kept)) pieces.push(piece);
  if (!isCheck) {
    await mkdir(dirname(file), { recursive: true, mode: 0o700 });
    await symlink(Buffer.concat(pieces).toString("utf8"), file);
  }
  return "written";
}

/** No link stands between the folder of the agent's sessions and the file. */
async function isBelowFolders(home: string, place: string): Promise<boolean> {
  const parts = place.split("/");
  for (let length = 4; length < parts.length; length++) {
    const found = await lstat(join(home, ...parts.slice(0, length))).catch(() => undefined);
    if (found !== undefined && !found.isDirectory()) return false;
  }
  return true;
}

/** Files of no session; folders and what is in them before links. */
export async function copyLoose(
  request: CopyOut,
  staging: string,
  loose: readonly FoundFile[],
  result: CopyResult,
): Promise<void> {
  const { homeId } = request;
  const order = ["folder", "file", "link"];
  const sorted = loose
    .filter(({ place }) => !isIndex(place) && !isWaiting(place) && !isJobPlace(place))
    .toSorted(
      (a, b) =>
        Number(b.home === homeId) - Number(a.home === homeId) ||
        order.indexOf(a.kind) - order.indexOf(b.kind),
    );
  const done = new Set<string>();
  for (const file of sorted) {
    request.signal.throwIfAborted();
    if (!isPlace(file)) {
      result.left.push({ what: file.place, why: "it is no place of a session's file" });
      continue;
    }
    const placed = await placeKept({ ...request, staging }, file);
    if (placed === "written") result.files += 1;
    // What a home has itself is newer.
    if (placed === "other" && file.home !== homeId && !done.has(`${file.place} ${file.sha}`))
      result.left.push({ what: file.place, why: "another file is in its place, and stays" });
    done.add(`${file.place} ${file.sha}`);
  }
}

export const isIndex = (place: string): boolean =>
  /^agents\/[^/]+\/sessions\/sessions\.json$/.test(place);
