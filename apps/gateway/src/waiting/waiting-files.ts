// Keeps messages that wait in files of the home, so that no end of the process loses one.
import { readdir, readFile, rename, rm, stat } from "node:fs/promises";
import { dirname, join } from "node:path";
import type { LogPort } from "@clew/engine-core";
import { z } from "zod";
import { makeOwnFolder } from "../home/no-links.ts";
import { writeOwn } from "../home/own-writes.ts";
import { fromJson, toJson } from "../own-json.ts";
import { explainStorageError } from "../sessions/durable-file.ts";
import { parseSessionName } from "../sessions/keys.ts";
import { listAgents } from "../sessions/list-sessions.ts";
import { agentPaths, waitingFile } from "../sessions/paths.ts";
import { oneAtATime } from "../sessions/queues.ts";
import { type WaitingMessage, WaitingMessageSchema } from "./waiting-message.ts";
import type { KeptMessages, WaitingStore } from "./waiting-store.ts";

const FileSchema = z.object({
  v: z.literal(1),
  sessionKey: z.string(),
  messages: z.array(WaitingMessageSchema),
});

/** Ends the names of those that were put aside. */
export const UNREADABLE = ".unreadable";

/** Where the messages that wait in a session are. */
const fileFor = (home: string, sessionKey: string): string =>
  waitingFile(home, parseSessionName(sessionKey)!.agentId, sessionKey);

/** A file that cannot be read is put aside under another name, which the log tells. */
export function createWaitingFiles({ home, log }: { home: string; log: LogPort }): WaitingStore {
  const writers = new Map<string, { write: ReturnType<typeof oneAtATime>; pending: number }>();
  const write = async (sessionKey: string, messages: readonly WaitingMessage[]) => {
    const file = fileFor(home, sessionKey);
    if (messages.length === 0) return rm(file, { force: true });
    await makeOwnFolder(home, dirname(file));
    const kept = { v: 1, sessionKey, messages };
    await writeOwn(file, `${toJson(kept)}\n`);
  };
  const readFrom = async (file: string): Promise<KeptMessages | undefined> => {
    try {
      return FileSchema.parse(fromJson(await readFile(file, "utf8"))) as KeptMessages;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined;
      const aside = `${file}${UNREADABLE}`;
      await rename(file, aside).catch(() => {});
      log.error(
        `${file} cannot be read as messages that wait, so they do not begin; it is kept as ${aside}, send what it says again.`,
      );
      return undefined;
    }
  };
  return {
    async save(sessionKey, now) {
      const writer = writers.get(sessionKey) ?? { write: oneAtATime(), pending: 0 };
      writers.set(sessionKey, writer);
      writer.pending++;
      try {
        await writer.write(() => write(sessionKey, now()));
      } catch (error) {
        throw explainStorageError(error, home);
      } finally {
        writer.pending--;
        if (writer.pending === 0) writers.delete(sessionKey);
      }
    },
    async read(sessionKey) {
      const found = await readFrom(fileFor(home, sessionKey));
      return found?.sessionKey === sessionKey ? found.messages : [];
    },
    async all() {
      const agents = await listAgents(home);
      const found: KeptMessages[] = [];
      for (const agentId of agents) {
        const folder = agentPaths(home, agentId).waiting;
        for (const name of (await readdir(folder).catch(() => [])).sort()) {
          if (!name.endsWith(".json")) continue;
          const kept = await readFrom(join(folder, name));
          if (kept !== undefined && fileFor(home, kept.sessionKey) === join(folder, name))
            found.push(kept);
        }
      }
      return found;
    },
    async tidy() {
      for (const agentId of await listAgents(home))
        for (const file of await halfWritten(agentPaths(home, agentId).waiting))
          await rm(file, { force: true });
    },
  };
}

/** Not acknowledged: it gets its own name before anybody is told that it is kept. */
const HALF_WRITTEN = /^[0-9a-f]{32}\.json\.\d+$/;

/** Files that a process before this one left, and did not come to name. */
export async function halfWritten(folder: string): Promise<string[]> {
  const began = Date.now() - process.uptime() * 1000;
  const names = (await readdir(folder).catch(() => [])).filter((name) => HALF_WRITTEN.test(name));
  const files = names.sort().map((name) => join(folder, name));
  const found = await Promise.all(files.map((file) => stat(file).catch(() => null)));
  return files.filter((_, at) => (found[at]?.mtimeMs ?? began) < began);
}
