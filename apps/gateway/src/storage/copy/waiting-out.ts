// Copies messages that wait from a database into a home, beside those that wait there.
import { mkdir, rm } from "node:fs/promises";
import { dirname } from "node:path";
import type { FoundFile } from "@clew/store-postgres";
import { writeOwn } from "../../home/own-writes.ts";
import { fromJson, toJson } from "../../own-json.ts";
import { parseSessionName } from "../../sessions/keys.ts";
import type { CopyOut, CopyResult } from "./result.ts";
import {
  formatWaiting,
  keptWaiting,
  mergeWaiting,
  shaOfText,
  waitingAt,
  waitingOf,
} from "./waiting.ts";

export const isWaiting = (place: string): boolean =>
  /^agents\/[^/]+\/waiting\/[0-9a-f]{32}\.json$/.test(place);

export async function copyWaiting(
  { home, homeId, copy, isCheck }: CopyOut,
  agentId: string,
  loose: readonly FoundFile[],
  result: CopyResult,
): Promise<void> {
  const rows = (await copy.inbox()).filter((row) => row.agentId === agentId);
  const kept = loose.filter(({ place }) => isWaiting(place));
  const keys = new Set(rows.map(({ key }) => key));
  for (const file of kept.filter((each) => each.home === homeId)) {
    const { sessionKey } = waitingOf((await keptWaiting(copy, file)).text) ?? {};
    if (sessionKey !== undefined) keys.add(sessionKey);
  }
  for (const key of keys) {
    if (parseSessionName(key)?.agentId !== agentId) continue;
    const { file, text } = await waitingAt(home, { agentId, key });
    const place = `agents/${agentId}/waiting/${file.slice(dirname(file).length + 1)}`;
    const own = kept.find((each) => each.place === place && each.home === homeId);
    const before = await keptWaiting(copy, own ?? kept.find((each) => each.place === place));
    const database = rows
      .filter((row) => row.key === key)
      .map(({ body }) => fromJson(body) as never);
    const messages = mergeWaiting({
      database,
      file: (text === null ? undefined : waitingOf(text))?.messages ?? [],
      copied: own === undefined ? [] : before.messages,
    });
    const isAsBefore = toJson(messages) === toJson(before.messages);
    const wanted = isAsBefore ? before.text : formatWaiting({ sessionKey: key, messages });
    if (messages.length === 0 ? text === null : text === wanted) continue;
    result.files += 1;
    if (isCheck) continue;
    if (messages.length === 0) {
      await rm(file, { force: true });
      continue;
    }
    const bytes = Buffer.from(wanted);
    // At once: what waits in this file alone is nowhere while it is away.
    await mkdir(dirname(file), { recursive: true, mode: 0o700 });
    await writeOwn(file, bytes);
    await copy.keep(homeId, {
      ...{ place, agentId, sessionId: null, kind: "file", isOwn: false, head: null },
      ...{ size: bytes.length, sha: shaOfText(wanted), changedAt: Date.now() },
      bytes: () => [bytes],
    });
  }
}
